"""What a cluster has of a part of a set: the object as it is, and what was reported of it before."""

from __future__ import annotations

from grove_compiler.graph.node import Manifest
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
    return live_object(part).get("status") or {}


def live_condition(part: Part, type: str) -> Manifest:
    """Returns a condition of a PodClique, a scaling group or a gang as it stands; empty without one of that type."""
    return _of_type(old_status(part), type)


def set_condition(set: ExpandedSet, type: str) -> Manifest:
    """Returns a condition of a set as it stands; empty without one of that type."""
    return _of_type(set.status, type)


def is_stalled(set: ExpandedSet) -> bool:
    """Tells whether a set says that it is held, or that the server refuses what it needs."""
    return set_condition(set, STALLED).get("status") == "True"


def condition_since(part: Part, type: str) -> str:
    """Returns since when a condition of it has the status that it has; empty without such a condition."""
    return live_condition(part, type).get("lastTransitionTime") or ""


def _of_type(status: Manifest, type: str) -> Manifest:
    conditions: list[Manifest] = status.get("conditions") or []
    return next((one for one in conditions if one.get("type") == type), {})


@remembered
def is_updating(part: Part) -> bool:
    """Tells whether pods or replicas of it are being replaced by newer ones: an update has begun by its status, and has not ended."""
    progress = old_status(part).get("updateProgress") or {}
    return bool(progress.get("updateStartedAt")) and not progress.get("updateEndedAt")
