"""Templates that a set is made of, as the user wrote them: cliques and scaling groups, and how either is scaled by itself.

Both classes stand here because they know each other: a group names its cliques, and a clique belongs to a group.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from grove_compiler.graph.node import Manifest
from grove_compiler.model.lazy import lazy
from grove_compiler.model.spec.constraints import Constraint, read_constraint
from grove_compiler.model.spec.pod_spec import GpuContainer, gpu_containers_of
from grove_compiler.model.spec.sharing import SharingRef, read_sharing

KAI_QUEUE = "kai.scheduler/queue"
VOLCANO_QUEUE = "scheduling.grove.io/volcano-queue"


@dataclass(slots=True, eq=False)
class AutoScaling:
    """`autoScalingConfig` of a clique or `scaleConfig` of a scaling group. `path` is that field's."""

    path: str
    min_replicas: int | None
    max_replicas: int | None
    metrics: list[Manifest] | None


@dataclass(eq=False)
class CliqueTemplate:
    """An entry of `spec.template.cliques`, as the manifest has it (shipped semantics §1.3)."""

    manifest: Manifest
    index: int
    _groups: list[ScalingGroupTemplate] = field(default_factory=list, repr=False)

    @lazy
    def group(self) -> ScalingGroupTemplate | None:
        """The scaling group that names this clique, found by its exact name; of several (an error) the first."""
        return next((group for group in self._groups if self.name in group.clique_names), None)

    @lazy
    def path(self) -> str:
        return f"spec.template.cliques[{self.index}]"

    @lazy
    def name(self) -> str:
        return self.manifest.get("name") or ""

    @lazy
    def labels(self) -> dict[str, str]:
        return self.manifest.get("labels") or {}

    @lazy
    def annotations(self) -> dict[str, str]:
        return self.manifest.get("annotations") or {}

    @lazy
    def spec(self) -> Manifest:
        return self.manifest.get("spec") or {}

    @lazy
    def role_name(self) -> str:
        return self.spec.get("roleName") or ""

    @lazy
    def replicas(self) -> int:
        """Pods wanted at first; 0 when absent."""
        return self.spec.get("replicas") or 0

    @lazy
    def min_available(self) -> int | None:
        return self.spec.get("minAvailable")

    @lazy
    def starts_after(self) -> list[str]:
        """Names of clique templates; used only when the start-up type is Explicit."""
        return self.spec.get("startsAfter") or []

    @lazy
    def autoscaling(self) -> AutoScaling | None:
        return _read_autoscaling(self.spec.get("autoScalingConfig"), f"{self.path}.spec.autoScalingConfig")

    @lazy
    def pod_spec(self) -> Manifest:
        return self.spec.get("podSpec") or {}

    @lazy
    def containers(self) -> list[Manifest]:
        return self.pod_spec.get("containers") or []

    @lazy
    def init_containers(self) -> list[Manifest]:
        return self.pod_spec.get("initContainers") or []

    @lazy
    def gpu_containers(self) -> list[GpuContainer]:
        """The containers and init containers that ask for GPUs."""
        return gpu_containers_of(self.pod_spec, f"{self.path}.spec.podSpec")

    @property
    def uses_gpu(self) -> bool:
        """Whether any container or init container asks for GPUs."""
        return bool(self.gpu_containers)

    @lazy
    def scheduler_name(self) -> str:
        """`podSpec.schedulerName`; empty leaves the choice to the operator's configuration."""
        return self.pod_spec.get("schedulerName") or ""

    @lazy
    def constraint(self) -> Constraint | None:
        """Its topology constraint."""
        return read_constraint(self.manifest.get("topologyConstraint"), f"{self.path}.topologyConstraint")

    @lazy
    def resource_sharing(self) -> list[SharingRef]:
        return read_sharing(self.manifest, self.path)

    @lazy
    def kai_queue(self) -> str:
        """KAI's queue by label, else by annotation; empty when neither names one."""
        return kai_queue_in(self.labels, self.annotations)

    @lazy
    def volcano_queue(self) -> str:
        """Volcano's queue by annotation; empty when there is none."""
        return volcano_queue_in(self.annotations)

    def hashed_template(self, priority_class: str) -> Manifest:
        """Returns the core/v1 PodTemplateSpec that hashes are made of, with its set's class (shipped semantics §7.3).

        Maps that are absent here are nil there.
        """
        metadata = {key: self.manifest[key] for key in ("labels", "annotations") if self.manifest.get(key) is not None}
        return {"metadata": metadata, "spec": {**self.pod_spec, "priorityClassName": priority_class}}


@dataclass(eq=False)
class ScalingGroupTemplate:
    """An entry of `spec.template.podCliqueScalingGroups` (shipped semantics §1.4)."""

    manifest: Manifest
    index: int
    _cliques: list[CliqueTemplate] = field(default_factory=list, repr=False)

    @lazy
    def cliques(self) -> list[CliqueTemplate]:
        """The templates that `clique_names` names, in that order; names that nobody has are left out, of two of a name the first counts."""
        named = {clique.name: clique for clique in reversed(self._cliques)}
        return [named[name] for name in self.clique_names if name in named]

    @lazy
    def path(self) -> str:
        return f"spec.template.podCliqueScalingGroups[{self.index}]"

    @lazy
    def name(self) -> str:
        return self.manifest.get("name") or ""

    @lazy
    def annotations(self) -> dict[str, str]:
        return self.manifest.get("annotations") or {}

    @lazy
    def clique_names(self) -> list[str]:
        return self.manifest.get("cliqueNames") or []

    @lazy
    def replicas(self) -> int | None:
        return self.manifest.get("replicas")

    @lazy
    def min_available(self) -> int | None:
        return self.manifest.get("minAvailable")

    @lazy
    def autoscaling(self) -> AutoScaling | None:
        """`scaleConfig`, the name that this field has on scaling groups."""
        return _read_autoscaling(self.manifest.get("scaleConfig"), f"{self.path}.scaleConfig")

    @lazy
    def constraint(self) -> Constraint | None:
        """Its topology constraint."""
        return read_constraint(self.manifest.get("topologyConstraint"), f"{self.path}.topologyConstraint")

    @lazy
    def resource_sharing(self) -> list[SharingRef]:
        return read_sharing(self.manifest, self.path)

    @lazy
    def pods_per_replica(self) -> int:
        """Pods of one replica of the group by the templates' counts, as `GROVE_PCSG_TEMPLATE_NUM_PODS` tells them."""
        return sum(clique.replicas for clique in self.cliques)


def read_templates(template: Manifest) -> tuple[list[CliqueTemplate], list[ScalingGroupTemplate]]:
    """Returns the cliques and scaling groups of `spec.template` in the manifest's order, knowing each other."""
    # Who is whose is found when somebody asks, so that `explain` does not take an index to rest on the names of all.
    cliques: list[CliqueTemplate] = []
    groups: list[ScalingGroupTemplate] = []
    cliques += [CliqueTemplate(entry, index, groups) for index, entry in enumerate(template.get("cliques") or [])]
    groups += [ScalingGroupTemplate(entry, index, cliques) for index, entry in enumerate(template.get("podCliqueScalingGroups") or [])]
    return cliques, groups


def kai_queue_in(labels: dict[str, str], annotations: dict[str, str]) -> str:
    """Returns the queue of KAI that metadata names, by label, else by annotation; empty when neither does."""
    return labels.get(KAI_QUEUE) or annotations.get(KAI_QUEUE) or ""


def volcano_queue_in(annotations: dict[str, str]) -> str:
    """Returns the queue of Volcano that annotations name; empty when they name none."""
    return (annotations.get(VOLCANO_QUEUE) or "").strip()


def _read_autoscaling(config: Manifest | None, path: str) -> AutoScaling | None:
    if config is None:
        return None
    return AutoScaling(path, config.get("minReplicas"), config.get("maxReplicas"), config.get("metrics"))
