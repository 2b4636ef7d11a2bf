"""Computes the readiness of any object: first by what applies to all kinds, then by the rule of its kind."""

from __future__ import annotations

from collections.abc import Iterable

from applier.readiness.kinds import BUILT_IN, BUILT_IN_GROUPS
from applier.readiness.rules import ReadinessRule
from applier.readiness.state import ObservedCondition, Readiness, State, conditions, failed, in_progress, number, part, ready
from applier.ref import Manifest, Ref, being_deleted

UNREPORTED = in_progress("it has no status yet")
"""The readiness of an object whose controller has not written a status yet, or that has no controller; only time can tell which."""


def readiness(manifest: Manifest, rules: Iterable[ReadinessRule] = (), *, has_status: bool = False) -> Readiness:
    """Returns the readiness of a live object.

    The rules are those of kstatus (github.com/kubernetes-sigs/cli-utils, pkg/kstatus), where it knows a kind. A rule in `rules` takes
    precedence over the built-in one. `has_status` tells that the kind has a status subresource: a custom resource without a status is then
    `UNREPORTED`, in progress, while kstatus counts it as ready.
    """
    ref = Ref.of(manifest)
    if common := _common(manifest):
        return common
    for rule in rules:
        if (rule.group, rule.kind) == ref[:2]:
            return rule.judge(manifest)
    if built_in := BUILT_IN.get(ref[:2]):
        return built_in(manifest)
    return _by_conditions(manifest, has_status=has_status and ref.group not in BUILT_IN_GROUPS)


def _common(manifest: Manifest) -> Readiness | None:
    """Returns what applies to all kinds: deletion, a spec that was not observed yet, and the two standard conditions of kstatus."""
    metadata = part(manifest, "metadata")
    if metadata.get("deletionTimestamp"):
        return Readiness(State.TERMINATING, being_deleted(manifest))
    status = part(manifest, "status")
    generation, observed = number(metadata, "generation"), status.get("observedGeneration")
    if isinstance(observed, int) and observed < generation:
        return in_progress(f"generation {generation} is not observed by its controller yet, which is at {observed}")
    by_type = conditions(manifest)
    if (stalled := by_type.get("Stalled")) and stalled.status == "True":
        return failed(stalled.text())
    if (reconciling := by_type.get("Reconciling")) and reconciling.status == "True":
        return in_progress(reconciling.text())
    return None


def _by_conditions(manifest: Manifest, *, has_status: bool) -> Readiness:
    """Returns the readiness of a kind without a rule: by the condition Ready if there is one, else ready."""
    own = conditions(manifest).get("Ready")
    if own is None:
        return UNREPORTED if has_status and not part(manifest, "status") else ready()
    if _is_stale(own, manifest):
        return in_progress(f"condition Ready is for generation {own.observed}")
    if own.status == "True":
        return ready()
    return in_progress(own.text() if own.reason or own.message else f"condition Ready is {own.status or 'empty'}")


def _is_stale(condition: ObservedCondition, manifest: Manifest) -> bool:
    return 0 < condition.observed < number(part(manifest, "metadata"), "generation")
