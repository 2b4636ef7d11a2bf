"""Which keys a changed object is news for, beyond those that have asked about it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from applier.ref import Manifest, Ref
from grove_compiler.decoder import SET_KIND
from grove_compiler.model.expanded.attempts.attempt import ENDS
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.step import Key
from grove_operator.controller.membership import Membership

MOST_REPLICAS = Settings().max_objects
"""A set of more replicas would become more objects than are let through, and is held."""
TOPOLOGY_KINDS = ("ClusterTopology", "ClusterTopologyBinding")


class Keys:
    """Derives keys from changes, and keeps the membership of objects on the way: both hear of every change.

    Who looks after one namespace leaves topologies alone (`with_topologies`): it sees none of the sets elsewhere that they are in use by.
    """

    def __init__(self, membership: Membership, *, with_topologies: bool) -> None:
        self._membership, self._with_topologies = membership, with_topologies

    def __call__(self, ref: Ref, old: Manifest | None, new: Manifest | None) -> Iterator[Key]:
        """Yields the keys that have to be looked at."""
        if ref[:2] == ("grove.io", SET_KIND):
            yield from self._keys_of_set(ref, old, new)
        elif ref.group == "grove.io" and ref.kind in TOPOLOGY_KINDS:
            if self._with_topologies:
                yield Key(ref.kind, "", ref.name)
        else:
            yield from self._membership.note(ref, old, new)

    def _keys_of_set(self, ref: Ref, old: Manifest | None, new: Manifest | None) -> Iterator[Key]:
        """Yields the set, and all its replicas where they have to know: what it counts in its status is no news for five thousand of them.

        Those that go come first: to look at all that stay took more time than to delete the others.
        """
        whole = Key(SET_KIND, ref.namespace, ref.name)
        yield whole
        states = [one for one in (old, new) if one is not None]
        if len(states) < 2 or _read_by_replicas(states[0]) != _read_by_replicas(states[1]):
            before, after = (self._replicas(whole, one) for one in (old, new))
            for index in (*(one for one in before if one not in after), *after):
                yield whole._replace(replica=index)
        else:
            yield from (whole._replace(replica=index) for index in _changed_attempts(*states))

    def _replicas(self, whole: Key, set: Manifest | None) -> Collection[int]:
        """Returns the replicas that a set declares, or has objects of where it declares more than any may have.

        Such a set is held as a whole. To look at two billion replicas of it would keep the operator from everybody else's.
        """
        count = replicas_of(set) if set is not None else 0
        return range(count) if count <= MOST_REPLICAS else dict.fromkeys(self._membership.replicas(whole))


def replicas_of(set: Manifest) -> int:
    """Returns how many replicas a set declares."""
    count = (set.get("spec") or {}).get("replicas")
    return count if isinstance(count, int) and count > 0 else 0


def _read_by_replicas(set: Manifest) -> tuple[Any, ...]:
    """What a step for a replica looks at: the declaration, and what the set has decided for all of them (its status says so)."""
    metadata, status = set["metadata"], set.get("status") or {}
    progress = status.get("updateProgress") or {}
    return (
        metadata.get("uid"),
        metadata.get("generation"),
        metadata.get("labels"),
        metadata.get("annotations"),
        metadata.get("deletionTimestamp"),
        status.get("currentGenerationHash"),
        progress.get("currentlyUpdating"),
        progress.get("updateEndedAt"),
        status.get("phase") in ENDS and status["phase"],
    )


def _changed_attempts(old: Manifest, new: Manifest) -> list[int]:
    """The replicas of a training workload of whose attempts a set says something else than before."""
    entries, others = ({one.get("index"): one for one in (set.get("status") or {}).get("trainingReplicas") or []} for set in (old, new))
    return sorted(index for index in entries | others if isinstance(index, int) and entries.get(index) != others.get(index))
