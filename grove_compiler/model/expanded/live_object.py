"""What a cluster has of a part of a set: the object as it is, and what was reported of it before."""

from __future__ import annotations

from grove_compiler.graph.node import Manifest
from grove_compiler.model.expanded.gang import Gang
from grove_compiler.model.expanded.structure import Clique, ScalingGroup
from grove_compiler.model.lazy import remembered

Part = Clique | ScalingGroup | Gang


@remembered
def live_object(part: Part) -> Manifest:
    """Returns the object that stands for a PodClique, a scaling group or a gang; empty while there is none, or only one that goes."""
    return part.set.snapshot.live(part.ref) or {}


@remembered
def old_status(part: Part) -> Manifest:
    """Returns the status of a PodClique, a scaling group or a gang as it stands; empty before anything was reported."""
    return live_object(part).get("status") or {}


def condition_since(part: Part, type: str) -> str:
    """Returns since when a condition of it has the status that it has; empty without such a condition."""
    conditions = old_status(part).get("conditions") or []
    return next((one.get("lastTransitionTime") or "" for one in conditions if one.get("type") == type), "")


@remembered
def is_updating(part: Part) -> bool:
    """Tells whether pods or replicas of it are being replaced by newer ones: an update has begun by its status, and has not ended."""
    progress = old_status(part).get("updateProgress") or {}
    return bool(progress.get("updateStartedAt")) and not progress.get("updateEndedAt")
