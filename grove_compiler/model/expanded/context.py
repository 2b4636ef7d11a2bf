"""Puts a set in its context: the operator's configuration, the caller's settings, the snapshot, and decisions about the set as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import partial
from typing import Protocol

from grove_compiler.graph.node import ObjectRef
from grove_compiler.kube.conditions import is_held, status_of
from grove_compiler.labels import PART_OF
from grove_compiler.model.expanded.recorded_templates import (
    Hashes,
    Revision,
    effective_hashes,
    inherited_hashes,
    knows_hashes,
    revisions_of,
)
from grove_compiler.model.inputs.configuration import Configuration
from grove_compiler.model.inputs.mnnvl_shape import shape_of
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import Snapshot
from grove_compiler.model.lazy import lazy
from grove_compiler.model.spec.podcliqueset import PodCliqueSet
from grove_compiler.model.spec.templates import CliqueTemplate
from grove_compiler.model.spec.topology import Topology
from grove_compiler.record import record


class SetDecisions(Protocol):
    @staticmethod
    def live_replicas(pcs: PodCliqueSet, declared: int, live: int | None, least: int) -> int:
        """Decides how many replicas a clique or scaling group has; `live` is the object's `spec.replicas`, none before it exists.

        `least` is the `minAvailable` of a scaling group, and 0 for a clique.
        """

    @staticmethod
    def scheduler_of(clique: CliqueTemplate, config: Configuration) -> str:
        """Decides the scheduler of a clique's pods."""

    @staticmethod
    def gang_scheduler(pcs: PodCliqueSet, config: Configuration) -> str:
        """Decides the scheduler of a set's gangs."""

    @staticmethod
    def kai_queue(pcs: PodCliqueSet) -> str:
        """Decides the KAI queue that the set's gangs are accounted to; empty for none."""

    @staticmethod
    def volcano_queue(pcs: PodCliqueSet) -> str:
        """Decides the Volcano queue of the set's gangs. A queue that only cliques name counts too."""


@record
class SchedulerUse:
    """A scheduler that pods of a set use, and the first clique that uses it."""

    scheduler: str
    clique: CliqueTemplate


@record(slots=False)
class SetInContext(PodCliqueSet):
    """A PodCliqueSet with its configuration, settings, snapshot and topologies.

    `is_out_of_time` (the deadline of a training workload is over) and `backing_off` (the replicas that wait before their next attempt) are
    the only facts about time that desired objects may depend on.
    """

    config: Configuration = field(default_factory=Configuration, repr=False)
    settings: Settings = field(default_factory=Settings, repr=False)
    snapshot: Snapshot = field(default_factory=Snapshot, repr=False)
    topologies: Sequence[Topology] = field(default=(), repr=False)
    is_out_of_time: bool = False
    backing_off: frozenset[int] = frozenset()

    @lazy
    def topology(self) -> Topology | None:
        """The topology that translates the set's constraints; none where it does not exist or topology-aware scheduling is off."""
        return self.placement.find(self.topologies) if self.config.topology_enabled else None

    @lazy
    def missing_domains(self) -> list[str]:
        """The domains that the set's constraints name and its topology lacks; empty without a topology."""
        return self.topology.lacks([use.name for use in self.placement.domain_uses]) if self.topology else []

    def rank(self, domain: str) -> int:
        """Returns the level of a domain, from 0 for the broadest; -1 for one that the topology lacks."""
        domains = self.topology.domains if self.topology else []
        return domains.index(domain) if domain in domains else -1

    @lazy
    def mnnvl_shape(self) -> str:
        """The form in which the designs' ComputeDomains and claims are written: `as-proposed` or `driver`."""
        return shape_of(self.settings.mnnvl_shape, self.snapshot)

    @lazy
    def scheduled_pods(self) -> int:
        """How many of its pods are scheduled to a node."""
        return self.snapshot.scheduled_pods(self.namespace, self.name)

    @lazy
    def ref(self) -> ObjectRef:
        """The reference to the set, with the UID of the manifest, else of the set in the snapshot."""
        declared = super().ref
        return declared if declared.uid else self.snapshot.with_uid(declared)

    @lazy
    def revisions(self) -> list[Revision]:
        """Its recorded pod templates, the oldest first; empty offline."""
        return revisions_of(self.snapshot, self.ref)

    @lazy
    def ran_elsewhere(self) -> bool:
        """Whether another operator has run it, and this one has not yet: it has parts, and no templates are recorded."""
        return not self.revisions and any(
            self.snapshot.owned(kind, self.ref, "grove.io") for kind in ("PodClique", "PodCliqueScalingGroup")
        )

    @lazy
    def has_run(self) -> bool:
        """Whether an operator has followed its spec as it is, and nothing has held it then.

        A set that is held has a condition, which somebody may remove, and the hash of the templates that it had before.
        """
        if is_held(self.manifest):
            return False
        is_known = knows_hashes(self.manifest, self.metadata.get("generation"))
        return is_known and status_of(self.manifest).get("currentGenerationHash") == self.template_hashes[1]

    @lazy
    def template_hashes(self) -> Hashes:
        """The hash of each clique's pod template and the generation hash: the recorded ones where templates mean the same."""
        inherited = self.inherited_hashes
        return inherited or effective_hashes(self.cliques, self.priority_class, self.revisions, lambda: self.computed_hashes)

    @lazy
    def inherited_hashes(self) -> Hashes | None:
        """The hashes that another operator, or another release, has assigned; none once we have recorded its templates ourselves."""
        live = None if self.revisions else self.snapshot.live(self.ref)
        if live is None or not knows_hashes(live, self.metadata.get("generation")):
            return None
        pod_cliques = partial(self.snapshot.labelled, "grove.io", "PodClique", PART_OF, self.name, self.namespace)
        return inherited_hashes(self.cliques, live, pod_cliques, self.computed_hashes)

    def pod_template_hash(self, clique: CliqueTemplate) -> str:
        """Returns the hash of a clique's pod template: the recorded one where the template means the same."""
        # Without records the clique computes its own hash, so that `explain` attributes it to the lines of this clique alone.
        return self.template_hashes[0][clique.index] if self.revisions or self.inherited_hashes else clique.pod_template_hash

    def recorded_template(self, clique: CliqueTemplate, template_hash: str) -> CliqueTemplate | None:
        """Returns a clique with the pod template recorded under a hash and the rest as declared; none where there is no such record."""
        key = clique.index, template_hash
        if key not in self._recorded_templates:
            matching = (revision for revision in reversed(self.revisions) if revision.hashes.get(clique.name) == template_hash)
            recorded = next((revision.template(clique.name) for revision in matching), None)
            self._recorded_templates[key] = None if recorded is None else clique.with_pods_of(recorded)
        return self._recorded_templates[key]

    @lazy
    def _recorded_templates(self) -> dict[tuple[int, str], CliqueTemplate | None]:
        return {}

    @lazy
    def scheduler(self) -> str:
        """The scheduler of its gangs, by the rule `gang_scheduler`."""
        return self.decisions.of(SetDecisions).gang_scheduler(self, self.config)

    def replicas_of(self, ref: ObjectRef, declared: int, least: int = 0) -> int:
        """Returns the number of replicas of one of its cliques or scaling groups, by the rule `live_replicas`."""
        manifest = self.snapshot.live(ref)
        live = None if manifest is None else (manifest.get("spec") or {}).get("replicas")
        return self.decisions.of(SetDecisions).live_replicas(self, declared, live, least)


def scheduler_uses(pcs: PodCliqueSet, config: Configuration) -> list[SchedulerUse]:
    """Returns the schedulers that the set's pods use, each with the first clique that uses it; a valid set has one.

    The shipped operator takes the scheduler of the very first clique for the whole set.
    """
    first: dict[str, CliqueTemplate] = {}
    for clique in pcs.cliques:
        first.setdefault(pcs.decisions.of(SetDecisions).scheduler_of(clique, config), clique)
    return [SchedulerUse(scheduler, clique) for scheduler, clique in first.items()]


def priority_classes(pcs: SetInContext) -> list[str]:
    """Returns the names of the PriorityClasses that the snapshot has, sorted.

    Every cluster has two built-in ones (`system-cluster-critical` and `system-node-critical`), so an empty list means that the snapshot
    was taken without PriorityClasses.
    """
    classes = pcs.snapshot.of_kind("scheduling.k8s.io/v1", "PriorityClass")
    return sorted((manifest.get("metadata") or {}).get("name") or "" for manifest in classes)
