"""What a PodClique or scaling group has less of is told after a moment, and whatever else at once."""

from __future__ import annotations

from typing import Any

import pytest

from applier.desired import ObjectReference, StatusWrite
from applier.ref import Kind, Manifest, Ref
from grove_operator.controller.bad_news import MOMENT, BadNews

NOW = 1_800_000_000.0
CLIQUE = {"readyReplicas": 2, "observedGeneration": 1}
GROUP = {"availableReplicas": 2, "scheduledReplicas": 2, "observedGeneration": 1}
WHOLE = {"PodClique": CLIQUE, "PodCliqueScalingGroup": GROUP}
COUNTS = {"PodClique": "readyReplicas", "PodCliqueScalingGroup": "availableReplicas"}


class Stored:
    """The one object that is there, or none."""

    def __init__(self, manifest: Manifest | None) -> None:
        self.manifest = manifest

    def get(self, *_: str) -> Manifest | None:
        return self.manifest


def live(kind: str, status: Manifest | None = None) -> Manifest:
    metadata = {"name": "one", "namespace": "default", "uid": "1"}
    return {"apiVersion": "grove.io/v1alpha1", "kind": kind, "metadata": metadata, "status": WHOLE[kind] if status is None else status}


def sifted(news: BadNews, there: Manifest | None, kind: str, now: float = NOW, **changed: Any) -> tuple[bool, list[float]]:
    """Whether a status with some changes is written now, and when to ask again."""
    of = ObjectReference(Kind("grove.io", "v1alpha1", kind), Ref("grove.io", kind, "default", "one"), "1")
    due, waits = news.sift([StatusWrite(of, {**WHOLE[kind], **changed})], Stored(there), now)  # type: ignore[arg-type]
    return bool(due), waits


@pytest.mark.parametrize("kind", COUNTS)
def test_less_is_told_after_a_moment(kind: str) -> None:
    news, there = BadNews(), live(kind)
    assert sifted(news, there, kind, **{COUNTS[kind]: 1}) == (False, [MOMENT])
    assert sifted(news, there, kind, NOW + MOMENT / 2, **{COUNTS[kind]: 0}) == (False, [MOMENT / 2])
    assert sifted(news, there, kind, NOW + MOMENT, **{COUNTS[kind]: 0}) == (True, [])


@pytest.mark.parametrize("kind", COUNTS)
def test_what_is_whole_again_waits_anew_the_next_time(kind: str) -> None:
    news, there = BadNews(), live(kind)
    sifted(news, there, kind, **{COUNTS[kind]: 1})
    assert sifted(news, there, kind, NOW + MOMENT / 2) == (True, [])
    assert sifted(news, there, kind, NOW + 2 * MOMENT, **{COUNTS[kind]: 1}) == (False, [MOMENT])


@pytest.mark.parametrize("kind", COUNTS)
@pytest.mark.parametrize(
    "changed",
    [{"more": 3}, {"less": 1, "observedGeneration": 2}, {"less": 1, "updateProgress": {"updateStartedAt": "2026-11-23T00:00:00Z"}}],
    ids=["more", "another declaration", "an update"],
)
def test_whatever_else_is_told_at_once(kind: str, changed: dict[str, Any]) -> None:
    status = {COUNTS[kind] if name in ("more", "less") else name: value for name, value in changed.items()}
    assert sifted(BadNews(), live(kind), kind, **status) == (True, [])


def test_the_end_of_a_pod_that_nobody_replaces_is_told_at_once() -> None:
    assert sifted(BadNews(), live("PodClique"), "PodClique", readyReplicas=1, succeededIndexes="0") == (True, [])


def test_an_object_that_is_not_there_has_nothing_to_wait_for() -> None:
    assert sifted(BadNews(), None, "PodClique", readyReplicas=1) == (True, [])
