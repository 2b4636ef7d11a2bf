"""Models the templates of a set as the user wrote them: cliques and scaling groups, and their autoscaling.

Both classes are in one file because they refer to each other: a group names its cliques, and a clique belongs to a group.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, ClassVar

from grove_compiler.graph.node import Manifest
from grove_compiler.model.declared import declared, optional
from grove_compiler.model.lazy import lazy
from grove_compiler.model.spec.constraints import Constraint, constraint_in
from grove_compiler.model.spec.mention import Mention
from grove_compiler.model.spec.pod_spec import DOMAIN_CLAIM, GpuContainer, by_name, claim_uses_of, gpu_containers_of
from grove_compiler.model.spec.sharing import SharingRef, sharing_in
from grove_compiler.record import record

if TYPE_CHECKING:
    from grove_compiler.kube.template_hash import HashedTemplate

KAI_QUEUE = "kai.scheduler/queue"
VOLCANO_QUEUE = "scheduling.grove.io/volcano-queue"
OUTSIDE_SPEC = ("labels", "annotations")
"""Fields of a clique's template outside the pod spec that are hashed with it."""


@record(slots=False)
class AutoScaling:
    """The `autoScalingConfig` of a clique or the `scaleConfig` of a scaling group, at `path`."""

    manifest: Manifest
    path: str

    min_replicas = optional(int, "minReplicas")
    max_replicas = optional(int, "maxReplicas")
    metrics = optional(list[Manifest], "metrics")


@record(slots=False)
class _Template:
    """The common base of clique and scaling-group templates: a named entry of a list in `spec.template`."""

    manifest: Manifest
    index: int

    _kind: ClassVar[str]
    _list: ClassVar[str]
    _scaling_field: ClassVar[str]

    name = declared(str, "name")
    annotations = declared(dict[str, str], "annotations")
    rolling_update = optional(Manifest, "rollingUpdate")
    max_unavailable = optional(int, "rollingUpdate.maxUnavailable", "What an update may replace at a time: pods, or replicas of the group.")
    progress_deadline = declared(str, "rollingUpdate.progressDeadline", "How long an update may make no progress; empty for no limit.")

    @lazy
    def path(self) -> str:
        return f"spec.template.{self._list}[{self.index}]"

    @lazy
    def autoscaling(self) -> AutoScaling | None:
        """Its autoscaling configuration; none when it is not autoscaled."""
        manifest: Manifest | None = self.manifest
        for key in self._scaling_field.split("."):
            manifest = (manifest or {}).get(key)
        return None if manifest is None else AutoScaling(manifest, f"{self.path}.{self._scaling_field}")

    @lazy
    def constraint(self) -> Constraint | None:
        """Its topology constraint."""
        return constraint_in(self.manifest, self.path, f"{self._kind} '{self.name}'")

    @lazy
    def resource_sharing(self) -> list[SharingRef]:
        return sharing_in(self.manifest, self.path)


@record(slots=False)
class Templates:
    """All templates of a set, and indexes by which they find each other. Of several with one name, which is an error, the first counts."""

    cliques: list[CliqueTemplate] = field(default_factory=list)
    groups: list[ScalingGroupTemplate] = field(default_factory=list)

    @lazy
    def cliques_by_name(self) -> dict[str, CliqueTemplate]:
        return {clique.name: clique for clique in reversed(self.cliques)}

    @lazy
    def groups_by_name(self) -> dict[str, ScalingGroupTemplate]:
        return {group.name: group for group in reversed(self.groups)}

    @lazy
    def groups_by_clique(self) -> dict[str, ScalingGroupTemplate]:
        return {name: group for group in reversed(self.groups) for name in group.clique_names}


@record(slots=False)
class CliqueTemplate(_Template):
    """An entry of `spec.template.cliques`."""

    _set_template: Manifest = field(default_factory=dict, repr=False)
    _all: Templates = field(default_factory=Templates, repr=False)

    _kind = "PodClique"
    _list = "cliques"
    _scaling_field = "spec.autoScalingConfig"

    labels = declared(dict[str, str], "labels")
    spec = declared(Manifest, "spec")
    role_name = declared(str, "spec.roleName")
    replicas = declared(int, "spec.replicas", "The initial number of pods; 0 when absent.")
    min_available = optional(int, "spec.minAvailable")
    starts_after = declared(list[str], "spec.startsAfter", "Names of clique templates; used only when the start-up type is Explicit.")
    pod_spec = declared(Manifest, "spec.podSpec")
    containers = declared(list[Manifest], "spec.podSpec.containers")
    init_containers = declared(list[Manifest], "spec.podSpec.initContainers")
    scheduler_name = declared(str, "spec.podSpec.schedulerName", "Empty leaves the choice to the operator's configuration.")

    @lazy
    def group(self) -> ScalingGroupTemplate | None:
        """The scaling group that names this clique; the first of several, which are an error."""
        name = self.name  # first, so that `explain` names it first
        return self._all.groups_by_clique.get(name)

    @lazy
    def gpu_containers(self) -> list[GpuContainer]:
        """The containers and init containers that request GPUs."""
        return gpu_containers_of(self.pod_spec, f"{self.path}.spec.podSpec")

    @property
    def uses_gpu(self) -> bool:
        """Whether any container or init container requests GPUs."""
        return bool(self.gpu_containers)

    @lazy
    def claim_uses(self) -> list[Mention]:
        """The claims that its containers and init containers name."""
        return claim_uses_of(self.pod_spec, f"{self.path}.spec.podSpec")

    @lazy
    def resource_claims(self) -> dict[str, Manifest]:
        """The claims that its pods declare themselves, by name."""
        return by_name(self.pod_spec.get("resourceClaims"))

    @property
    def names_claim(self) -> bool:
        """Whether any container or init container names the claim of a ComputeDomain, by the designs' name for it (`mnnvl`)."""
        return any(use.name == DOMAIN_CLAIM for use in self.claim_uses)

    @lazy
    def kai_queue(self) -> str:
        """The KAI queue from the label, else from the annotation; empty when neither names one."""
        return kai_queue_in(self.labels, self.annotations)

    @lazy
    def volcano_queue(self) -> str:
        """The Volcano queue from the annotation; empty when there is none."""
        return volcano_queue_in(self.annotations)

    def hashed_template(self, priority_class: str) -> Manifest:
        """Returns the core/v1 PodTemplateSpec that is hashed, with the set's priority class.

        An absent map stands for Go's nil map.
        """
        metadata = {key: self.manifest[key] for key in OUTSIDE_SPEC if self.manifest.get(key) is not None}
        return {"metadata": metadata, "spec": {**self.pod_spec, "priorityClassName": priority_class}}

    @lazy
    def pod_parts(self) -> Manifest:
        """The fields that its pods are made from: `labels`, `annotations` and `podSpec`, as far as they are present."""
        parts: Manifest = {key: self.manifest[key] for key in OUTSIDE_SPEC if self.manifest.get(key) is not None}
        return {**parts, "podSpec": self.pod_spec}

    def with_pods_of(self, parts: Manifest) -> CliqueTemplate:
        """Returns the same clique with other `pod_parts`."""
        rest = {key: value for key, value in self.manifest.items() if key not in (*OUTSIDE_SPEC, "spec")}
        outer = {key: parts[key] for key in OUTSIDE_SPEC if key in parts}
        return CliqueTemplate(
            {**rest, **outer, "spec": {**self.spec, "podSpec": parts.get("podSpec") or {}}}, self.index, self._set_template, self._all
        )

    # Each clique computes its own hash, instead of one list for all, so that `explain` attributes it to the lines of this clique alone.
    @lazy
    def _hashed(self) -> HashedTemplate:
        """Its pod template in the form that is hashed."""
        from grove_compiler.kube.template_hash import hashed  # brings the pod API's field tables: not for validation

        return hashed(self.hashed_template(self._set_template.get("priorityClassName") or ""))

    @lazy
    def pod_template_hash(self) -> str:
        """The hash of its pods' template, which changes when they have to be replaced."""
        return self._hashed.hash


@record(slots=False)
class ScalingGroupTemplate(_Template):
    """An entry of `spec.template.podCliqueScalingGroups`."""

    _all: Templates = field(default_factory=Templates, repr=False)

    _kind = "PodCliqueScalingGroup"
    _list = "podCliqueScalingGroups"
    _scaling_field = "scaleConfig"

    clique_names = declared(list[str], "cliqueNames")
    replicas = optional(int, "replicas")
    min_available = optional(int, "minAvailable")

    @lazy
    def cliques(self) -> list[CliqueTemplate]:
        """The templates in `clique_names`, in that order; unknown names are left out, and the first of duplicate names counts."""
        by_name = self._all.cliques_by_name
        return [by_name[name] for name in self.clique_names if name in by_name]

    @lazy
    def pods_per_replica(self) -> int:
        """The pods of one replica of the group by the templates' counts, the value of `GROVE_PCSG_TEMPLATE_NUM_PODS`."""
        return sum(clique.replicas for clique in self.cliques)


def templates_in(template: Manifest) -> Templates:
    """Returns the cliques and scaling groups of `spec.template` in the manifest's order, with references to each other."""
    every = Templates()
    every.cliques += [CliqueTemplate(entry, index, template, every) for index, entry in enumerate(template.get("cliques") or [])]
    every.groups += [ScalingGroupTemplate(entry, index, every) for index, entry in enumerate(template.get("podCliqueScalingGroups") or [])]
    return every


def kai_queue_in(labels: dict[str, str], annotations: dict[str, str]) -> str:
    """Returns the KAI queue from the label, else from the annotation; empty when neither names one."""
    return labels.get(KAI_QUEUE) or annotations.get(KAI_QUEUE) or ""


def volcano_queue_in(annotations: dict[str, str]) -> str:
    """Returns the Volcano queue that the annotations name; empty when they name none."""
    return (annotations.get(VOLCANO_QUEUE) or "").strip()
