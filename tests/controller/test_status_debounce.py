"""A status with fewer ready pods is written after a delay, and any other at once."""

from __future__ import annotations

from typing import Any

import pytest

from applier.desired import ObjectReference, StatusWrite
from applier.ref import Kind, Manifest, Ref
from grove_operator.controller.statuses import DELAY, StatusDebounce
from tests.suite.rows import rows

NOW = 1_800_000_000.0
CLIQUE = {"readyReplicas": 2, "observedGeneration": 1}
GROUP = {"availableReplicas": 2, "scheduledReplicas": 2, "observedGeneration": 1}
WHOLE: dict[str, Manifest] = {"PodClique": CLIQUE, "PodCliqueScalingGroup": GROUP, "ClusterTopologyBinding": {}}
COUNTS = {"PodClique": "readyReplicas", "PodCliqueScalingGroup": "availableReplicas"}


class Stored:
    """A snapshot with one object, or none."""

    def __init__(self, manifest: Manifest | None) -> None:
        self.manifest = manifest

    def get(self, *_: str) -> Manifest | None:
        return self.manifest


def live(kind: str, status: Manifest | None = None) -> Manifest:
    metadata = {"name": "one", "namespace": "default", "uid": "1"}
    return {"apiVersion": "grove.io/v1alpha1", "kind": kind, "metadata": metadata, "status": WHOLE[kind] if status is None else status}


def filtered(debounce: StatusDebounce, existing: Manifest | None, kind: str, now: float = NOW, **changed: Any) -> tuple[bool, list[float]]:
    """Returns whether a status with some changes is written now, and the remaining delays."""
    of = ObjectReference(Kind("grove.io", "v1alpha1", kind), Ref("grove.io", kind, "default", "one"), "1")
    written, delays = debounce.filter([StatusWrite(of, {**WHOLE[kind], **changed})], Stored(existing), now)  # type: ignore[arg-type]
    return bool(written), delays


@pytest.mark.parametrize("kind", COUNTS)
def test_fewer_ready_pods_are_reported_after_the_delay(kind: str) -> None:
    debounce, existing = StatusDebounce(), live(kind)
    assert filtered(debounce, existing, kind, **{COUNTS[kind]: 1}) == (False, [DELAY])
    assert filtered(debounce, existing, kind, NOW + DELAY / 2, **{COUNTS[kind]: 0}) == (False, [DELAY / 2])
    assert filtered(debounce, existing, kind, NOW + DELAY, **{COUNTS[kind]: 0}) == (True, [])


@pytest.mark.parametrize("kind", COUNTS)
def test_after_a_recovery_the_delay_begins_again(kind: str) -> None:
    debounce, existing = StatusDebounce(), live(kind)
    filtered(debounce, existing, kind, **{COUNTS[kind]: 1})
    assert filtered(debounce, existing, kind, NOW + DELAY / 2) == (True, [])
    assert filtered(debounce, existing, kind, NOW + 2 * DELAY, **{COUNTS[kind]: 1}) == (False, [DELAY])


@rows("kind", COUNTS)
@rows(
    "changed",
    [{"more": 3}, {"less": 1, "observedGeneration": 2}, {"less": 1, "updateProgress": {"updateStartedAt": "2026-11-23T00:00:00Z"}}],
    ids=["more", "another declaration", "an update"],
)
def test_other_changes_are_reported_at_once(kind: str, changed: dict[str, Any]) -> None:
    status = {COUNTS[kind] if name in ("more", "less") else name: value for name, value in changed.items()}
    assert filtered(StatusDebounce(), live(kind), kind, **status) == (True, [])


def test_the_end_of_a_pod_that_is_not_replaced_is_reported_at_once() -> None:
    assert filtered(StatusDebounce(), live("PodClique"), "PodClique", readyReplicas=1, succeededIndexes="0") == (True, [])


def test_a_missing_object_is_not_delayed() -> None:
    assert filtered(StatusDebounce(), None, "PodClique", readyReplicas=1) == (True, [])


def test_drift_of_a_topology_is_reported_after_the_delay_and_its_end_at_once() -> None:
    def drift(status: str) -> Manifest:
        return {"conditions": [{"type": "SchedulerTopologyDrift", "status": status}], "observedGeneration": 2}

    kind, debounce = "ClusterTopologyBinding", StatusDebounce()
    existing = live(kind, drift("False"))
    for at, written in ((NOW, False), (NOW + DELAY / 2, False), (NOW + DELAY, True)):
        assert filtered(debounce, existing, kind, at, **drift("True"))[0] is written
    assert filtered(debounce, live(kind, drift("True")), kind, **drift("True")) == (True, [])
    assert filtered(debounce, live(kind, drift("True")), kind, **drift("False")) == (True, [])
