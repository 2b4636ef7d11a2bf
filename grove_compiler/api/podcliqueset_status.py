"""The status of a PodCliqueSet (shipped semantics §1.7, GREP-0285)."""

from __future__ import annotations

from typing import Literal

from grove_compiler.api.kube import Int32, Kube, Time
from grove_compiler.api.metadata import Conditions, LastError


class PodCliqueSetReplicaUpdateProgress(Kube):
    """How far an update of one replica has come."""

    replica_index: Int32
    """Index of the replica."""
    update_started_at: Time | None = None
    """When the update of the replica began."""
    update_ended_at: Time | None = None
    """When the update of the replica ended."""


class PodCliqueSetUpdateProgress(Kube):
    """How far an update of a set has come."""

    update_started_at: Time | None = None
    """When the update began."""
    update_ended_at: Time | None = None
    """When the update ended."""
    updated_pod_cliques_count: Int32 = 0
    """PodCliques that have been updated."""
    total_pod_cliques_count: Int32 = 0
    """PodCliques that there should be."""
    updated_pod_clique_scaling_groups_count: Int32 = 0
    """Scaling groups that have been updated."""
    total_pod_clique_scaling_groups_count: Int32 = 0
    """Scaling groups that there should be."""
    currently_updating: list[PodCliqueSetReplicaUpdateProgress] | None = None
    """Replicas that are updated now."""


class GangStatus(Kube):
    """What is observed of one gang of the set."""

    name: str
    """Name of the gang."""
    phase: Literal["Pending", "Starting", "Running"]
    """Where the gang stands in its life."""
    conditions: Conditions | None = None
    """Aspects of the gang's state."""


class ComputeDomainStatus(Kube):
    """What is observed of a ComputeDomain of a set."""

    name: str
    """Its name, in the namespace of the set."""
    replica_index: Int32
    """The replica of the set that it belongs to."""
    ready: bool
    """Whether its pods can reach each other over NVLink."""
    nodes: Int32
    """Nodes that have joined it: one joins when a pod of the domain is put on it."""
    ready_nodes: Int32
    """Those of them that can use it."""
    message: str | None = None
    """Why it is not ready."""


class TrainingReplicaStatus(Kube):
    """Where a replica of a training workload stands."""

    index: Int32
    """Index of the replica."""
    attempt: Int32
    """The attempt that counts now, from 1. Pods of others go."""
    phase: Literal["Pending", "Running", "Succeeded"]
    """Where this attempt stands."""
    start_time: Time | None = None
    """When all pods of this attempt ran."""
    failures_in_a_row: Int32 | None = None
    """Attempts before this one that failed one after the other, where restartBackoff is set."""
    backoff_until: Time | None = None
    """When this attempt may begin."""


class AttemptStatus(Kube):
    """How an attempt of a replica ended."""

    replica: Int32
    """Index of the replica."""
    attempt: Int32
    """Which attempt of it, from 1."""
    start_time: Time | None = None
    """When all its pods ran; absent when they never did."""
    end_time: Time
    """When it ended."""
    cause: str
    """Succeeded, Suspended, Restarted, MaxRuntimeExceeded, or of what failed: PodFailed, PodDeleted, PodDisrupted, PodLost,
    MinAvailableBreached, PodCliqueDeleted."""
    pod_clique: str | None = None
    """PodClique that failed first."""
    pod: str | None = None
    """Pod that failed first."""
    container: str | None = None
    """Container that failed first."""
    exit_code: Int32 | None = None
    """Its exit code."""
    message: str | None = None
    """The last lines of its termination message, or what took the pod away."""
    counted: bool | None = None
    """Whether the restart after it used up any of maxRestarts."""


class PodCliqueSetStatus(Kube):
    """What is observed of a set."""

    observed_generation: int | None = None
    """Generation of the spec that the status is about."""
    conditions: Conditions | None = None
    """Aspects of the state."""
    last_errors: list[LastError] | None = None
    """Failures of the last reconciliation."""
    phase: Literal["Pending", "Running", "Succeeded", "Failed"] | None = None
    """Where the workload stands; only training succeeds or fails (GREP-0285)."""
    restart_count: Int32 | None = None
    """Restarts of replicas that a training workload has used up."""
    start_time: Time | None = None
    """When the phase was Running for the first time; maxRuntime counts from here."""
    completion_time: Time | None = None
    """When a training workload succeeded or failed."""
    disruption_count: Int32 | None = None
    """Restarts because the cluster took a pod away, whether they used up any of maxRestarts or not."""
    suspend_time: Time | None = None
    """Since when a training workload is suspended; absent while it is not."""
    suspended_seconds: Int32 | None = None
    """For how long it was suspended before, which counts for no deadline."""
    restarted_at: Time | None = None
    """trainingSpec.restartedAt that has been carried out."""
    training_replicas: list[TrainingReplicaStatus] | None = None
    """Where the replicas of a training workload stand; one that is not named has not begun."""
    attempts: list[AttemptStatus] | None = None
    """How the last ten attempts of replicas ended, the oldest first."""
    replicas: Int32 | None = None
    """Replicas that exist."""
    updated_replicas: Int32 = 0
    """Replicas that have the newest templates."""
    available_replicas: Int32 = 0
    """Replicas of which no clique and no scaling group is short of pods."""
    hpa_pod_selector: str | None = None
    """Selector of the pods for the scale subresource."""
    pod_gang_statuses: list[GangStatus] | None = None
    """What is observed of the gangs; declared by upstream Grove and not filled."""
    current_generation_hash: str | None = None
    """Hash over everything whose change replaces pods."""
    update_progress: PodCliqueSetUpdateProgress | None = None
    """How far an update has come."""
    compute_domains: list[ComputeDomainStatus] | None = None
    """Its ComputeDomains, where it asks for multi-node NVLink (GREP-270, Open questions)."""
