"""What a cluster has of a part of a set: the object as it is, and what was reported of it before."""

from __future__ import annotations

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.conditions import condition_in, is_true_in, status_of
from grove_compiler.model.expanded.gang import Gang
from grove_compiler.model.expanded.structure import Clique, ExpandedSet, ScalingGroup
from grove_compiler.model.lazy import remembered

STALLED = "Stalled"
"""The condition of what is held or refused: kstatus knows it by this name."""
Part = Clique | ScalingGroup | Gang


@remembered
def live_object(part: Part) -> Manifest:
    """Returns the object that stands for a PodClique, a scaling group or a gang; empty while there is none, or only one that goes."""
    return part.set.snapshot.live(part.ref) or {}


@remembered
def old_status(part: Part) -> Manifest:
    """Returns the status of a PodClique, a scaling group or a gang as it stands; empty before anything was reported."""
    return status_of(live_object(part))


def live_condition(part: Part, type: str) -> Manifest:
    """Returns a condition of a PodClique, a scaling group or a gang as it stands; empty without one of that type."""
    return condition_in(old_status(part), type)


def set_condition(set: ExpandedSet, type: str) -> Manifest:
    """Returns a condition of a set as it stands; empty without one of that type."""
    return condition_in(set.status, type)


def is_stalled(set: ExpandedSet) -> bool:
    """Tells whether a set says that it is held, or that the server refuses what it needs."""
    return is_true_in(set.status, STALLED)


def condition_since(part: Part, type: str) -> str:
    """Returns since when a condition of it has the status that it has; empty without such a condition."""
    return live_condition(part, type).get("lastTransitionTime") or ""


@remembered
def is_updating(part: Part) -> bool:
    """Tells whether pods or replicas of it are being replaced by newer ones: an update has begun by its status, and has not ended."""
    progress = old_status(part).get("updateProgress") or {}
    return bool(progress.get("updateStartedAt")) and not progress.get("updateEndedAt")
