"""Finds updates of PodCliques and scaling groups that make no progress for their `rollingUpdate.progressDeadline`."""

from __future__ import annotations

from collections.abc import Iterator

from grove_compiler.kube.conditions import PROGRESS_DEADLINE_EXCEEDED, UPDATE_IN_PROGRESS
from grove_compiler.kube.duration import seconds
from grove_compiler.kube.timestamp import time
from grove_compiler.model.expanded.clique_roll import clique_roll
from grove_compiler.model.expanded.group_roll import group_roll
from grove_compiler.model.expanded.live_object import live_condition
from grove_compiler.model.expanded.live_pods import live_pods
from grove_compiler.model.expanded.rolls import declared_template
from grove_compiler.model.expanded.set_update import set_update
from grove_compiler.model.expanded.structure import Clique, ExpandedSet, ScalingGroup
from grove_compiler.model.lazy import memoized


def progress_deadline(part: Clique | ScalingGroup) -> str:
    """Returns the `progressDeadline` that the set declares now; empty for none."""
    return declared_template(part).progress_deadline


@memoized
def progress_ends(part: Clique | ScalingGroup) -> float | None:
    """Returns when an update will have made no progress for its deadline, in seconds since the epoch.

    None without a deadline, and where no update goes on. Progress is a pod of the new template that becomes ready, by which the next ones
    may be replaced. One that is created is none: those that fail, or whose checks do, are created again and again.
    """
    roll = clique_roll(part) if isinstance(part, Clique) else group_roll(part)
    deadline = progress_deadline(part)
    if not deadline or not roll.is_active or roll.starts or roll.is_over:
        return None
    began = time(roll.old.get("updateStartedAt")) or 0.0
    return max([began, *_ready_since(part)]) + seconds(deadline)


def _ready_since(part: Clique | ScalingGroup) -> Iterator[float]:
    cliques = [part] if isinstance(part, Clique) else [clique for member in part.members for clique in member.cliques]
    return (pod.ready_since for clique in cliques for pod in live_pods(clique) if pod.has_current_template)


def has_progress_deadline(pcs: ExpandedSet) -> bool:
    """Reports whether a clique or scaling group of a set has a `progressDeadline`."""
    return any(template.progress_deadline for template in (*pcs.cliques, *pcs.groups))


@memoized
def reported_late(pcs: ExpandedSet) -> list[Clique | ScalingGroup]:
    """Returns the PodCliques and scaling groups of the replica that is updated whose conditions say that they make no progress."""
    # Which replica is updated is looked for among all of them.
    current = set_update(pcs).current if has_progress_deadline(pcs) else None
    if current is None:
        return []
    replica = pcs.replicas[current["replicaIndex"]]
    parts: list[Clique | ScalingGroup] = [*replica.cliques, *replica.scaling_groups]
    return [part for part in parts if live_condition(part, UPDATE_IN_PROGRESS).get("reason") == PROGRESS_DEADLINE_EXCEEDED]


def late_updates(pcs: ExpandedSet, now: float) -> list[Clique | ScalingGroup]:
    """Returns the PodCliques and scaling groups whose update makes no progress at the time `now`.

    Their conditions may still tell of an earlier update, or deadline, than the set has by now: what they say is looked at again.
    """
    return [part for part in reported_late(pcs) if (ends := progress_ends(part)) is not None and now >= ends]
