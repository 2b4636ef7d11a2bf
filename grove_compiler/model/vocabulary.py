"""Lists the names that rules may use: roots with their types, functions, and the decisions that rules make for the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grove_compiler.kube import duration, names, pod_request, timestamp
from grove_compiler.model.admitted.podclique import AdmittedCliqueDecisions, AdmittedPodClique
from grove_compiler.model.admitted.podgang import AdmittedGangDecisions, AdmittedPodGang
from grove_compiler.model.checks.group_variables import unset_group_variables
from grove_compiler.model.checks.mnnvl_conflicts import class_conflicts, lost_waits, mode_conflicts, shared_claims
from grove_compiler.model.checks.name_budget import names_too_long, names_too_long_together
from grove_compiler.model.checks.name_collisions import collisions_with_sets, name_collisions
from grove_compiler.model.checks.priority_classes import priority_classes
from grove_compiler.model.checks.scale_target import foreign_autoscalers
from grove_compiler.model.checks.sharing_levels import sharing_levels
from grove_compiler.model.checks.startup_order import startup_cycles, waits_for_others
from grove_compiler.model.checks.update import (
    changed_template_fields,
    mnnvl_changes,
    old_clique,
    old_group,
    placement_changes,
    topology_changed,
)
from grove_compiler.model.decisions import declared
from grove_compiler.model.expanded.attempts.attempt import attempt_pods, has_ended, replica_attempt
from grove_compiler.model.expanded.attempts.clique_attempt import clique_attempt
from grove_compiler.model.expanded.attempts.pod_end import failure_description
from grove_compiler.model.expanded.check_failures import checks_are_over, failed_checks
from grove_compiler.model.expanded.claims import (
    ClaimDecisions,
    awaited_claim_templates,
    awaited_claim_templates_of_set,
    claim_names,
    claims,
    missing_shared_templates,
    pod_claim_names,
    unresolved_sharing,
)
from grove_compiler.model.expanded.clique_roll import clique_roll
from grove_compiler.model.expanded.clique_state import (
    clique_is_breached,
    group_is_up_to_date,
    group_lacks_newer_pods_alone,
    is_up_to_date,
    lacks_newer_pods_alone,
    lifts_gates,
    pod_counts,
    replica_counts,
)
from grove_compiler.model.expanded.context import SetDecisions, scheduler_uses
from grove_compiler.model.expanded.deferred_statuses import first_start_ends
from grove_compiler.model.expanded.domains import (
    DomainDecisions,
    domain_states,
    domains,
    domains_are_served,
    gangs_with_domains,
    is_leaving_empty,
    pod_claim,
)
from grove_compiler.model.expanded.finished_pods import finished_pods
from grove_compiler.model.expanded.gang import GangDecisions, base_gang, gang_of, gangs, scaled_gangs
from grove_compiler.model.expanded.gates import GateDecisions, base_gang_is_scheduled, is_named_by_gang
from grove_compiler.model.expanded.group_roll import group_roll, member_is_updating, replaced_with_member
from grove_compiler.model.expanded.kueue import queued_pods
from grove_compiler.model.expanded.live_object import (
    condition_since,
    is_stalled,
    is_updating,
    live_condition,
    live_object,
    old_status,
    set_condition,
)
from grove_compiler.model.expanded.live_pods import leaving_pods, live_pods
from grove_compiler.model.expanded.member_size import advertised_group_size, is_resized
from grove_compiler.model.expanded.pod_state import (
    foreign_gates,
    is_up_to_scheduler,
    pod_condition,
    scheduler_has_reported,
    stuck_containers,
    waits_in_order,
)
from grove_compiler.model.expanded.pods import PodDecisions, pod_names, pods, retained_pods
from grove_compiler.model.expanded.readiness import ReadinessDecisions
from grove_compiler.model.expanded.revisions import desired_revisions
from grove_compiler.model.expanded.set_update import replica_is_updating, set_update
from grove_compiler.model.expanded.shortage import is_short, scaled_in, serves_with_fewer, short_cliques, waiting_gangs
from grove_compiler.model.expanded.startup import dependencies, unmet_dependencies
from grove_compiler.model.expanded.structure import ExpandedSet, UpdateDecisions
from grove_compiler.model.expanded.tally import tally
from grove_compiler.model.expanded.termination import (
    comes_back,
    comes_out_of_update,
    is_next_to_restart,
    is_restarting,
    member_breaches,
    replica_breaches,
    was_deleted_with_gang,
)
from grove_compiler.model.expanded.topology import ExpandedTopology, TopologyDecisions, old_drift, scheduler_topologies
from grove_compiler.model.expanded.training.clique_failure import (
    clique_failure,
    failure_body,
    gang_is_held_up,
    lost_indices,
    lost_since,
    replaced_pods,
    requeue_time,
)
from grove_compiler.model.expanded.training.job import training_job
from grove_compiler.model.expanded.training.job_status import job_status
from grove_compiler.model.inputs.check_run import TestedPod
from grove_compiler.model.inputs.configuration import Configuration
from grove_compiler.model.inputs.managed_edit import ManagedEdit, ScaleRequest
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.preflight.forming_gang import FormingGang, PeerDecisions
from grove_compiler.model.preflight.gang import CheckedGangDecisions
from grove_compiler.model.preflight.pod import CheckDecisions, CheckedPod
from grove_compiler.model.preflight.pod_devices import DeviceDecisions
from grove_compiler.model.preflight.values import Preflight, matches_any
from grove_compiler.model.spec.mnnvl_layers import AnnotationDecisions
from grove_compiler.model.spec.pod_spec import pod_spec_path
from grove_compiler.model.spec.podcliqueset import PodCliqueSet
from grove_compiler.model.spec.sharing import device_request_names
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
    return {function.__name__: function for function in functions}


DECISIONS = declared(
    AdmittedCliqueDecisions,
    AdmittedGangDecisions,
    AnnotationDecisions,
    CheckDecisions,
    CheckedGangDecisions,
    ClaimDecisions,
    DeviceDecisions,
    DomainDecisions,
    GangDecisions,
    GateDecisions,
    PeerDecisions,
    PodDecisions,
    ReadinessDecisions,
    SetDecisions,
    TopologyDecisions,
    UpdateDecisions,
)

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
    "label_key_wrong": names.label_key,
    "label_value_wrong": names.label_value,
    "matches_any": matches_any,
    "name_wrong": names.name_wrong,
    "nanoseconds": duration.parse,
    "requests_of_containers": pod_request.requests_of_containers,
    "seconds": duration.seconds,
    "time": timestamp.time,
    "timestamp": timestamp.timestamp,
    **_by_name(
        advertised_group_size,
        attempt_pods,
        awaited_claim_templates,
        awaited_claim_templates_of_set,
        base_gang,
        base_gang_is_scheduled,
        changed_template_fields,
        unset_group_variables,
        checks_are_over,
        claim_names,
        claims,
        class_conflicts,
        clique_attempt,
        clique_failure,
        clique_is_breached,
        clique_roll,
        collisions_with_sets,
        comes_back,
        comes_out_of_update,
        condition_since,
        dependencies,
        desired_revisions,
        device_request_names,
        domain_states,
        domains,
        domains_are_served,
        failed_checks,
        failure_body,
        failure_description,
        finished_pods,
        first_start_ends,
        foreign_autoscalers,
        foreign_gates,
        gang_is_held_up,
        gang_of,
        gangs,
        gangs_with_domains,
        group_is_up_to_date,
        group_lacks_newer_pods_alone,
        group_roll,
        has_ended,
        is_leaving_empty,
        is_named_by_gang,
        is_next_to_restart,
        is_resized,
        is_restarting,
        is_short,
        is_stalled,
        is_up_to_date,
        is_up_to_scheduler,
        is_updating,
        job_status,
        leaving_pods,
        lacks_newer_pods_alone,
        lifts_gates,
        live_condition,
        live_object,
        live_pods,
        lost_indices,
        lost_since,
        lost_waits,
        member_breaches,
        member_is_updating,
        missing_shared_templates,
        mnnvl_changes,
        mode_conflicts,
        name_collisions,
        names_too_long,
        names_too_long_together,
        old_clique,
        old_drift,
        old_group,
        old_status,
        placement_changes,
        pod_claim,
        pod_claim_names,
        pod_condition,
        pod_counts,
        pod_names,
        pod_spec_path,
        pods,
        priority_classes,
        queued_pods,
        replaced_pods,
        replaced_with_member,
        replica_attempt,
        replica_breaches,
        replica_counts,
        replica_is_updating,
        requeue_time,
        retained_pods,
        scaled_gangs,
        scheduler_has_reported,
        scheduler_topologies,
        scheduler_uses,
        set_condition,
        set_update,
        shared_claims,
        sharing_levels,
        short_cliques,
        scaled_in,
        serves_with_fewer,
        waiting_gangs,
        startup_cycles,
        stuck_containers,
        tally,
        topology_changed,
        training_job,
        unmet_dependencies,
        unresolved_sharing,
        was_deleted_with_gang,
        waits_for_others,
        waits_in_order,
    ),
}
