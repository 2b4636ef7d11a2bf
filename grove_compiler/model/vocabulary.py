"""Lists the names that rules may use: roots with their types, functions, and the decisions that rules make for the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grove_compiler.kube import duration, names, pod_request, timestamp
from grove_compiler.model.admitted.podclique import AdmittedCliqueDecisions, AdmittedPodClique
from grove_compiler.model.admitted.podgang import AdmittedGangDecisions, AdmittedPodGang
from grove_compiler.model.checks import (
    group_variables,
    mnnvl_conflicts,
    name_budget,
    name_collisions,
    scale_target,
    startup_order,
    update,
)
from grove_compiler.model.decisions import decisions_of
from grove_compiler.model.expanded import (
    claims,
    clique_roll,
    clique_state,
    context,
    deferred_statuses,
    domains,
    gang,
    gates,
    group_roll,
    live_object,
    live_pods,
    pod_state,
    pods,
    replaced_pods,
    revisions,
    set_update,
    startup,
    tally,
    termination,
    topology,
    update_progress,
)
from grove_compiler.model.expanded.attempts import attempt, clique_attempt, pod_end
from grove_compiler.model.expanded.readiness import ReadinessDecisions
from grove_compiler.model.expanded.structure import ExpandedSet, UpdateDecisions
from grove_compiler.model.expanded.topology import ExpandedTopology
from grove_compiler.model.expanded.training import clique_failure, job, job_status
from grove_compiler.model.inputs.check_run import TestedPod
from grove_compiler.model.inputs.configuration import Configuration
from grove_compiler.model.inputs.managed_edit import ManagedEdit, ScaleRequest
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.preflight.forming_gang import FormingGang, PeerDecisions
from grove_compiler.model.preflight.gang import CheckedGangDecisions
from grove_compiler.model.preflight.pod import CheckDecisions, CheckedPod
from grove_compiler.model.preflight.pod_devices import DeviceDecisions
from grove_compiler.model.preflight.values import Preflight, matches_any
from grove_compiler.model.spec import pod_spec, podcliqueset, sharing
from grove_compiler.model.spec.mnnvl_layers import AnnotationDecisions
from grove_compiler.model.spec.podcliqueset import PodCliqueSet
from grove_compiler.model.spec.topology import Topology
from kube_objects import quantity

ROOTS: dict[str, type] = {"config": Configuration, "settings": Settings}

# For each kind of input that rules may be about: its own names, and those of validations on update besides. The first is the default.
SUBJECTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "PodCliqueSet": ({"set": ExpandedSet, "old": PodCliqueSet | None}, {"old": PodCliqueSet}),
    "ClusterTopology": ({"topology": ExpandedTopology}, {"old": Topology}),
    "ClusterTopologyBinding": ({"topology": ExpandedTopology}, {"old": Topology}),
    "OperatorConfiguration": ({"topologies": list[Topology]}, {}),
    "PreflightPod": ({"pod": CheckedPod, "preflight": Preflight}, {}),
    "PreflightGang": ({"gang": FormingGang, "preflight": Preflight}, {}),
    "PreflightResult": ({"tested": TestedPod, "preflight": Preflight}, {}),
    "AdmittedPodClique": ({"podclique": AdmittedPodClique, "old": AdmittedPodClique | None}, {"old": AdmittedPodClique}),
    "AdmittedPodGang": ({"podgang": AdmittedPodGang}, {}),
    "ManagedObject": ({"edit": ManagedEdit}, {}),
    "Scale": ({"scale": ScaleRequest}, {}),
}

PARAMETER_WORDS = {"pcs": "set", "condition_type": "type", "struct_type": "type", "template_hash": "hash"}
"""What rules call parameters of functions and methods: Python has functions of its own by these names."""


def _by_name(*functions: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    return {function.__name__: function for function in sorted(functions, key=lambda function: function.__name__)}


DECISIONS = decisions_of(
    AdmittedCliqueDecisions, AdmittedGangDecisions, AnnotationDecisions, CheckDecisions, CheckedGangDecisions, DeviceDecisions,
    PeerDecisions, ReadinessDecisions, UpdateDecisions, claims.ClaimDecisions, context.SetDecisions, domains.DomainDecisions,
    gang.GangDecisions, gates.GateDecisions, pods.PodDecisions, topology.TopologyDecisions,
)  # fmt: skip

_OF_JOB = "the transitions of the life training/job have its place"
_OF_TERMINATION = "the transition Restarted of the lives termination/replica and termination/scaling-group-replica has its place"
_FIXED = "it is not a rule's to decide; replace the life that deletes or records"
FORMER_DECISIONS = {
    "check_back_off": _FIXED,
    "failure_is_counted": _OF_JOB,
    "failure_stands_alone": _FIXED,
    "gang_is_initialized": "the life gates/gang has its place (decide: gang_state, which is Forming or Initialized)",
    "gate_is_lifted": "the life gates/pod has its place (decide: gate_state, which is Gated or Released)",
    "is_breached": _FIXED,
    "job_outcome": _OF_JOB,
    "may_replace_next": "the lives update/podclique and update/scaling-group have its place",
    "member_is_terminated": _OF_TERMINATION,
    "replica_is_terminated": _OF_TERMINATION,
    "restart_wait": _OF_JOB,
    "status_is_deferred": _FIXED,
    "update_order": "the life update/set has its place",
}
"""Decisions of earlier releases, with what has their place."""

_MODEL_FUNCTIONS = _by_name(
    attempt.attempt_pods, attempt.has_ended, attempt.replica_attempt, claims.awaited_claim_templates,
    claims.awaited_claim_templates_of_set, claims.claim_names, claims.claims, claims.missing_shared_templates, claims.pod_claim_names,
    claims.unresolved_sharing, clique_attempt.clique_attempt, clique_attempt.gang_is_held_up, clique_failure.clique_failure,
    clique_failure.failure_body, clique_failure.lost_indices, clique_failure.lost_since, clique_failure.replaced_pods,
    clique_failure.requeue_time, clique_roll.clique_roll, clique_state.clique_is_breached, clique_state.group_is_up_to_date,
    clique_state.group_lacks_newer_pods_alone, clique_state.is_short, clique_state.is_up_to_date, clique_state.lacks_newer_pods_alone,
    clique_state.lifts_gates, clique_state.pod_counts, clique_state.ready_declared, clique_state.ready_needed,
    clique_state.replica_counts, clique_state.scaled_in, clique_state.serves_with_fewer, clique_state.waiting_gangs,
    context.priority_classes, context.scheduler_uses,
    deferred_statuses.first_start_ends, domains.domain_states, domains.domains, domains.domains_are_served, domains.gangs_with_domains,
    domains.is_leaving_empty, domains.pod_claim, gang.base_gang, gang.gang_of, gang.gangs, gang.queued_pods, gang.scaled_gangs,
    gates.base_gang_is_scheduled, gates.is_named_by_gang, gates.lost_gate_early, group_roll.advertised_group_size, group_roll.group_roll,
    group_roll.member_is_updating, group_roll.replacement, group_variables.unset_group_variables, job.training_job,
    job_status.job_status, live_object.condition_since, live_object.is_scaled_by_others, live_object.is_stalled,
    live_object.is_updating, live_object.live_condition, live_object.live_object, live_object.old_status,
    live_object.set_condition, live_pods.leaving_pods, live_pods.live_pods,
    mnnvl_conflicts.class_conflicts, mnnvl_conflicts.lost_waits, mnnvl_conflicts.mode_conflicts, mnnvl_conflicts.shared_claims,
    name_budget.names_too_long, name_budget.names_too_long_together, name_collisions.collisions_with_sets, name_collisions.name_collisions,
    pod_end.failure_description, pod_spec.pod_spec_path, pod_state.foreign_gates, pod_state.is_up_to_scheduler, pod_state.pod_condition,
    pod_state.scheduler_has_reported, pod_state.stuck_containers, pod_state.waits_in_order, podcliqueset.sharing_levels, pods.pod_names,
    pods.pods, pods.retained_pods, replaced_pods.checks_are_over, replaced_pods.failed_checks, replaced_pods.finished_pods,
    revisions.desired_revisions, scale_target.foreign_autoscalers, set_update.replica_is_updating, set_update.set_update,
    sharing.device_request_names, startup.awaited_cliques, startup.dependencies, startup_order.startup_cycles,
    startup.waits, tally.tally, termination.comes_back, termination.comes_out_of_update, termination.is_next_to_restart,
    termination.is_restarting, termination.member_breaches, termination.replica_breaches, termination.was_deleted_by_us,
    topology.old_drift, topology.scheduler_topologies, update.changed_template_fields, update.mnnvl_changes, update.old_clique,
    update.old_group, update.placement_changes, update.topology_changed, update_progress.has_progress_deadline,
    update_progress.late_updates, update_progress.progress_deadline, update_progress.progress_ends, update_progress.reported_late,
)  # fmt: skip

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "amount": pod_request.amount,
    "annotation_key_wrong": names.annotation_key,
    "bytes_of": names.bytes_of,
    "compare_quantities": quantity.compare,
    "dns_label_wrong": names.dns1123_label,
    "dns_subdomain_wrong": names.dns1123_subdomain,
    "environment_name_wrong": names.environment_variable_name,
    "is_ip": names.is_ip,
    "is_multiple": quantity.is_multiple,
    "label_key_wrong": names.qualified_name,
    "label_value_wrong": names.label_value,
    "matches_any": matches_any,
    "name_wrong": names.name_wrong,
    "nanoseconds": duration.parse,
    "requests_of_containers": pod_request.requests_of_containers,
    "seconds": duration.seconds,
    "time": timestamp.time,
    "timestamp": timestamp.timestamp,
    **_MODEL_FUNCTIONS,
}
