"""Which objects exist because of which key: what a key may delete, and whom to wake when an object changes.

A set's objects bear its name in a label, and most of them the index of their replica. PodGangs and autoscalers do not (shipped semantics
§4.2, §3.6), but are named after their replica. What a user's rule makes may bear neither, so that only who asked for it can tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from applier.loop import View
from applier.ref import GroupKind, Manifest, Ref
from grove_compiler.decoder import SET_KIND
from grove_compiler.model.inputs.snapshot import PART_OF, controller_of
from grove_compiler.step import Key

MANAGED_BY = "app.kubernetes.io/managed-by"
OPERATOR = "grove-operator"
REPLICA_INDEX = "grove.io/podcliqueset-replica-index"
OWN_KINDS: frozenset[GroupKind] = frozenset({("grove.io", SET_KIND), ("", "Event")})
"""What no key made: sets are people's, and events are told and forgotten."""


class Membership:
    """The objects of each key, kept up to date by what the cache tells. Rebuilt from the first lists when a process starts.

    An index, because a set of 5,000 replicas has 25,000 objects, and each of its keys asks for its own five.
    """

    def __init__(self) -> None:
        self._members: dict[Key, set[Ref]] = {}
        self._claimed: dict[Ref, Key] = {}
        self._heard: set[Key] = set()

    def note(self, ref: Ref, old: Manifest | None, new: Manifest | None) -> Iterator[Key]:
        """Takes a change, and yields the keys whose object it is or was."""
        before, after = (None if one is None else key_of(ref, one) for one in (old, new))
        if before is not None and before != after:
            members = self._members[before]
            members.discard(ref)
            if not members:
                del self._members[before]
            yield before
        if after is not None:
            self._members.setdefault(after, set()).add(ref)
            yield after

    def claim(self, key: Key, wanted: Iterable[tuple[Ref, Manifest]]) -> None:
        """Takes what a key wants: who has asked for an object has it, whatever name or labels the object has."""
        self._heard.add(key)
        for ref, manifest in wanted:
            if key_of(ref, manifest) != key:
                self._claimed[ref] = key

    def forget(self, key: Key) -> None:
        """The key is gone."""
        self._heard.discard(key)

    def of(self, view: View, key: Key, replicas: int) -> list[Manifest]:
        """Returns the objects that exist because of a key.

        The key of a set has what bears no sign of a replica. Some of that may be wanted by a replica whose rules name it otherwise, so
        that none of it counts before all `replicas` have said what they want.
        """
        refs = self._members.get(key, ())
        if key.replica is None and not all(key._replace(replica=index) in self._heard for index in range(replicas)):
            return []
        found = (view.get(ref) for ref in sorted(refs) if self._claimed.get(ref, key) == key)
        return [one for one in found if one is not None]


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
    replica = None if ref.kind == "ControllerRevision" else _replica_of(ref.name, name, labels.get(REPLICA_INDEX))
    return Key(SET_KIND, ref.namespace, name, replica)


def _replica_of(name: str, set_name: str, label: str | None) -> int | None:
    """The replica's index by the label, else by the name: `chat-12-router` and `chat-12` belong to replica 12 of `chat`."""
    text = label or (name[len(set_name) + 1 :].partition("-")[0] if name.startswith(f"{set_name}-") else "")
    return int(text) if text.isascii() and text.isdecimal() else None
