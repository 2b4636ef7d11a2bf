"""PodCliqueSet: a workload of cliques and scaling groups (shipped semantics §1.2 to §1.4, GREP-244, GREP-270, GREP-0285)."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from grove_compiler.api.kube import AGE, Cel, Column, Crd, Duration, Int32, Kube, Labels, Time, list_map
from grove_compiler.api.metadata import KubernetesObject
from grove_compiler.api.podclique import AutoScalingConfig, PodCliqueSpec
from grove_compiler.api.podcliqueset_status import PodCliqueSetStatus
from grove_compiler.api.resource_sharing import (
    PodCliqueScalingGroupResourceSharing,
    PodCliqueSetResourceSharing,
    ResourceClaimTemplateConfig,
    ResourceSharing,
)
from grove_compiler.api.topology_constraint import TopologyConstraint


class UpdateStrategy(Kube):
    """How pods are replaced when templates change."""

    type: Literal["RollingRecreate", "OnDelete"] = "RollingRecreate"
    """RollingRecreate replaces pods one by one; OnDelete waits until they are deleted."""


class RestartBackoff(Kube):
    """How long a replica that has failed waits before its next attempt."""

    initial: Duration
    """The wait after the first failure; it doubles with each that follows."""
    maximum: Duration | None = None
    """The longest wait, 10m when absent. An attempt that ran for longer than this is followed by the first wait again."""


class FailureRule(Kube):
    """What follows when a program fails with one of some exit codes."""

    action: Literal["Restart", "Fail", "Ignore"]
    """Restart: a restart that costs one; Fail: the workload has failed, whatever is left; Ignore: a restart that costs none."""
    exit_codes: Annotated[list[Annotated[Int32, Field(ge=1, le=255)]], Field(min_length=1)]
    """Exit codes that the rule is about."""
    clique: str | None = None
    """Clique whose pods the rule is about; all when absent."""
    container: str | None = None
    """Container, or init container, that the rule is about; all when absent."""


class KeepFinishedPods(Kube):
    """When pods that have finished stay, so that their logs can be read."""

    on_success: bool | None = None
    """Whether they stay when the workload has succeeded; true when absent."""
    on_failure: bool | None = None
    """Whether they stay when the workload has failed; true when absent."""
    on_restart: bool | None = None
    """Whether those of an attempt stay while the next one runs; false when absent."""


class TrainingSpec(Kube):
    """Limits of a workload that comes to an end (GREP-0285)."""

    max_runtime: Duration | None = None
    """Time from the first start after which the workload has failed, restarts included."""
    max_restarts: Annotated[Int32, Field(ge=0)] | None = None
    """Restarts of replicas, in the whole set, before the workload has failed; none when absent."""
    ignore_disruptions: bool | None = None
    """Whether pods that the cluster takes away (eviction, preemption, loss of a node) cost no restart; false when absent."""
    restart_backoff: RestartBackoff | None = None
    """How long a replica waits before it is restarted; not at all when absent."""
    failure_rules: list[FailureRule] | None = None
    """What follows which exit code: the first rule that fits counts, and without one a restart."""
    success_cliques: Annotated[list[str], Field(min_length=1)] | None = None
    """Cliques with whose success a replica is done, such as that of the leader: pods of the others go then. All of them when absent."""
    keep_finished_pods: KeepFinishedPods | None = None
    """When pods that have finished stay."""
    restarted_at: Time | None = None
    """Ends the attempts that run and begins new ones, each time it is set to another time; this costs no restart."""


class HeadlessServiceConfig(Kube):
    """The headless Service of each replica."""

    publish_not_ready_addresses: bool = True
    """Whether pods have a DNS record before they are ready."""


class ComputeDomainConfig(Kube):
    """Multi-node NVLink for all GPU pods of a replica (GREP-270)."""

    enabled: bool | None = None
    """Whether each replica has a ComputeDomain."""
    device_class_name: str | None = None
    """DeviceClass of the claims; compute-domain.nvidia.com when absent."""


class RollingUpdate(Kube):
    """How fast an update replaces pods, as later releases of the upstream operator have it."""

    max_unavailable: Annotated[Int32, Field(ge=1)] | None = None
    """Pods of the clique, or replicas of the scaling group, that may be replaced at a time; 1 when absent."""
    progress_deadline: Duration | None = None
    """How long an update may make no progress before the condition UpdateInProgress reports it; no limit when absent."""


class PodCliqueTemplateSpec(Kube):
    """A clique of every replica."""

    name: str
    """Name of the clique, unique in the set."""
    labels: Labels | None = None
    """Labels for the PodCliques and their pods."""
    annotations: Labels | None = None
    """Annotations for the PodCliques and their pods."""
    topology_constraint: TopologyConstraint | None = None
    """Placement of the clique's pods, within that of what holds the clique."""
    resource_sharing: list[ResourceSharing] | None = None
    """Claims that the clique's pods share."""
    rolling_update: RollingUpdate | None = None
    """How fast an update replaces the clique's pods; not for cliques of scaling groups."""
    spec: PodCliqueSpec
    """What the clique asks for."""


class PodCliqueScalingGroupConfig(Kube):
    """Cliques of every replica that scale together."""

    name: str
    """Name of the scaling group, unique in the set."""
    clique_names: list[str]
    """Cliques that scale together."""
    annotations: Labels | None = None
    """Annotations for the PodCliqueScalingGroups."""
    replicas: Int32 | None = 1
    """Number of replicas at the start."""
    min_available: Int32 | None = None
    """Replicas that are scheduled with the base gang and below which it is terminated; 1 when absent, all of them for Training."""
    scale_config: AutoScalingConfig | None = None
    """Horizontal autoscaling of the group."""
    resource_sharing: list[PodCliqueScalingGroupResourceSharing] | None = None
    """Claims that the group's cliques share."""
    rolling_update: RollingUpdate | None = None
    """How fast an update replaces the group's replicas."""
    topology_constraint: TopologyConstraint | None = None
    """Placement of each replica of the group, within that of the set."""


class PodCliqueSetTemplateSpec(Kube):
    """What each replica of a set consists of."""

    cliques: Annotated[list[PodCliqueTemplateSpec], list_map("name")]
    """Cliques of the replica, at least one."""
    clique_startup_type: Literal["CliqueStartupTypeAnyOrder", "CliqueStartupTypeInOrder", "CliqueStartupTypeExplicit"] | None = (
        "CliqueStartupTypeAnyOrder"
    )
    """Which cliques wait for others: none, each for the one before it, or as startsAfter says."""
    priority_class_name: str | None = None
    """PriorityClass of the gangs."""
    headless_service_config: HeadlessServiceConfig | None = None
    """The headless Service of the replica."""
    cluster_topology_name: str | None = None
    """ClusterTopology that packDomain refers to; the default topology when absent (GREP-244)."""
    topology_constraint: TopologyConstraint | None = None
    """Placement of each replica."""
    termination_delay: Duration | None = None
    """How long a gang may lack pods before it is terminated: 4h when absent, 0 for training."""
    compute_domain_config: ComputeDomainConfig | None = None
    """Multi-node NVLink for the replica's GPU pods."""
    resource_claim_templates: list[ResourceClaimTemplateConfig] | None = None
    """Claim templates that resourceSharing can name."""
    resource_sharing: list[PodCliqueSetResourceSharing] | None = None
    """Claims that the set's children share."""
    pod_clique_scaling_groups: list[PodCliqueScalingGroupConfig] | None = None
    """Cliques that scale together."""


class PodCliqueSetSpec(Kube):
    """What a set asks for."""

    replicas: Int32 = 0
    """Number of copies of the whole workload."""
    update_strategy: UpdateStrategy | None = None
    """How pods are replaced when templates change."""
    workload_type: Literal["Inference", "Training"] | None = "Inference"
    """Whether pods run for ever (Inference) or come to an end (Training; GREP-0285)."""
    training_spec: TrainingSpec | None = None
    """Limits of a training workload."""
    suspend: bool | None = None
    """Whether a training workload has no pods for now: its state stays, and its time stands still."""
    ttl_seconds_after_finished: Annotated[Int32, Field(ge=0)] | None = None
    """Seconds after which a training workload that has succeeded or failed is deleted; never when absent."""
    template: PodCliqueSetTemplateSpec
    """What each replica consists of."""


_T = "self.spec.template"


def _no_new_pack_domain(field_path: str, rule: str) -> Cel:
    """Returns that packDomain in a set with a topologyName is the deprecated form of upstream Grove, which only sets that exist may have.

    Upstream Grove forbids every packDomain on creation. It is the designs' own word (GREP-244), so here it stays free where no
    topologyName makes the set one of upstream Grove's, or a clusterTopologyName one of the designs'.
    """
    return Cel(
        rule=f"oldSelf.hasValue() || has({_T}.clusterTopologyName) && {_T}.clusterTopologyName != '' || !({_NAMED}) || {rule}",
        message="packDomain is deprecated and cannot be used on new workloads; use pack.required, since topologyName is upstream's form",
        reason="FieldValueForbidden",
        field_path=field_path,
        optional_old_self=True,
    )


def _all_free(items: str) -> str:
    """Returns CEL: no item has a packDomain."""
    free = "!has(i.topologyConstraint) || !has(i.topologyConstraint.packDomain)"
    return f"!has({_T}.{items}) || {_T}.{items}.all(i, {free})"


def _any_named(items: str) -> str:
    """Returns CEL: an item has a topologyName."""
    named = "has(i.topologyConstraint) && has(i.topologyConstraint.topologyName)"
    return f"has({_T}.{items}) && {_T}.{items}.exists(i, {named})"


_NAMED = " || ".join(
    (
        f"has({_T}.topologyConstraint) && has({_T}.topologyConstraint.topologyName)",
        _any_named("cliques"),
        _any_named("podCliqueScalingGroups"),
    )
)
"""CEL: the set names a topology as upstream Grove does."""


class PodCliqueSetObject(KubernetesObject):
    """A workload of cliques and scaling groups, replicated as a whole."""

    type_name: ClassVar[str] = "PodCliqueSet"

    crd = Crd(
        plural="podcliquesets",
        short_names=("pcs",),
        columns=(
            Column("Replicas", ".spec.replicas"),
            Column("Available", ".status.availableReplicas"),
            Column("Updated", ".status.updatedReplicas"),
            Column("PCLQs-Updated", ".status.updateProgress.updatedPodCliquesCount", priority=1),
            Column("PCLQs-Total", ".status.updateProgress.totalPodCliquesCount", priority=1),
            Column("PCSGs-Updated", ".status.updateProgress.updatedPodCliqueScalingGroupsCount", priority=1),
            Column("PCSGs-Total", ".status.updateProgress.totalPodCliqueScalingGroupsCount", priority=1),
            Column("Phase", ".status.phase", "string", priority=1),
            Column("Attempt", ".status.trainingReplicas[*].attempt", "string", priority=1),
            Column("Suspended", '.status.conditions[?(@.type=="Suspended")].status', "string", priority=1),
            Column("Stalled", '.status.conditions[?(@.type=="Stalled")].reason', "string", priority=1),
            Column("Why", '.status.conditions[?(@.type=="WhyPending")].reason', "string", priority=1),
            AGE,
        ),
        selector=".status.hpaPodSelector",
    )
    rules: ClassVar = (
        _no_new_pack_domain(
            ".spec.template.topologyConstraint.packDomain", f"!has({_T}.topologyConstraint) || !has({_T}.topologyConstraint.packDomain)"
        ),
        _no_new_pack_domain(".spec.template.cliques", _all_free("cliques")),
        _no_new_pack_domain(".spec.template.podCliqueScalingGroups", _all_free("podCliqueScalingGroups")),
    )

    api_version: Literal["grove.io/v1alpha1"]
    """Version of the API that the object is written in."""
    kind: Literal["PodCliqueSet"]
    """Kind of the object."""
    spec: PodCliqueSetSpec
    """What the set asks for."""
    status: PodCliqueSetStatus | None = None
    """What is observed of the set."""
