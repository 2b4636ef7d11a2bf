"""Since when a condition is said to be as it is."""

from __future__ import annotations

from typing import Any

import pytest

from grove_compiler.engine.runtime.results import StatusCondition
from grove_compiler.graph.node import ObjectRef
from grove_compiler.kube.timestamp import time, timestamp
from grove_compiler.model.inputs.snapshot import ObjectList
from grove_operator.controller.statuses import status_writes

MADE = 1_800_000_000.0
NOW = MADE + 60.0
REF = ObjectRef("grove.io/v1alpha1", "PodClique", "default", "chat-0-worker", "u")
BREACHED, SCHEDULED = "MinAvailableBreached", "PodCliqueScheduled"


def since(type: str, status: str, *borne: tuple[str, str, float]) -> float | None:
    """Since when a PodClique is told to have a condition, if it bears others since the times that go with them."""
    conditions = [{"type": one, "status": value, "lastTransitionTime": timestamp(at)} for one, value, at in borne]
    metadata = {"name": REF.name, "namespace": REF.namespace, "uid": REF.uid, "creationTimestamp": timestamp(MADE)}
    live: dict[str, Any] = {"apiVersion": REF.api_version, "kind": REF.kind, "metadata": metadata, "status": {"conditions": conditions}}
    [write] = status_writes([], [StatusCondition(REF, type, status, "Because", "of that", "")], ObjectList([live]), NOW)
    return time(write.status["conditions"][0]["lastTransitionTime"])


@pytest.mark.parametrize(("type", "status"), [(BREACHED, "True"), (SCHEDULED, "False")])
def test_what_is_so_from_the_start_is_told_since_then_however_late_it_is_told_first(type: str, status: str) -> None:
    assert since(type, status) == MADE


@pytest.mark.parametrize(("type", "status"), [(BREACHED, "False"), (SCHEDULED, "True")])
def test_what_has_come_about_is_told_since_now(type: str, status: str) -> None:
    assert since(type, status) == NOW


def test_a_clique_that_loses_its_pods_is_short_of_them_since_now() -> None:
    assert since(BREACHED, "True", (BREACHED, "False", MADE + 5)) == NOW


def test_a_condition_that_stays_keeps_its_time() -> None:
    assert since(BREACHED, "True", (BREACHED, "True", MADE + 5)) == MADE + 5
