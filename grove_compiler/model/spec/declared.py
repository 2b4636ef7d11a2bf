"""What the user wrote: a PodCliqueSet after defaulting, its cliques and its scaling groups.

Validation rules run on these classes, so each can be read from any manifest that has the right structure, however wrong it is:
names may be unknown, empty or double, numbers out of bounds. Field paths are Kubernetes' (`spec.template.cliques[0]`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.model.lazy import lazy
from grove_compiler.model.spec.autoscaling import AutoScaling, read_autoscaling
from grove_compiler.model.spec.gpu import GpuContainer, gpu_containers_of
from grove_compiler.model.spec.mnnvl import Mnnvl
from grove_compiler.model.spec.placement import Placement
from grove_compiler.model.spec.sharing import ClaimTemplate, SharingRef, read_claim_templates, read_sharing

API_VERSION = "grove.io/v1alpha1"
GROVE_PREFIX = "grove.io/"
KAI_QUEUE = "kai.scheduler/queue"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
VOLCANO_QUEUE = "scheduling.grove.io/volcano-queue"


@dataclass(eq=False)
class CliqueTemplate:
    """An entry of `spec.template.cliques`, as the manifest has it (shipped semantics §1.3).

    `group` is the scaling group that names this clique, found by its exact name; of several (an error) the first.
    """

    set: PodCliqueSet = field(repr=False)
    manifest: Manifest
    index: int
    group: ScalingGroupTemplate | None = field(default=None, repr=False)

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
        return read_autoscaling(self.spec.get("autoScalingConfig"), f"{self.path}.spec.autoScalingConfig")

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
    def topology_constraint(self) -> Manifest | None:
        return self.manifest.get("topologyConstraint")

    @lazy
    def resource_sharing(self) -> list[SharingRef]:
        return read_sharing(self.manifest, self.path)

    @lazy
    def kai_queue(self) -> str:
        """KAI's queue by label, else by annotation; empty when neither names one."""
        return self.labels.get(KAI_QUEUE) or self.annotations.get(KAI_QUEUE) or ""

    @lazy
    def volcano_queue(self) -> str:
        return (self.annotations.get(VOLCANO_QUEUE) or "").strip()

    @lazy
    def hashed_template(self) -> Manifest:
        """The core/v1 PodTemplateSpec that hashes are made of (shipped semantics §7.3): maps absent here are nil there."""
        metadata = {key: self.manifest[key] for key in ("labels", "annotations") if self.manifest.get(key) is not None}
        spec = {**self.pod_spec, "priorityClassName": self.set.priority_class}
        return {"metadata": metadata, "spec": spec}

    @property
    def pod_template_hash(self) -> str:
        return self.set.template_hashes[0][self.index]


@dataclass(eq=False)
class ScalingGroupTemplate:
    """An entry of `spec.template.podCliqueScalingGroups` (shipped semantics §1.4).

    `cliques` holds the templates that `clique_names` names, in that order; names that nobody has are left out.
    """

    manifest: Manifest
    index: int
    cliques: list[CliqueTemplate] = field(default_factory=list, repr=False)

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
        return read_autoscaling(self.manifest.get("scaleConfig"), f"{self.path}.scaleConfig")

    @lazy
    def topology_constraint(self) -> Manifest | None:
        return self.manifest.get("topologyConstraint")

    @lazy
    def resource_sharing(self) -> list[SharingRef]:
        return read_sharing(self.manifest, self.path)

    @lazy
    def pods_per_replica(self) -> int:
        """Pods of one replica of the group by the templates' counts, as `GROVE_PCSG_TEMPLATE_NUM_PODS` tells them."""
        return sum(clique.replicas for clique in self.cliques)


@dataclass(eq=False)
class PodCliqueSet:
    """The set that is compiled (rules call it `set`), or its former state in validations on update (`old`).

    It is made from its manifest; `default_namespace` is where a manifest without a namespace goes.
    """

    manifest: Manifest
    default_namespace: str = "default"

    @lazy
    def metadata(self) -> Manifest:
        return self.manifest.get("metadata") or {}

    @lazy
    def name(self) -> str:
        return self.metadata.get("name") or ""

    @lazy
    def namespace(self) -> str:
        return self.metadata.get("namespace") or self.default_namespace

    @lazy
    def uid(self) -> str:
        """Empty while the set exists only on paper."""
        return self.metadata.get("uid") or ""

    @lazy
    def ref(self) -> ObjectRef:
        return ObjectRef(API_VERSION, "PodCliqueSet", self.namespace, self.name, self.uid)

    @lazy
    def labels(self) -> dict[str, str]:
        return self.metadata.get("labels") or {}

    @lazy
    def annotations(self) -> dict[str, str]:
        return self.metadata.get("annotations") or {}

    @lazy
    def foreign_labels(self) -> dict[str, str]:
        """The labels that are not Grove's own; PodGangs carry them on."""
        return _foreign(self.labels)

    @lazy
    def foreign_annotations(self) -> dict[str, str]:
        """The annotations that are not Grove's own, nor kubectl's memory of the set; PodGangs carry them on."""
        return {key: value for key, value in _foreign(self.annotations).items() if key != LAST_APPLIED}

    @lazy
    def spec(self) -> Manifest:
        return self.manifest.get("spec") or {}

    @lazy
    def template(self) -> Manifest:
        return self.spec.get("template") or {}

    @lazy
    def replica_count(self) -> int:
        """`spec.replicas`; 0 when absent. (`replicas` are the replicas themselves.)"""
        return self.spec.get("replicas") or 0

    @lazy
    def update_strategy(self) -> str:
        """RollingRecreate unless the manifest says OnDelete."""
        return (self.spec.get("updateStrategy") or {}).get("type") or "RollingRecreate"

    @lazy
    def is_training(self) -> bool:
        """Whether the workload comes to an end (GREP-0285); without a `workloadType` it does not."""
        return self.spec.get("workloadType") == "Training"

    @lazy
    def max_runtime(self) -> str | None:
        """`trainingSpec.maxRuntime`, a duration from the first start on, restarts included; none is no limit."""
        return (self.spec.get("trainingSpec") or {}).get("maxRuntime")

    @lazy
    def max_restarts(self) -> int:
        """`trainingSpec.maxRestarts`: restarts of replicas in the whole set before it has failed; 0 when absent."""
        return (self.spec.get("trainingSpec") or {}).get("maxRestarts") or 0

    @lazy
    def startup_type(self) -> str:
        """CliqueStartupTypeAnyOrder, CliqueStartupTypeInOrder or CliqueStartupTypeExplicit; empty when absent."""
        return self.template.get("cliqueStartupType") or ""

    @lazy
    def priority_class(self) -> str:
        """For PodGangs and hashes, never for pods (shipped semantics §14.24); empty when absent."""
        return self.template.get("priorityClassName") or ""

    @lazy
    def termination_delay(self) -> str | None:
        """A duration as Go writes it (`4h0m0s`)."""
        return self.template.get("terminationDelay")

    @lazy
    def publish_not_ready(self) -> bool:
        """Whether headless Services tell addresses of pods that are not ready."""
        config = self.template.get("headlessServiceConfig") or {}
        return bool(config.get("publishNotReadyAddresses"))

    @lazy
    def topology_constraint(self) -> Manifest | None:
        return self.template.get("topologyConstraint")

    @lazy
    def placement(self) -> Placement:
        """What the set and its parts ask of the cluster's topology."""
        return Placement(self)

    @lazy
    def mnnvl(self) -> Mnnvl:
        """What the set and its parts ask for of multi-node NVLink."""
        return Mnnvl(self)

    @lazy
    def claim_templates(self) -> list[ClaimTemplate]:
        return read_claim_templates(self.template, "spec.template")

    @lazy
    def resource_sharing(self) -> list[SharingRef]:
        return read_sharing(self.template, "spec.template")

    @lazy
    def _members(self) -> tuple[list[CliqueTemplate], list[ScalingGroupTemplate]]:
        entries = self.template.get("cliques") or []
        cliques = [CliqueTemplate(self, entry, index) for index, entry in enumerate(entries)]
        named = {clique.name: clique for clique in reversed(cliques)}
        groups = []
        for index, entry in enumerate(self.template.get("podCliqueScalingGroups") or []):
            group = ScalingGroupTemplate(entry, index)
            group.cliques = [named[name] for name in group.clique_names if name in named]
            groups.append(group)
        for clique in cliques:
            clique.group = next((group for group in groups if clique.name in group.clique_names), None)
        return cliques, groups

    @lazy
    def cliques(self) -> list[CliqueTemplate]:
        """The clique templates in the manifest's order."""
        return self._members[0]

    @lazy
    def groups(self) -> list[ScalingGroupTemplate]:
        """The scaling-group templates in the manifest's order."""
        return self._members[1]

    @lazy
    def clique_names(self) -> list[str]:
        return [clique.name for clique in self.cliques]

    @lazy
    def group_names(self) -> list[str]:
        return [group.name for group in self.groups]

    @lazy
    def kai_queues(self) -> list[str]:
        """The different queues of KAI that the set and its cliques ask for, the set's first. KAI needs exactly one."""
        own = self.labels.get(KAI_QUEUE) or self.annotations.get(KAI_QUEUE) or ""
        asked = [own, *(clique.kai_queue for clique in self.cliques)]
        return [queue for queue in dict.fromkeys(asked) if queue]

    @lazy
    def volcano_queues(self) -> list[str]:
        """The different queues of Volcano that the set and its cliques ask for, the set's first."""
        asked = [(self.annotations.get(VOLCANO_QUEUE) or "").strip(), *(clique.volcano_queue for clique in self.cliques)]
        return [queue for queue in dict.fromkeys(asked) if queue]

    @lazy
    def template_hashes(self) -> tuple[list[str], str]:
        """The hash of each clique's pod template, and that of all together (shipped semantics §7.3)."""
        from grove_compiler.kube.template_hash import template_hashes  # brings the pod API's field tables: not for validation

        return template_hashes(clique.hashed_template for clique in self.cliques)

    @property
    def generation_hash(self) -> str:
        return self.template_hashes[1]


def _foreign(entries: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in entries.items() if not key.startswith(GROVE_PREFIX)}
