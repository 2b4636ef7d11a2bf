"""Maps watch events to the keys to enqueue, in addition to the keys whose last evaluation has read the object."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from applier.ref import Manifest, Ref
from grove_compiler.decoder import SET_KIND
from grove_compiler.model.expanded.attempts.attempt import ENDS
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.step import Key
from grove_operator.controller.membership import MemberIndex
from kube_objects.manifest import mapping

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

        Removed replicas come first, since the evaluation of the remaining ones takes longer than the deletion of the others.
        """
        set_key = Key(SET_KIND, ref.namespace, ref.name)
        yield set_key
        states = [state for state in (old, new) if state is not None]
        if len(states) < 2 or read_by_replicas(states[0]) != read_by_replicas(states[1]):
            before, after = (self._replicas(set_key, state) for state in (old, new))
            for index in (*(index for index in before if index not in after), *after):
                yield set_key._replace(replica=index)
        else:
            yield from (set_key._replace(replica=index) for index in _changed_attempts(*states))

    def _replicas(self, set_key: Key, pcs: Manifest | None) -> Collection[int]:
        """Returns the replicas that a set declares, or those that have objects if it declares more than `MAX_REPLICAS`.

        Such a set is held as a whole. To enqueue its two billion replicas would block all other sets.
        """
        count = replicas_of(pcs) if pcs is not None else 0
        return range(count) if count <= MAX_REPLICAS else dict.fromkeys(self._membership.replicas(set_key))


def replicas_of(pcs: Manifest) -> int:
    """Returns how many replicas a set declares."""
    count = mapping(pcs.get("spec")).get("replicas")
    return count if isinstance(count, int) and count > 0 else 0


def read_by_replicas(pcs: Manifest) -> Manifest:
    """Returns the part of a set that steps of its replicas read: the spec, for which its generation stands, and what is decided for all.

    Each replica also reads its own attempt in `status.trainingReplicas`. Simulations hold that steps read nothing else.
    """
    status = mapping(pcs.get("status"))
    metadata = {field: pcs["metadata"].get(field) for field in ("uid", "generation", "labels", "annotations", "deletionTimestamp")}
    update = mapping(status.get("updateProgress"))  # an update that has nothing else to tell still goes on, unless it has ended
    progress = {field: update.get(field) for field in ("currentlyUpdating", "updateEndedAt")} if update else None
    decided = {"currentGenerationHash": status.get("currentGenerationHash"), "updateProgress": progress}
    return {"metadata": metadata, "status": {**decided, "phase": status["phase"]} if status.get("phase") in ENDS else decided}


def _changed_attempts(old: Manifest, new: Manifest) -> list[int]:
    """Returns the replicas of a training workload whose attempt in the set's status has changed."""
    entries, others = ({each["index"]: each for each in _training_replicas(pcs)} for pcs in (old, new))
    return sorted(index for index in entries | others if entries.get(index) != others.get(index))


def _training_replicas(pcs: Manifest) -> list[Manifest]:
    entries = mapping(pcs.get("status")).get("trainingReplicas")
    maps = filter(lambda each: isinstance(each, dict), entries if isinstance(entries, list) else ())
    return [each for each in maps if isinstance(each.get("index"), int)]
