"""Tells which replicas of a set are available and which are up to date, from the status of their PodCliques and groups (shipped §7.9).

It reads no pods. `tally.py` adds up all replicas of a set.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.conditions import is_true, status_of
from grove_compiler.model import names
from grove_compiler.model.expanded.recorded_templates import POD_HASH_LABEL
from grove_compiler.model.expanded.reported_breach import BREACHED, ReportedBreach, first_reported_breach
from grove_compiler.model.expanded.structure import ExpandedSet
from grove_compiler.model.inputs.snapshot import PART_OF, controller_of, is_terminating
from grove_compiler.model.spec.templates import CliqueTemplate, ScalingGroupTemplate
from grove_compiler.record import record

CLIQUE_KIND, GROUP_KIND = "PodClique", "PodCliqueScalingGroup"
HASH = "currentPodCliqueSetGenerationHash"

Find = Callable[[str, str], Manifest | None]
"""Returns the object of a kind and name, terminating or not; None when there is none."""


@record
class ReplicaState:
    """The state of a replica, summed up from the status of its standalone PodCliques and scaling groups.

    It `is_available` when each of them has at least `minAvailable`, and `is_updated` when it has so with the newest templates alone, which
    `updated_cliques` and `updated_groups` of them have. It `is_outdated` when one of them has the templates of an earlier generation, and
    `is_breached` when one has the condition MinAvailableBreached. The `breach` is the oldest that one reports which once had its pods. It
    `is_finished` when no update has anything left to do in it: it is updated, or would be if nobody had scaled a part of it in.
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


def replica_state(set: ExpandedSet, index: int, find: Find) -> ReplicaState:
    """Returns the state of one replica of the set."""
    cliques, groups = parts_of_replica(set, index, find)
    parts = [*cliques, *groups]
    templates: list[CliqueTemplate | ScalingGroupTemplate] = [*set.standalone_cliques, *set.groups]
    is_available = all(map(_clique_is_available, cliques, set.standalone_cliques)) and all(map(_group_is_available, groups, set.groups))
    updated_cliques = sum(map(_clique_is_updated, cliques, set.standalone_cliques, repeat(set)))
    updated_groups = sum(status_of(one).get(HASH) == set.generation_hash for one in groups)
    is_updated = updated_cliques == len(cliques) and updated_groups == len(groups)
    hashes = [status.get(HASH) for status in map(status_of, parts) if "updateProgress" in status or HASH in status]
    return ReplicaState(
        index,
        is_available,
        is_available and is_updated,
        updated_cliques,
        updated_groups,
        any(hash != set.generation_hash for hash in hashes),
        any(status_of(one).get("scheduledReplicas") for one in parts),
        any(is_true(one, BREACHED) for one in parts),
        first_reported_breach(cliques, groups),
        is_updated and all(map(_has_what_is_asked_for, parts, templates)),
    )


def parts_of_replica(set: ExpandedSet, index: int, find: Find) -> tuple[list[Manifest | None], list[Manifest | None]]:
    """Returns a replica's standalone PodCliques and its scaling groups; None for one that is missing, terminating or of an older set."""
    replica = names.part_of(set.name, index)
    cliques = [find(CLIQUE_KIND, names.part_of(replica, one.name)) for one in set.standalone_cliques]
    groups = [find(GROUP_KIND, names.part_of(replica, one.name)) for one in set.groups]
    return [_own(set, one) for one in cliques], [_own(set, one) for one in groups]


def _own(set: ExpandedSet, manifest: Manifest | None) -> Manifest | None:
    """Returns the object if the set owns it and it is not terminating."""
    if manifest is None or is_terminating(manifest) or (controller_of(manifest) or {}).get("uid") != set.ref.uid:
        return None
    return manifest if is_part_of(manifest, set.name) else None


def is_part_of(manifest: Manifest, set_name: str) -> bool:
    """Tells whether an object belongs to a set, by its label `app.kubernetes.io/part-of`."""
    return bool((manifest["metadata"].get("labels") or {}).get(PART_OF) == set_name)


def _clique_is_available(manifest: Manifest | None, template: CliqueTemplate) -> bool:
    return manifest is not None and (status_of(manifest).get("readyReplicas") or 0) >= (template.min_available or 0)


def _group_is_available(manifest: Manifest | None, template: ScalingGroupTemplate) -> bool:
    return manifest is not None and (status_of(manifest).get("availableReplicas") or 0) >= (template.min_available or 1)


def _has_what_is_asked_for(manifest: Manifest | None, template: CliqueTemplate | ScalingGroupTemplate) -> bool:
    """Whether it reports as many as it cannot do without, as far as somebody wants so many."""
    if manifest is None:
        return False
    count = "availableReplicas" if isinstance(template, ScalingGroupTemplate) else "readyReplicas"
    return (status_of(manifest).get(count) or 0) >= _least(manifest, template)


def _least(manifest: Manifest, template: CliqueTemplate | ScalingGroupTemplate) -> int:
    asked = (manifest.get("spec") or {}).get("replicas")
    if isinstance(template, ScalingGroupTemplate):  # of which its gang keeps what it needs, unless it is scaled to nothing
        return 0 if asked == 0 else template.min_available or 1
    return min(template.min_available or 0, asked) if isinstance(asked, int) else template.min_available or 0


def _clique_is_updated(manifest: Manifest | None, template: CliqueTemplate, set: ExpandedSet) -> bool:
    """Tells whether a PodClique is updated (shipped §7.5): by its label, its status, and enough updated and ready pods, if it has any."""
    if manifest is None:
        return False
    status, least, expected = status_of(manifest), _least(manifest, template), set.template_hashes[0][template.index]
    return (
        (manifest["metadata"].get("labels") or {}).get(POD_HASH_LABEL) == expected
        and status.get("currentPodTemplateHash") == expected
        and status.get(HASH) == set.generation_hash
        and min(status.get("updatedReplicas") or 0, status.get("readyReplicas") or 0) >= least
    )
