"""Which objects exist because of which key: what a key may delete, and whom to wake when an object changes.

A set's objects bear its name in a label, and most of them the index of their replica. PodGangs and autoscalers do not (shipped semantics
§4.2, §3.6), but are named after their replica. What a user's rule makes may bear neither, so that only who asked for it can tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from applier.loop import View
from applier.ref import GroupKind, Manifest, Ref
from grove_compiler.decoder import SET_KIND
from grove_compiler.model.inputs.snapshot import PART_OF, controller_of, is_terminating
from grove_compiler.model.names import replica_of
from grove_compiler.model.spec.topology import CLUSTER_TOPOLOGY, DEFAULT_TOPOLOGY
from grove_compiler.step import Key

MANAGED_BY = "app.kubernetes.io/managed-by"
OPERATOR = "grove-operator"
REPLICA_INDEX = "grove.io/podcliqueset-replica-index"
KAI_TOPOLOGY: GroupKind = ("kai.scheduler", "Topology")
OWN_KINDS: frozenset[GroupKind] = frozenset({("grove.io", SET_KIND), ("", "Event")})
"""What no key made: sets are people's, and events are told and forgotten."""


class Membership:
    """The objects of each key, kept up to date by what the cache tells. Rebuilt from the first lists when a process starts.

    An index, because a set of 5,000 replicas has 25,000 objects, and each of its keys asks for its own five. `wake` lets a key be looked at
    again that could not be told yet what it may delete.
    """

    def __init__(self, wake: Callable[[Key], None] = lambda _: None) -> None:
        self._wake = wake
        self._members: dict[Key, set[Ref]] = {}
        self._claimed: dict[Ref, Key] = {}
        self._claims: dict[Key, set[Ref]] = {}
        self._heard: dict[Key, set[int]] = {}  # by set: the replicas that have said what they want, and -1 for the set itself
        self._waiting: dict[Key, dict[Key, None]] = {}  # by the key of their set

    def note(self, ref: Ref, old: Manifest | None, new: Manifest | None) -> Iterator[Key]:
        """Takes a change, and yields the keys whose object it is or was."""
        before, after = (None if one is None else key_of(ref, one) for one in (old, new))
        if new is None:
            self._disclaim(ref)
        if before is not None and before != after:
            _discard(self._members, before, ref)
            yield before
        if after is not None:
            self._members.setdefault(after, set()).add(ref)
            yield after

    def claim(self, key: Key, wanted: Iterable[tuple[Ref, Manifest]]) -> None:
        """Takes what a key wants: who has asked for an object has it from then on, whatever name or labels the object has."""
        for ref, manifest in wanted:
            if key_of(ref, manifest) != key:
                self._disclaim(ref)
                self._claimed[ref] = key
                self._claims.setdefault(key, set()).add(ref)
        whole, heard = self._heard_of(key)
        if (index := -1 if key.replica is None else key.replica) not in heard:
            heard.add(index)
            for one in self._waiting.pop(whole, ()):
                self._wake(one)

    def forget(self, key: Key) -> None:
        """The key is gone."""
        whole, heard = self._heard_of(key)
        heard.discard(-1 if key.replica is None else key.replica)
        if not heard:
            del self._heard[whole]
        self._waiting.pop(key, None)

    def of(self, view: View, key: Key, replicas: int) -> list[Manifest]:
        """Returns the objects that exist because of a key.

        What an object is called and labelled says whose it is, unless somebody has asked for it: a set asks for claims that bear the index
        of a replica, a user's rule for a replica may ask for what bears no sign of it. So that nothing counts for a set before all its
        `replicas` have said what they want, nor for a replica before its set has (a set that is gone has no replicas, and wants nothing).
        """
        whole = key._replace(replica=None)
        others: Iterable[int] = range(replicas) if key == whole else [-1] * bool(replicas)
        if not self._heard.get(whole, frozenset()).issuperset(others):
            self._waiting.setdefault(whole, {})[key] = None
            return []
        refs = {ref for ref in self._members.get(key, ()) if self._claimed.get(ref, key) == key} | self._claims.get(key, set())
        found = (view.get(ref) for ref in sorted(refs))
        return [one for one in found if one is not None]

    def replicas(self, whole: Key) -> list[int]:
        """Returns the replicas of which a set has objects. Looks through all keys, and so is for rare cases."""
        keys = {*self._members, *self._claims}
        return sorted(key.replica for key in keys if key.replica is not None and key._replace(replica=None) == whole)

    def _heard_of(self, key: Key) -> tuple[Key, set[int]]:
        whole = key._replace(replica=None)
        return whole, self._heard.setdefault(whole, set())

    def _disclaim(self, ref: Ref) -> None:
        if (key := self._claimed.pop(ref, None)) is not None:
            _discard(self._claims, key, ref)


def _discard(index: dict[Key, set[Ref]], key: Key, ref: Ref) -> None:
    refs = index[key]
    refs.discard(ref)
    if not refs:
        del index[key]


def topology_members(view: View, key: Key) -> list[Manifest]:
    """Returns what exists because of a topology: KAI's Topology of it, and the topology itself where its end is ours to decide.

    That is so of one that somebody has deleted, for it bears our finalizer, and of the default one that the operator has made: it goes when
    the configuration describes it no more.
    """
    live = view.get(Ref("grove.io", key.kind, "", key.name))
    if live is None:
        return []  # the garbage collector takes what it owned
    kai = view.by_owner(live["metadata"]["uid"], [KAI_TOPOLOGY])
    is_made = key.name == DEFAULT_TOPOLOGY and (live["metadata"].get("labels") or {}).get(MANAGED_BY) == OPERATOR
    is_ours = key.kind == CLUSTER_TOPOLOGY and (is_made or is_terminating(live))
    return [*kai, live] if is_ours else kai


def key_of(ref: Ref, manifest: Manifest) -> Key | None:
    """Returns the key because of which an object exists; none for what is not ours."""
    if ref[:2] in OWN_KINDS:
        return None
    labels = manifest["metadata"].get("labels") or {}
    controller = controller_of(manifest) or {}
    if labels.get(MANAGED_BY) == OPERATOR and labels.get(PART_OF):
        name = labels[PART_OF]
    elif controller.get("kind") == SET_KIND:
        name = controller.get("name") or ""
    else:
        return None
    # A revision is named after a hash, which may look like the index of a replica.
    replica = None if ref.kind == "ControllerRevision" else _replica_of(ref.name, name, labels.get(REPLICA_INDEX) or "")
    return Key(SET_KIND, ref.namespace, name, replica)


def _replica_of(name: str, set_name: str, label: str) -> int | None:
    """The replica's index by the label, else by the name."""
    if not label:
        return replica_of(name, set_name)
    return int(label) if label.isascii() and label.isdecimal() else None
