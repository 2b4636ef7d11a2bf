"""What the shipped operator finds when it is put back: objects, hashes and statuses as it left them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .recorded import case
from .still_cluster import FOUND, NEEDED, Followed, Objects

pytestmark = NEEDED

Manifest = dict[str, Any]

OURS = {"computeDomains", "hpaPodSelector"}
"""Fields of statuses that the recorded version of the shipped operator does not write there, and so neither reads."""
PASSING = {"scheduleGatedReplicas"}
"""Counts pods that wait at the moment: of these cases it was recorded before the last gates went."""
OUR_CONDITIONS = {"ResourceClaimTemplatesUnavailable", "ComputeDomainsUnavailable", "WhyPending", "Stalled"}


def of_found(objects: Objects) -> Objects:
    """Those of the cases that nobody has adopted."""
    places = {case(name)["namespace"] for name in FOUND}
    return {name: one for name, one in objects.items() if one["metadata"]["namespace"] in places}


def declared(one: Manifest) -> Manifest:
    """All of an object but its status, its finalizers, and what a server writes."""
    metadata = {key: one["metadata"].get(key) for key in ("uid", "labels", "annotations", "ownerReferences")}
    return {**{key: value for key, value in one.items() if key not in ("metadata", "status")}, "metadata": metadata}


def finalizers(one: Manifest) -> set[str]:
    return set(one["metadata"].get("finalizers") or ())


def reported(one: Manifest) -> Manifest:
    """What a status says in the shipped operator's words. The autoscaler's is Kubernetes' own."""
    status = {} if one["kind"] == "HorizontalPodAutoscaler" else dict(one.get("status") or {})
    if progress := status.get("updateProgress"):  # which members are up to date each operator counts in its own way under OnDelete
        status["updateProgress"] = {key: value for key, value in progress.items() if key != "updatedPodCliquesCount"}
    conditions = {each["type"]: each["status"] for each in status.pop("conditions", ()) if each["type"] not in OUR_CONDITIONS}
    return {"conditions": conditions, **{key: value for key, value in status.items() if key not in OURS | PASSING}}


def differences(before: Objects, after: Objects, look: Callable[[Manifest], Manifest]) -> dict[str, Any]:
    """By object and field, what was and what is."""
    return {
        f"{name} {field}": (old.get(field), new.get(field))
        for name in before
        for old, new in [(look(before[name]), look(after[name]))]
        for field in sorted(old | new)
        if old.get(field) != new.get(field)
    }


def test_the_shipped_operator_finds_what_it_left(followed_plane: Followed) -> None:
    before, after = of_found(followed_plane.stored), of_found(followed_plane.left)
    assert before
    assert after.keys() == before.keys()
    assert differences(before, after, declared) == {}
    assert differences(before, after, reported) == {}
    # Finalizers of its own it puts on again; there must be none that it would wait for.
    more = {name: finalizers(one) - finalizers(before[name]) for name, one in after.items()}
    assert {name: one for name, one in more.items() if one} == {}
