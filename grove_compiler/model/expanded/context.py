"""A set in its context: the operator's configuration, the caller's settings, what exists, and what rules decide of it as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import partial

from grove_compiler.graph.node import ObjectRef
from grove_compiler.model.expanded.inherited_hashes import inherited_hashes, knows_hashes
from grove_compiler.model.expanded.recorded_templates import Hashes, Revision, effective_hashes, revisions_of
from grove_compiler.model.inputs.configuration import Configuration
from grove_compiler.model.inputs.mnnvl_shape import shape_of
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import PART_OF, Snapshot
from grove_compiler.model.lazy import lazy
from grove_compiler.model.spec.podcliqueset import PodCliqueSet
from grove_compiler.model.spec.templates import CliqueTemplate
from grove_compiler.model.spec.topology import Topology
from grove_compiler.record import record


def live_replicas(set: PodCliqueSet, declared: int, live: int | None) -> int:
    """Decides how many replicas a clique or a scaling group has; `live` is what its object says, none before there is one."""
    raise NotImplementedError


def scheduler_of(clique: CliqueTemplate, config: Configuration) -> str:
    """Decides which scheduler a clique's pods have."""
    raise NotImplementedError


def gang_scheduler(set: PodCliqueSet, config: Configuration) -> str:
    """Decides which scheduler the gangs of a set are for."""
    raise NotImplementedError


def kai_queue(set: PodCliqueSet) -> str:
    """Decides which of KAI's queues accounts for the set's gangs; empty for none."""
    raise NotImplementedError


def volcano_queue(set: PodCliqueSet) -> str:
    """Decides which of Volcano's queues the set's gangs are in. A queue that only cliques name counts too (shipped semantics §14.28)."""
    raise NotImplementedError


@record
class SchedulerUse:
    """A scheduler that pods of a set have, and the first clique whose pods those are."""

    scheduler: str
    clique: CliqueTemplate


@record(slots=False)
class SetInContext(PodCliqueSet):
    """A PodCliqueSet with what surrounds it: all that its parts need to know of the whole.

    `is_out_of_time` and `backing_off` are all that what is desired may know of the clock: that the deadline of a training workload is
    over, and which of its replicas have to wait before their next attempt begins.
    """

    config: Configuration = field(default_factory=Configuration, repr=False)
    settings: Settings = field(default_factory=Settings, repr=False)
    snapshot: Snapshot = field(default_factory=Snapshot, repr=False)
    topologies: Sequence[Topology] = field(default=(), repr=False)
    is_out_of_time: bool = False
    backing_off: frozenset[int] = frozenset()

    @lazy
    def topology(self) -> Topology | None:
        """The topology that constraints are translated by; none where topology-aware scheduling is off or it does not exist."""
        return self.placement.find(self.topologies) if self.config.topology_enabled else None

    @lazy
    def missing_domains(self) -> list[str]:
        """Domains that the set asks for and its topology lacks; none are missing where there is no topology."""
        return self.topology.lacks([use.domain for use in self.placement.domain_uses]) if self.topology else []

    def rank(self, domain: str) -> int:
        """Returns how narrow a domain is, from 0 for the broadest; -1 for one that the topology lacks."""
        rank = self.topology.rank(domain) if self.topology else None
        return -1 if rank is None else rank

    @lazy
    def mnnvl_shape(self) -> str:
        """The form of the designs' ComputeDomains and claims: `as-proposed` or `driver`."""
        return shape_of(self.settings.mnnvl_shape, self.snapshot)

    @lazy
    def scheduled_pods(self) -> int:
        """How many of its pods have a node already."""
        return self.snapshot.scheduled_pods(self.namespace, self.name)

    @lazy
    def ref(self) -> ObjectRef:
        """With the UID that the manifest has, else with that of the set in the snapshot."""
        declared = super().ref
        return declared if declared.uid else self.snapshot.with_uid(declared)

    @lazy
    def revisions(self) -> list[Revision]:
        """The pod templates that are recorded of it, the oldest first; none offline."""
        return revisions_of(self.snapshot, self.ref)

    @lazy
    def template_hashes(self) -> Hashes:
        """The hash of each clique's pod template, and that of all together: those recorded, where nothing has changed in meaning."""
        inherited = self.inherited_hashes
        return inherited or effective_hashes(self.cliques, self.priority_class, self.revisions, lambda: self.computed_hashes)

    @lazy
    def inherited_hashes(self) -> Hashes | None:
        """Those that another operator, or another release, has given it; none once it is recorded what its pods are made from."""
        live = None if self.revisions else self.snapshot.live(self.ref)
        if live is None or not knows_hashes(live, self.metadata.get("generation")):
            return None
        pod_cliques = partial(self.snapshot.labelled, "grove.io", "PodClique", PART_OF, self.name, self.namespace)
        return inherited_hashes(self.cliques, live, pod_cliques, self.computed_hashes)

    def pod_template_hash(self, clique: CliqueTemplate) -> str:
        """Returns the hash of a clique's pod template: that recorded, where nothing has changed in meaning."""
        # Where nothing is recorded, the clique is asked and not the list of all, so that `explain` names its lines alone.
        return self.template_hashes[0][clique.index] if self.revisions or self.inherited_hashes else clique.pod_template_hash

    def recorded_template(self, clique: CliqueTemplate, hash: str) -> CliqueTemplate | None:
        """Returns a clique as it is declared, but for its pods, which are as recorded under a hash; none where nothing is."""
        key = clique.index, hash
        if key not in self._recorded_templates:
            named = (one.template(clique.name) for one in reversed(self.revisions) if one.hashes.get(clique.name) == hash)
            self._recorded_templates[key] = None if (recorded := next(named, None)) is None else clique.with_pods_of(recorded)
        return self._recorded_templates[key]

    @lazy
    def _recorded_templates(self) -> dict[tuple[int, str], CliqueTemplate | None]:
        return {}

    @lazy
    def scheduler(self) -> str:
        """The scheduler of its gangs, by the rule `gang_scheduler`."""
        return self.decisions.of(gang_scheduler)(self, self.config)

    def replicas_of(self, ref: ObjectRef, declared: int) -> int:
        """Returns the replicas of one of its cliques or scaling groups, by the rule `live_replicas`."""
        manifest = self.snapshot.live(ref)
        live = None if manifest is None else (manifest.get("spec") or {}).get("replicas")
        return self.decisions.of(live_replicas)(self, declared, live)


def scheduler_uses(set: PodCliqueSet, config: Configuration) -> list[SchedulerUse]:
    """Returns the schedulers that the set's pods have, each with the first clique that has it; one is how it should be.

    The scheduler of the very first clique is what the shipped operator takes for the whole set (shipped semantics §6.2, §10).
    """
    first: dict[str, CliqueTemplate] = {}
    for clique in set.cliques:
        first.setdefault(set.decisions.of(scheduler_of)(clique, config), clique)
    return [SchedulerUse(scheduler, clique) for scheduler, clique in first.items()]
