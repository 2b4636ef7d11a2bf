"""How ready any object is: what holds for all kinds first, then the rule of its kind."""

from __future__ import annotations

from collections.abc import Iterable

from applier.readiness.kinds import BUILT_IN, BUILT_IN_GROUPS
from applier.readiness.rules import Rule
from applier.readiness.state import Condition, Readiness, State, conditions, failed, in_progress, number, part, ready
from applier.ref import Manifest, Ref, being_deleted

UNREPORTED = in_progress("nothing is reported of it yet")
"""What an object is whose controller has not said anything, or that has none. Only time tells the one from the other."""


def readiness(manifest: Manifest, rules: Iterable[Rule] = (), *, has_status: bool = False) -> Readiness:
    """Judges how ready a live object is.

    The rules are those of kstatus (github.com/kubernetes-sigs/cli-utils, pkg/kstatus), where it knows a kind. A rule that is given for
    a kind comes before the built-in one. `has_status` says that the server serves a status subresource for the kind: a new object of
    somebody's own kind, of which nobody has reported anything, is then `UNREPORTED`: in progress, where kstatus takes it for done.
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
    """Returns what holds for all kinds: deletion, a spec that its controller has not seen, and the two standard conditions of kstatus."""
    metadata = part(manifest, "metadata")
    if metadata.get("deletionTimestamp"):
        return Readiness(State.TERMINATING, being_deleted(manifest))
    status = part(manifest, "status")
    generation, observed = number(metadata, "generation"), status.get("observedGeneration")
    if isinstance(observed, int) and observed < generation:
        return in_progress(f"generation {generation} is not seen by its controller yet, which is at {observed}")
    by_type = conditions(manifest)
    if (stalled := by_type.get("Stalled")) and stalled.status == "True":
        return failed(stalled.text())
    if (reconciling := by_type.get("Reconciling")) and reconciling.status == "True":
        return in_progress(reconciling.text())
    return None


def _by_conditions(manifest: Manifest, *, has_status: bool) -> Readiness:
    """Judges kinds without a rule by their condition Ready if they have one; else they are ready if nothing says otherwise."""
    own = conditions(manifest).get("Ready")
    if own is None:
        return UNREPORTED if has_status and not part(manifest, "status") else ready()
    if _is_stale(own, manifest):
        return in_progress(f"condition Ready is of generation {own.observed}")
    if own.status == "True":
        return ready()
    return in_progress(own.text() if own.reason or own.message else f"condition Ready is {own.status or 'empty'}")


def _is_stale(condition: Condition, manifest: Manifest) -> bool:
    return 0 < condition.observed < number(part(manifest, "metadata"), "generation")
