"""Tells which objects belong to which key and which set: what a key may prune, and the keys to enqueue when an object changes.

Objects of a set have its name in a label, and most of them the index of their replica. PodGangs and autoscalers lack the index (shipped
semantics §4.2, §3.6), but are named after their replica. Objects of a user's rule may have neither, and belong to the key that desired
them. Keys whose last evaluation has read a changed object are enqueued in any case. Whether an object is the set's at all is for its
owners to say (`ownership.py`): anybody may write labels.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator

from applier.cache.index import take
from applier.loop import View
from applier.ref import GroupKind, Manifest, Ref, uid_of
from grove_compiler.decoder import SET_KIND
from grove_compiler.kube.conditions import status_of
from grove_compiler.labels import GROUP_LABEL, MANAGED_BY, MEMBER_LABEL, OPERATOR, PART_OF, REPLICA_LABEL
from grove_compiler.model.expanded.attempts.attempt import ENDS
from grove_compiler.model.expanded.group_roll import has_run
from grove_compiler.model.expanded.topology import is_made_from_configuration
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import controller_of
from grove_compiler.model.names import replica_of
from grove_compiler.model.spec.topology import CLUSTER_TOPOLOGY
from grove_compiler.step import Key
from grove_operator.controller.ownership import PARTS, is_owned_by
from kube_objects.manifest import is_terminating, mapping, maps

KAI_TOPOLOGY: GroupKind = ("kai.scheduler", "Topology")
OWN_KINDS: frozenset[GroupKind] = frozenset({("grove.io", SET_KIND), ("", "Event")})
"""Kinds that belong to no key: sets are created by users, and events are never pruned."""


class MemberIndex:
    """Maintains the objects of each key from the cache's events. After a restart it is rebuilt from the initial lists.

    It is an index, because a set of 5,000 replicas has 25,000 objects, and each of its keys reads its own five. `enqueue` requests another
    evaluation of a key whose members could not be determined yet.
    """

    def __init__(self, enqueue: Callable[[Key], None] = lambda _: None) -> None:
        self._enqueue = enqueue
        self._members: dict[Key, set[Ref]] = {}
        self._claimed: dict[Ref, Key] = {}
        self._claims: dict[Key, set[Ref]] = {}
        self._labelled: set[Ref] = set()  # those of which only a label tells the replica: anybody may have written it
        self._evaluated: dict[Key, set[int]] = {}  # by set: the replicas that have made their claims, and -1 for the set itself
        self._waiting: dict[Key, dict[Key, None]] = {}  # by set: its keys whose members could not be determined yet

    def note(self, ref: Ref, old: Manifest | None, new: Manifest | None) -> Iterator[Key]:
        """Records a change, and yields the keys that the object belongs or belonged to."""
        before, after = (None if manifest is None else key_of(ref, manifest) for manifest in (old, new))
        if new is None:
            self._disclaim(ref)
        if before is not None and before != after:
            take(self._members, before, ref)
            if after is not None and ref not in self._claimed:
                self._claim(before, ref)  # somebody has edited its labels: it stays with the key that has desired it
            yield before
        if after is not None and after.replica is not None and replica_of(ref.name, after.name) is None:
            self._labelled.add(ref)
        else:
            self._labelled.discard(ref)
        if after is not None:
            self._members.setdefault(after, set()).add(ref)
            yield after

    def claim(self, key: Key, desired: Iterable[tuple[Ref, Manifest]]) -> None:
        """Assigns the desired objects of a key to it, whatever their names and labels are."""
        for ref, manifest in desired:
            if key_of(ref, manifest) != key or ref in self._labelled:
                self._claim(key, ref)
        set_key, evaluated = self._evaluated_of(key)
        if (index := -1 if key.replica is None else key.replica) not in evaluated:
            evaluated.add(index)
            for waiting in self._waiting.pop(set_key, ()):
                self._enqueue(waiting)

    def forget(self, key: Key) -> None:
        """Records that a key is gone."""
        set_key, evaluated = self._evaluated_of(key)
        evaluated.discard(-1 if key.replica is None else key.replica)
        if not evaluated:
            del self._evaluated[set_key]
        self._waiting.pop(key, None)

    def of(self, view: View, key: Key, replicas: int) -> list[Manifest]:
        """Returns the existing objects of a key; none as long as they cannot be determined.

        Names and labels decide, unless a key claims the object: a set claims resource claims with the index of a replica, and the rule of a
        user may desire objects without any sign of their replica. So the members of a set are unknown until all its `replicas` have made
        their claims, and those of a replica until its set has. A set that is gone has no replicas, and makes no claims.
        """
        set_key = key.whole
        others: Iterable[int] = range(replicas) if key == set_key else [-1] * bool(replicas)
        if not self._evaluated.get(set_key, frozenset()).issuperset(others):
            self._waiting.setdefault(set_key, {})[key] = None
            return []
        refs = {ref for ref in self._members.get(key, ()) if self._claimed.get(ref, key) == key} | self._claims.get(key, set())
        manifests = (view.get(ref) for ref in sorted(refs))
        return [manifest for manifest in manifests if manifest is not None]

    def replicas(self, set_key: Key) -> list[int]:
        """Returns the replicas that a set has objects of. Takes time linear in the number of all keys: for rare cases only."""
        keys = {*self._members, *self._claims}
        return sorted(key.replica for key in keys if key.replica is not None and key.whole == set_key)

    def _evaluated_of(self, key: Key) -> tuple[Key, set[int]]:
        set_key = key.whole
        return set_key, self._evaluated.setdefault(set_key, set())

    def _claim(self, key: Key, ref: Ref) -> None:
        self._disclaim(ref)
        self._claimed[ref] = key
        self._claims.setdefault(key, set()).add(ref)

    def _disclaim(self, ref: Ref) -> None:
        if (key := self._claimed.pop(ref, None)) is not None:
            take(self._claims, key, ref)


def topology_members(view: View, key: Key) -> list[Manifest]:
    """Returns the objects of a topology: KAI's Topology for it, and the topology itself when the operator decides on its deletion.

    It does so for a deleted topology, which has our finalizer, and for the default one that the operator has created, which is pruned when
    the configuration no longer describes it.
    """
    live = view.get(Ref("grove.io", key.kind, "", key.name))
    if live is None:
        return []  # the garbage collector deletes what it owned
    owned = view.by_owner(uid_of(live), [KAI_TOPOLOGY])
    kai = [one for one in owned if is_owned_by(one, uid_of(live))]
    is_ours = is_made_from_configuration(live) or (key.kind == CLUSTER_TOPOLOGY and is_terminating(live))
    return [*kai, live] if is_ours else kai


def key_of(ref: Ref, manifest: Manifest) -> Key | None:
    """Returns the key that an object belongs to by its labels, owner and name; none for objects that are not ours.

    Parts of a set need no `managed-by`: one from which somebody has taken it has finalizers of ours, and nobody else lets it go.
    """
    if ref[:2] in OWN_KINDS:
        return None
    labels = manifest["metadata"].get("labels") or {}
    controller = controller_of(manifest) or {}
    if labels.get(PART_OF) and (labels.get(MANAGED_BY) == OPERATOR or ref.kind in PARTS):
        name = labels[PART_OF]
    elif controller.get("kind") == SET_KIND:
        name = controller.get("name") or ""
    else:
        return None
    # The name of a revision ends with a hash, which may look like the index of a replica.
    replica = None if ref.kind == "ControllerRevision" else _replica_of(ref.name, name, labels.get(REPLICA_LABEL) or "")
    return Key(SET_KIND, ref.namespace, name, replica)


def unit_of(manifest: Manifest) -> Hashable | None:
    """Returns what a pod is replaced with because of its state: the replica of a scaling group that it is of, or itself.

    The pods of a PodClique become ready and fail one by one, and a replica of a scaling group serves as a whole. None for other objects.
    """
    if manifest.get("kind") != "Pod":
        return None
    metadata = manifest["metadata"]
    labels = metadata.get("labels") or {}
    group = labels.get(GROUP_LABEL)
    return (metadata.get("namespace"), group, labels.get(MEMBER_LABEL)) if group else uid_of(manifest)


def state_of(pod: Manifest) -> object:
    """Returns what of a pod decides whether it is replaced: what others do to it, whether it runs, has run, is ready or has ended.

    Not what changes again and again beside that: a kubelet's times, messages and counts, and annotations.
    """
    metadata, spec, status = pod["metadata"], pod.get("spec") or {}, status_of(pod)
    return (
        metadata.get("labels"),
        metadata.get("ownerReferences"),
        is_terminating(pod),
        [spec.get("nodeName"), spec.get("schedulingGates")],
        [status.get("phase"), status.get("reason")],
        {one.get("type"): one.get("status") for one in maps(status.get("conditions"))},
        {one.get("name"): bool(one.get("ready")) for one in maps(status.get("containerStatuses"))},
        has_run(pod),
    )


def _replica_of(name: str, set_name: str, label: str) -> int | None:
    """Returns the index of a replica by the object's name, which nobody can change, else by its label."""
    index = replica_of(name, set_name)
    return int(label) if index is None and label.isascii() and label.isdecimal() else index


MAX_REPLICAS = Settings().max_objects
"""A set of more replicas would exceed the limit of objects, and is held."""
TOPOLOGY_KINDS = ("ClusterTopology", "ClusterTopologyBinding")


class Keys:
    """Maps each change of an object to keys, and updates the membership index with it.

    `with_topologies` is false for an operator of a single namespace, which cannot see the sets of other namespaces that use a topology.
    """

    def __init__(self, membership: MemberIndex, *, with_topologies: bool) -> None:
        self._membership, self._with_topologies = membership, with_topologies

    def __call__(self, ref: Ref, old: Manifest | None, new: Manifest | None) -> Iterator[Key]:
        """Yields the keys to enqueue for a change of an object; `old` or `new` is none for a creation or deletion."""
        if ref[:2] == ("grove.io", SET_KIND):
            yield from self._keys_of_set(ref, old, new)
        elif ref.group == "grove.io" and ref.kind in TOPOLOGY_KINDS:
            if self._with_topologies:
                yield Key(ref.kind, "", ref.name)
        else:
            yield from self._membership.note(ref, old, new)

    def _keys_of_set(self, ref: Ref, old: Manifest | None, new: Manifest | None) -> Iterator[Key]:
        """Yields the key of the set, and those of its replicas that read what has changed: not for the counts in the set's status.

        Replicas that are not declared come first, since the evaluation of the others takes longer than the deletion of those. A set runs
        more than it declares where an edit that takes some away is held, until its status counts them no longer.
        """
        set_key = Key(SET_KIND, ref.namespace, ref.name)
        yield set_key
        states = [state for state in (old, new) if state is not None]
        declared = self._replicas(set_key, replicas_of(new) if new is not None else 0)
        if len(states) < 2 or read_by_replicas(states[0]) != read_by_replicas(states[1]):
            known = self._replicas(set_key, max(max(replicas_of(state), _counted(state)) for state in states))
            indices = [*(index for index in known if index not in declared), *declared]
        else:
            dropped = range(_counted(states[1]), min(_counted(states[0]), MAX_REPLICAS))
            indices = [*(index for index in dropped if index not in declared), *_changed_attempts(*states)]
        yield from (set_key._replace(replica=index) for index in indices)

    def _replicas(self, set_key: Key, count: int) -> Collection[int]:
        """Returns so many replicas of a set, or those that have objects if it is more than `MAX_REPLICAS`.

        Such a set is held as a whole. To enqueue its two billion replicas would block all other sets.
        """
        return range(count) if count <= MAX_REPLICAS else dict.fromkeys(self._membership.replicas(set_key))


def replicas_of(pcs: Manifest) -> int:
    """Returns how many replicas a set declares."""
    count = mapping(pcs.get("spec")).get("replicas")
    return count if isinstance(count, int) and count > 0 else 0


def _counted(pcs: Manifest) -> int:
    """Returns how many replicas a set runs, as its status counts them."""
    count = status_of(pcs).get("replicas")
    return count if isinstance(count, int) and count > 0 else 0


def read_by_replicas(pcs: Manifest) -> Manifest:
    """Returns the part of a set that steps of its replicas read: the spec, for which its generation stands, and what is decided for all.

    Each replica also reads its own attempt in `status.trainingReplicas`. Simulations hold that steps read nothing else.
    """
    status = mapping(pcs.get("status"))
    metadata = {field: pcs["metadata"].get(field) for field in ("uid", "generation", "labels", "annotations", "deletionTimestamp")}
    update = mapping(status.get("updateProgress"))  # an update that has nothing else to tell still goes on, unless it has ended
    progress = {field: update.get(field) for field in ("currentlyUpdating", "updateEndedAt")} if update else None
    decided = {"updateProgress": progress} | {field: status.get(field) for field in ("currentGenerationHash", "suspendTime")}
    return {"metadata": metadata, "status": {**decided, "phase": status["phase"]} if status.get("phase") in ENDS else decided}


def _changed_attempts(old: Manifest, new: Manifest) -> list[int]:
    """Returns the replicas of a training workload whose attempt in the set's status has changed."""
    entries, others = ({each["index"]: each for each in _training_replicas(pcs)} for pcs in (old, new))
    return sorted(index for index in entries | others if entries.get(index) != others.get(index))


def _training_replicas(pcs: Manifest) -> list[Manifest]:
    return [each for each in maps(mapping(pcs.get("status")).get("trainingReplicas")) if isinstance(each.get("index"), int)]
