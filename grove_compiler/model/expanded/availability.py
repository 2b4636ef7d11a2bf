"""Computes which replicas of a set are available and up to date, from the status of their PodCliques and groups (shipped §7.9).

It reads no pods. `tally.py` sums up all replicas of a set.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.conditions import is_true, status_of
from grove_compiler.labels import PART_OF, POD_HASH_LABEL
from grove_compiler.model import names
from grove_compiler.model.expanded.reported_breach import BREACHED, ReportedBreach, first_reported_breach
from grove_compiler.model.expanded.structure import ExpandedSet
from grove_compiler.model.inputs.snapshot import controller_of
from grove_compiler.model.spec.templates import CliqueTemplate, ScalingGroupTemplate
from grove_compiler.record import record
from kube_objects.manifest import is_terminating

CLIQUE_KIND, GROUP_KIND = "PodClique", "PodCliqueScalingGroup"
HASH = "currentPodCliqueSetGenerationHash"

Find = Callable[[str, str], Manifest | None]
"""Returns the object of a kind and name, terminating or not; None when there is none."""


@record
class ReplicaState:
    """The state of a replica, summed up from the status of its standalone PodCliques and scaling groups.

    It `is_available` if each of them has at least `minAvailable`, and `is_updated` if all of that has the newest templates, which
    `updated_cliques` and `updated_groups` of them have. It `is_outdated` if one of them has the templates of an earlier generation, and
    `is_breached` if one has the condition MinAvailableBreached. `breach` is the oldest breach of a part that was complete before. It
    `is_finished` if an update has nothing left to do in it: it is updated, or would be if no part of it were scaled in.
    """

    index: int
    is_available: bool = False
    is_updated: bool = False
    updated_cliques: int = 0
    updated_groups: int = 0
    is_outdated: bool = False
    has_scheduled_pods: bool = False
    is_breached: bool = False
    breach: ReportedBreach | None = None
    is_finished: bool = False


def replica_state(pcs: ExpandedSet, index: int, find: Find) -> ReplicaState:
    """Returns the state of one replica of the set."""
    cliques, groups = parts_of_replica(pcs, index, find)
    parts = [*cliques, *groups]
    templates: list[CliqueTemplate | ScalingGroupTemplate] = [*pcs.standalone_cliques, *pcs.groups]
    is_available = all(map(_is_available, parts, templates))
    updated_cliques = sum(map(_clique_is_updated, cliques, pcs.standalone_cliques, repeat(pcs)))
    updated_groups = sum(status_of(group).get(HASH) == pcs.generation_hash for group in groups)
    is_updated = updated_cliques == len(cliques) and updated_groups == len(groups)
    hashes = [status.get(HASH) for status in map(status_of, parts) if "updateProgress" in status or HASH in status]
    return ReplicaState(
        index,
        is_available,
        is_updated=is_available and is_updated,
        updated_cliques=updated_cliques,
        updated_groups=updated_groups,
        is_outdated=any(template_hash != pcs.generation_hash for template_hash in hashes),
        has_scheduled_pods=any(status_of(part).get("scheduledReplicas") for part in parts),
        is_breached=any(is_true(part, BREACHED) for part in parts),
        breach=first_reported_breach(cliques, groups),
        is_finished=is_updated and all(map(_has_needed_replicas, parts, templates, repeat(find))),
    )


def parts_of_replica(pcs: ExpandedSet, index: int, find: Find) -> tuple[list[Manifest | None], list[Manifest | None]]:
    """Returns a replica's standalone PodCliques and its scaling groups; None for one that is missing, terminating or of an older set."""
    replica = names.part_of(pcs.name, index)
    cliques = [find(CLIQUE_KIND, names.part_of(replica, template.name)) for template in pcs.standalone_cliques]
    groups = [find(GROUP_KIND, names.part_of(replica, template.name)) for template in pcs.groups]
    return [_own(pcs, clique) for clique in cliques], [_own(pcs, group) for group in groups]


def _own(pcs: ExpandedSet, manifest: Manifest | None) -> Manifest | None:
    """Returns the object if the set owns it and it is not terminating."""
    if manifest is None or is_terminating(manifest) or (controller_of(manifest) or {}).get("uid") != pcs.ref.uid:
        return None
    return manifest if is_part_of(manifest, pcs.name) else None


def is_part_of(manifest: Manifest, set_name: str) -> bool:
    """Reports whether an object belongs to a set, by its label `app.kubernetes.io/part-of`."""
    return bool((manifest["metadata"].get("labels") or {}).get(PART_OF) == set_name)


def _is_available(manifest: Manifest | None, template: CliqueTemplate | ScalingGroupTemplate) -> bool:
    """Reports whether a PodClique or a scaling group has at least `minAvailable` ready pods, or available replicas."""
    return manifest is not None and _serving(manifest, template) >= _min_available(template)


def _has_needed_replicas(manifest: Manifest | None, template: CliqueTemplate | ScalingGroupTemplate, find: Find) -> bool:
    """Reports whether it is available as far as it is not scaled in below `minAvailable`, nor are cliques of its replicas."""
    if manifest is None:
        return False
    serving, needed = _serving(manifest, template), _needed(manifest, template)
    if serving >= needed or not isinstance(template, ScalingGroupTemplate):
        return serving >= needed
    replicas = (manifest.get("spec") or {}).get("replicas")
    return isinstance(replicas, int) and serving >= _not_scaled_in(manifest, template, max(replicas, needed), find)


def _not_scaled_in(group: Manifest, template: ScalingGroupTemplate, replicas: int, find: Find) -> int:
    """Counts the replicas of a scaling group of which each PodClique has as many pods declared as it needs."""
    members = [names.part_of(group["metadata"]["name"], index) for index in range(replicas)]
    cliques = [[find(CLIQUE_KIND, names.part_of(member, name)) for name in template.clique_names] for member in members]
    return sum(not any(map(_is_low, of_member)) for of_member in cliques)


def _is_low(clique: Manifest | None) -> bool:
    spec = (clique or {}).get("spec") or {}
    declared, needed = spec.get("replicas"), spec.get("minAvailable")
    return isinstance(declared, int) and isinstance(needed, int) and declared < needed


def _serving(manifest: Manifest, template: CliqueTemplate | ScalingGroupTemplate) -> int:
    count: int = status_of(manifest).get("availableReplicas" if isinstance(template, ScalingGroupTemplate) else "readyReplicas") or 0
    return count


def _min_available(template: CliqueTemplate | ScalingGroupTemplate) -> int:
    return template.min_available or (1 if isinstance(template, ScalingGroupTemplate) else 0)


def _needed(manifest: Manifest, template: CliqueTemplate | ScalingGroupTemplate) -> int:
    """Returns `minAvailable`, or the live `spec.replicas` if that is lower. A scaling group above zero never falls below `minAvailable`."""
    replicas, needed = (manifest.get("spec") or {}).get("replicas"), _min_available(template)
    if isinstance(template, ScalingGroupTemplate):
        return 0 if replicas == 0 else needed
    return min(needed, replicas) if isinstance(replicas, int) else needed


def _clique_is_updated(manifest: Manifest | None, template: CliqueTemplate, pcs: ExpandedSet) -> bool:
    """Reports whether a PodClique is updated: by its label, its status, and enough updated and ready pods, if it has any."""
    if manifest is None:
        return False
    status, expected = status_of(manifest), pcs.template_hashes[0][template.index]
    return (
        (manifest["metadata"].get("labels") or {}).get(POD_HASH_LABEL) == expected
        and status.get("currentPodTemplateHash") == expected
        and status.get(HASH) == pcs.generation_hash
        and min(status.get("updatedReplicas") or 0, status.get("readyReplicas") or 0) >= _needed(manifest, template)
    )
