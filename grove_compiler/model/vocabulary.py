"""The names that rules may use: roots with their types, and functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grove_compiler.kube import duration, names
from grove_compiler.model.checks.mnnvl_change import mnnvl_changes
from grove_compiler.model.checks.mnnvl_conflicts import class_contests, lost_waits, shared_claims, way_contests
from grove_compiler.model.checks.name_budget import names_too_long, names_too_long_together
from grove_compiler.model.checks.name_collisions import name_collisions
from grove_compiler.model.checks.old_entries import former_clique, former_group
from grove_compiler.model.checks.placement_change import placement_changes
from grove_compiler.model.checks.startup_order import startup_cycles, waits_for_others
from grove_compiler.model.checks.template_changes import changed_template_fields
from grove_compiler.model.expanded.derived import ExpandedSet
from grove_compiler.model.inputs.configuration import Configuration
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.topology import Topology
from grove_compiler.model.inputs.topology_use import topology_is_wanted, topology_uses
from grove_compiler.model.spec.declared import PodCliqueSet
from grove_compiler.model.spec.pod_spec import pod_spec_path
from grove_compiler.model.spec.schedulers import first_with_each_scheduler, scheduler_of
from grove_compiler.model.spec.sharing_levels import sharing_levels

ROOTS: dict[str, type] = {"config": Configuration, "settings": Settings}

# For each kind of input that rules may be about: its own names, and those of validations on update besides. The first is the default.
SUBJECTS: dict[str, tuple[dict[str, type], dict[str, type]]] = {
    "PodCliqueSet": ({"set": ExpandedSet}, {"old": PodCliqueSet}),
    "ClusterTopology": ({"topology": Topology}, {"old": Topology}),
    "ClusterTopologyBinding": ({"topology": Topology}, {"old": Topology}),
    "OperatorConfiguration": ({}, {}),
}

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "annotation_key_wrong": names.annotation_key,
    "changed_template_fields": changed_template_fields,
    "class_contests": class_contests,
    "dns_label_wrong": names.dns1123_label,
    "dns_subdomain_wrong": names.dns1123_subdomain,
    "environment_name_wrong": names.environment_variable_name,
    "first_with_each_scheduler": first_with_each_scheduler,
    "former_clique": former_clique,
    "former_group": former_group,
    "label_key_wrong": names.label_key,
    "label_value_wrong": names.label_value,
    "lost_waits": lost_waits,
    "mnnvl_changes": mnnvl_changes,
    "name_collisions": name_collisions,
    "names_too_long": names_too_long,
    "names_too_long_together": names_too_long_together,
    "nanoseconds": duration.parse,
    "placement_changes": placement_changes,
    "pod_spec_path": pod_spec_path,
    "scheduler_of": scheduler_of,
    "shared_claims": shared_claims,
    "sharing_levels": sharing_levels,
    "startup_cycles": startup_cycles,
    "topology_is_wanted": topology_is_wanted,
    "topology_uses": topology_uses,
    "waits_for_others": waits_for_others,
    "way_contests": way_contests,
}
