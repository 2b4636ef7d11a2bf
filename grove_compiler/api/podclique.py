"""PodClique: pods of one role, made from one template (shipped semantics §1.3, §1.5, §1.8)."""

from __future__ import annotations

from typing import Annotated, Literal

from grove_compiler.api.kube import AGE, Column, Crd, Int32, Kube, MetricSpec, PodSpec, Structure, Time
from grove_compiler.api.metadata import Conditions, KubernetesObject, LastError


class AutoScalingConfig(Kube):
    """Bounds and metrics of a HorizontalPodAutoscaler."""

    min_replicas: Int32 | None = None
    """Lower bound; the replicas of the template when absent."""
    max_replicas: Int32
    """Upper bound."""
    metrics: Annotated[list[MetricSpec], Structure({"atomic": True})] | None = None
    """What to scale by (autoscaling/v2)."""


class PodCliqueSpec(Kube):
    """What a clique asks for."""

    role_name: str = ""
    """Role of the pods, unique in the set."""
    pod_spec: PodSpec
    """Specification of the pods."""
    replicas: Int32
    """Number of pods."""
    min_available: Int32 | None = None
    """Pods that are scheduled together and below which the gang is terminated; all replicas when absent."""
    starts_after: list[str] | None = None
    """Cliques whose pods have to be ready before these start."""
    auto_scaling_config: AutoScalingConfig | None = None
    """Horizontal autoscaling of this clique on its own."""


class PodsSelectedToUpdate(Kube):
    """Ready pods that an update replaces."""

    current: str
    """Pod that is replaced now."""
    serving: Int32 | None = None
    """Pods that were ready when it was selected: as many have to be before the next one is."""
    completed: list[str] | None = None
    """Pods that have been replaced."""


class PodCliqueUpdateProgress(Kube):
    """How far an update of a clique has come."""

    update_started_at: Time | None = None
    """When the update began."""
    update_ended_at: Time | None = None
    """When the update ended."""
    pod_clique_set_generation_hash: str
    """Generation hash of the set that is updated to."""
    pod_template_hash: str
    """Hash of the pod template that is updated to."""
    ready_pods_selected_to_update: PodsSelectedToUpdate | None = None
    """Ready pods that are replaced."""


class PodCliqueFailure(Kube):
    """Why the current attempt of a training workload has failed."""

    cause: str
    """PodFailed, PodDeleted, PodDisrupted, PodLost, MinAvailableBreached or PodCliqueDeleted."""
    time: Time
    """When it failed."""
    pod: str | None = None
    """Pod that failed first."""
    container: str | None = None
    """Container that failed first."""
    exit_code: Int32 | None = None
    """Its exit code."""
    message: str | None = None
    """The last lines of its termination message, or what took the pod away."""
    disruption: bool | None = None
    """Whether the cluster took the pod away."""
    early: bool | None = None
    """Whether it failed long before others of its gang had started."""


class PodCliqueStatus(Kube):
    """What is observed of a clique."""

    observed_generation: int | None = None
    """Generation of the spec that the status is about."""
    last_errors: list[LastError] | None = None
    """Failures of the last reconciliation."""
    replicas: Int32 | None = None
    """Pods that are not terminating."""
    ready_replicas: Int32 = 0
    """Pods that are ready."""
    updated_replicas: Int32 = 0
    """Pods that have the newest template."""
    schedule_gated_replicas: Int32 = 0
    """Pods that wait for their gang."""
    scheduled_replicas: Int32 = 0
    """Pods that have a node."""
    hpa_pod_selector: str | None = None
    """Selector of the pods for the scale subresource."""
    conditions: Conditions | None = None
    """Aspects of the state."""
    attempt: Int32 | None = None
    """The attempt of a training workload that the following fields are about, from 1."""
    start_time: Time | None = None
    """When all its pods ran in this attempt."""
    succeeded_indexes: str | None = None
    """Indices of its pods that have exited with 0 in this attempt, such as 0-2,5."""
    lost_since: Time | None = None
    """Since when a pod that ran is missing, although nobody was seen to delete it."""
    failure: PodCliqueFailure | None = None
    """Why this attempt has failed."""
    current_pod_clique_set_generation_hash: str | None = None
    """Generation hash of the set that all pods have."""
    current_pod_template_hash: str | None = None
    """Hash of the pod template that all pods have."""
    update_progress: PodCliqueUpdateProgress | None = None
    """How far an update has come."""


class PodClique(KubernetesObject):
    """Pods of one role, made from one template."""

    crd = Crd(
        plural="podcliques",
        short_names=("pclq",),
        columns=(
            Column("MinAvail", ".spec.minAvailable"),
            Column("Replicas", ".spec.replicas"),
            Column("Ready", ".status.readyReplicas"),
            Column("Scheduled", ".status.scheduledReplicas"),
            Column("Updated", ".status.updatedReplicas"),
            Column("Gated", ".status.scheduleGatedReplicas", priority=1),
            Column("MinBreached", '.status.conditions[?(@.type=="MinAvailableBreached")].status', "string", priority=1),
            AGE,
        ),
        selector=".status.hpaPodSelector",
    )

    api_version: Literal["grove.io/v1alpha1"]
    """Version of the API that the object is written in."""
    kind: Literal["PodClique"]
    """Kind of the object."""
    spec: PodCliqueSpec
    """What the clique asks for."""
    status: PodCliqueStatus | None = None
    """What is observed of the clique."""
