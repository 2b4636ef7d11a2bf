"""Which replicas of a set can serve, and which are up to date: what the PodCliques and scaling groups of each report (shipped §7.9).

It looks at no pod. What all replicas of a set add up to is their tally (`tally.py`).
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
"""Gives the object of a kind and name, going or not; none where there is none."""


@record
class ReplicaState:
    """What the standalone PodCliques and the scaling groups of a replica report, summed up.

    It `is_available` when none of them is short of what it cannot do without, and `is_updated` when it can serve with the newest templates
    alone; `updated_cliques` and `updated_groups` say how many have these. It `is_outdated` when one of them was up to date once, and is not
    with what is declared now, and `is_breached` when one says that it is short of what it cannot do without. That it
    `has_scheduled_pods` is known as far as they report it. The `breach` is the first that one reports of what it once had. It `is_finished`
    when no update has anything left to do in it: it is updated, or would be if nobody had scaled a part of it in.
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
    """Returns the state of a replica that the set should have."""
    cliques, groups = parts_of_replica(set, index, find)
    parts = [*cliques, *groups]
    templates: list[CliqueTemplate | ScalingGroupTemplate] = [*set.standalone_cliques, *set.groups]
    is_available = all(map(_clique_is_available, cliques, set.standalone_cliques)) and all(map(_group_is_available, groups, set.groups))
    updated_cliques = sum(map(_clique_is_updated, cliques, set.standalone_cliques, repeat(set)))
    updated_groups = sum(status_of(one).get(HASH) == set.generation_hash for one in groups)
    is_updated = updated_cliques == len(cliques) and updated_groups == len(groups)
    told = [status.get(HASH) for status in map(status_of, parts) if "updateProgress" in status or HASH in status]
    return ReplicaState(
        index,
        is_available,
        is_available and is_updated,
        updated_cliques,
        updated_groups,
        any(hash != set.generation_hash for hash in told),
        any(status_of(one).get("scheduledReplicas") for one in parts),
        any(is_true(one, BREACHED) for one in parts),
        first_reported_breach(cliques, groups),
        is_updated and all(map(_has_what_is_asked_for, parts, templates)),
    )


def parts_of_replica(set: ExpandedSet, index: int, find: Find) -> tuple[list[Manifest | None], list[Manifest | None]]:
    """Returns a replica's standalone PodCliques and its scaling groups. Those that go, or that an older set owns, count as missing."""
    replica = names.part_of(set.name, index)
    cliques = [find(CLIQUE_KIND, names.part_of(replica, one.name)) for one in set.standalone_cliques]
    groups = [find(GROUP_KIND, names.part_of(replica, one.name)) for one in set.groups]
    return [_own(set, one) for one in cliques], [_own(set, one) for one in groups]


def _own(set: ExpandedSet, manifest: Manifest | None) -> Manifest | None:
    """The object, if it is there to stay and the set's own."""
    if manifest is None or is_terminating(manifest) or (controller_of(manifest) or {}).get("uid") != set.ref.uid:
        return None
    return manifest if is_part_of(manifest, set.name) else None


def is_part_of(manifest: Manifest, set_name: str) -> bool:
    """Tells whether an object's label says that it belongs to a set."""
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
    """By its label, by what it reports, and by pods enough that are up to date and ready (shipped §7.5), if it is to have any."""
    if manifest is None:
        return False
    status, least, expected = status_of(manifest), _least(manifest, template), set.template_hashes[0][template.index]
    return (
        (manifest["metadata"].get("labels") or {}).get(POD_HASH_LABEL) == expected
        and status.get("currentPodTemplateHash") == expected
        and status.get(HASH) == set.generation_hash
        and min(status.get("updatedReplicas") or 0, status.get("readyReplicas") or 0) >= least
    )
