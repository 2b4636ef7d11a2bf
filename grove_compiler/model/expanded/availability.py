"""Which replicas of a set can serve, and which are up to date: one fold over what its PodCliques and scaling groups report (shipped §7.9).

It looks at no pod. A step for a set of thousands of replicas goes through some small manifests for each; who wants less than that makes
the fold of one replica (`ReplicaState`) a thing that is kept until one of these manifests changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from itertools import repeat

from grove_compiler.graph.node import Manifest
from grove_compiler.model import names
from grove_compiler.model.expanded.recorded_templates import POD_HASH_LABEL
from grove_compiler.model.expanded.structure import ExpandedSet
from grove_compiler.model.inputs.snapshot import PART_OF, controller_of, is_terminating
from grove_compiler.model.lazy import lazy, remembered
from grove_compiler.model.spec.templates import CliqueTemplate, ScalingGroupTemplate
from grove_compiler.record import record

BREACHED = "MinAvailableBreached"
HASH = "currentPodCliqueSetGenerationHash"


@record(slots=False)
class ReplicaState:
    """What a replica's objects report: its standalone PodCliques and its scaling groups, each none where it does not exist."""

    set: ExpandedSet = field(repr=False)
    index: int
    cliques: list[Manifest | None] = field(repr=False)
    groups: list[Manifest | None] = field(repr=False)

    @lazy
    def is_available(self) -> bool:
        """Whether no clique and no scaling group of it is short of what it cannot do without."""
        return all(map(_clique_is_available, self.cliques, self.set.standalone_cliques)) and all(
            map(_group_is_available, self.groups, self.set.groups)
        )

    @lazy
    def updated_cliques(self) -> int:
        """How many of its standalone PodCliques have the newest templates."""
        return sum(map(_clique_is_updated, self.cliques, self.set.standalone_cliques, repeat(self.set)))

    @lazy
    def updated_groups(self) -> int:
        """How many of its scaling groups have the newest templates."""
        generation = self.set.generation_hash
        return sum(_status(manifest).get("currentPodCliqueSetGenerationHash") == generation for manifest in self.groups)

    @lazy
    def is_outdated(self) -> bool:
        """Whether a clique or scaling group of it was up to date once, and is not with what is declared now."""
        statuses = [_status(manifest) for manifest in (*self.cliques, *self.groups)]
        told = [one.get(HASH) for one in statuses if "updateProgress" in one or HASH in one]
        return any(hash != self.set.generation_hash for hash in told)

    @lazy
    def has_scheduled_pods(self) -> bool:
        """Whether any of its pods has a node, as far as cliques and replicas of scaling groups report it."""
        return any(_status(manifest).get("scheduledReplicas") for manifest in (*self.cliques, *self.groups))

    @lazy
    def is_breached(self) -> bool:
        """Whether a clique or scaling group of it says that it is short of what it cannot do without."""
        return any(is_true(manifest, BREACHED) for manifest in (*self.cliques, *self.groups))

    @lazy
    def is_updated(self) -> bool:
        """Whether it can serve with the newest templates alone."""
        return self.is_available and self.updated_cliques == len(self.cliques) and self.updated_groups == len(self.groups)


@remembered
def replica_states(set: ExpandedSet) -> list[ReplicaState]:
    """Returns the state of every replica that the set should have. Children that go, or that an older set owns, count as missing."""
    cliques, groups = _children(set, "PodClique"), _children(set, "PodCliqueScalingGroup")
    states = []
    for index in range(set.replica_count):
        replica = names.part_of(set.name, index)
        states.append(
            ReplicaState(
                set,
                index,
                [cliques.get(names.part_of(replica, one.name)) for one in set.standalone_cliques],
                [groups.get(names.part_of(replica, one.name)) for one in set.groups],
            )
        )
    return states


def _children(set: ExpandedSet, kind: str) -> dict[str, Manifest]:
    return {one["metadata"]["name"]: one for one in _owned(set, set.snapshot.labelled("grove.io", kind, PART_OF, set.name, set.namespace))}


def _owned(set: ExpandedSet, manifests: Iterable[Manifest]) -> Iterable[Manifest]:
    return (one for one in manifests if not is_terminating(one) and (controller_of(one) or {}).get("uid") == set.ref.uid)


def _clique_is_available(manifest: Manifest | None, template: CliqueTemplate) -> bool:
    return manifest is not None and (_status(manifest).get("readyReplicas") or 0) >= (template.min_available or 0)


def _group_is_available(manifest: Manifest | None, template: ScalingGroupTemplate) -> bool:
    return manifest is not None and (_status(manifest).get("availableReplicas") or 0) >= (template.min_available or 1)


def _clique_is_updated(manifest: Manifest | None, template: CliqueTemplate, set: ExpandedSet) -> bool:
    """As the shipped operator tells it (§7.5): by its label, by what it reports, and by pods enough that are up to date and ready."""
    if manifest is None:
        return False
    status, least, expected = _status(manifest), template.min_available or 0, set.template_hashes[0][template.index]
    return (
        (manifest["metadata"].get("labels") or {}).get(POD_HASH_LABEL) == expected
        and status.get("currentPodTemplateHash") == expected
        and status.get("currentPodCliqueSetGenerationHash") == set.generation_hash
        and min(status.get("updatedReplicas") or 0, status.get("readyReplicas") or 0) >= least
    )


def is_true(manifest: Manifest | None, condition: str) -> bool:
    """Tells whether an object reports a condition as true."""
    return any((one.get("type"), one.get("status")) == (condition, "True") for one in _status(manifest).get("conditions") or [])


def _status(manifest: Manifest | None) -> Manifest:
    return (manifest or {}).get("status") or {}
