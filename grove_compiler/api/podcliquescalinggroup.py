"""PodCliqueScalingGroup: cliques that scale together (shipped semantics §1.5, §1.9)."""

from __future__ import annotations

from typing import Literal

from grove_compiler.api.kube import AGE, Column, Crd, Int32, Kube, Time
from grove_compiler.api.metadata import Conditions, KubernetesObject, LastError


class PodCliqueScalingGroupSpec(Kube):
    """What a scaling group asks for."""

    replicas: Int32 = 1
    """Number of replicas, each with one PodClique a name."""
    min_available: Int32 | None = 1
    """Replicas that are scheduled with the base gang and below which it is terminated."""
    clique_names: list[str]
    """Cliques of the set's template that scale together."""


class ReplicaIndicesSelectedToUpdate(Kube):
    """Ready replicas that an update replaces."""

    current: Int32
    """Replica that is replaced now."""
    serving: Int32 | None = None
    """Replicas that were available when it was selected: as many have to be before the next one is."""
    completed: list[Int32] | None = None
    """Replicas that have been replaced."""


class PodCliqueScalingGroupUpdateProgress(Kube):
    """How far an update of a scaling group has come."""

    update_started_at: Time | None = None
    """When the update began."""
    update_ended_at: Time | None = None
    """When the update ended."""
    pod_clique_set_generation_hash: str
    """Generation hash of the set that is updated to."""
    updated_pod_cliques_count: Int32 = 0
    """PodCliques that have been updated."""
    total_pod_cliques_count: Int32 = 0
    """PodCliques that there should be."""
    ready_replica_indices_selected_to_update: ReplicaIndicesSelectedToUpdate | None = None
    """Ready replicas that are replaced."""


class PodCliqueScalingGroupStatus(Kube):
    """What is observed of a scaling group."""

    replicas: Int32 | None = None
    """Replicas that exist."""
    scheduled_replicas: Int32 = 0
    """Replicas of which every clique has enough scheduled pods."""
    available_replicas: Int32 = 0
    """Replicas of which no clique is short of pods."""
    updated_replicas: Int32 = 0
    """Replicas that have the newest templates."""
    selector: str | None = None
    """Selector of the pods for the scale subresource."""
    observed_generation: int | None = None
    """Generation of the spec that the status is about."""
    last_errors: list[LastError] | None = None
    """Failures of the last reconciliation."""
    conditions: Conditions | None = None
    """Aspects of the state."""
    current_pod_clique_set_generation_hash: str | None = None
    """Generation hash of the set that all replicas have."""
    update_progress: PodCliqueScalingGroupUpdateProgress | None = None
    """How far an update has come."""


class PodCliqueScalingGroup(KubernetesObject):
    """Cliques that scale together, as one replica of a model spread over leaders and workers."""

    crd = Crd(
        plural="podcliquescalinggroups",
        short_names=("pcsg",),
        columns=(
            Column("MinAvail", ".spec.minAvailable"),
            Column("Replicas", ".spec.replicas"),
            Column("Available", ".status.availableReplicas"),
            Column("Scheduled", ".status.scheduledReplicas"),
            Column("Updated", ".status.updatedReplicas"),
            Column("PCLQs-Updated", ".status.updateProgress.updatedPodCliquesCount", priority=1),
            Column("PCLQs-Total", ".status.updateProgress.totalPodCliquesCount", priority=1),
            Column("MinBreached", '.status.conditions[?(@.type=="MinAvailableBreached")].status', "string", priority=1),
            AGE,
        ),
        selector=".status.selector",
    )

    api_version: Literal["grove.io/v1alpha1"]
    """Version of the API that the object is written in."""
    kind: Literal["PodCliqueScalingGroup"]
    """Kind of the object."""
    spec: PodCliqueScalingGroupSpec
    """What the scaling group asks for."""
    status: PodCliqueScalingGroupStatus | None = None
    """What is observed of the scaling group."""
