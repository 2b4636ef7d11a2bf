"""Reads the live object of a part of a set, and its status and conditions."""

from __future__ import annotations

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.conditions import STALLED, condition_in, is_true_in, status_of
from grove_compiler.labels import OPERATOR
from grove_compiler.model.expanded.gang import Gang
from grove_compiler.model.expanded.structure import Clique, ExpandedSet, ScalingGroup
from grove_compiler.model.lazy import memoized
from kube_objects.manifest import managers_of_field

Part = Clique | ScalingGroup | Gang


@memoized
def live_object(part: Part) -> Manifest:
    """Returns the live object of a PodClique, a scaling group or a gang; empty when there is none, or only a terminating one."""
    return part.set.snapshot.live(part.ref) or {}


@memoized
def old_status(part: Part) -> Manifest:
    """Returns the live status of a PodClique, a scaling group or a gang; empty before there is one."""
    return status_of(live_object(part))


def live_condition(part: Part, condition_type: str) -> Manifest:
    """Returns a live condition of a PodClique, a scaling group or a gang; empty without one of that type."""
    return condition_in(old_status(part), condition_type)


def set_condition(pcs: ExpandedSet, condition_type: str) -> Manifest:
    """Returns a condition of a set; empty without one of that type."""
    return condition_in(pcs.status, condition_type)


def is_stalled(pcs: ExpandedSet) -> bool:
    """Reports whether a set has the condition Stalled: it is held, or the API server rejects one of its objects."""
    return is_true_in(pcs.status, STALLED)


def condition_since(part: Part, condition_type: str) -> str:
    """Returns the `lastTransitionTime` of a condition; empty without such a condition."""
    return live_condition(part, condition_type).get("lastTransitionTime") or ""


def is_scaled_by_others(part: Clique | ScalingGroup) -> bool:
    """Reports whether somebody else owns the `spec.replicas` of a live PodClique or scaling group, as an autoscaler does."""
    return managers_of_field(live_object(part), "spec", "replicas") != {OPERATOR}


@memoized
def is_updating(part: Part) -> bool:
    """Reports whether an update of the part is in progress, by its status: it has begun and not ended."""
    progress = old_status(part).get("updateProgress") or {}
    return bool(progress.get("updateStartedAt")) and not progress.get("updateEndedAt")
