"""A clock that goes back, as where API servers behind one address have different times, puts off nothing for longer than it says."""

from __future__ import annotations

import pytest

from applier.errors import ServerFailure
from applier.loop import Result
from applier.outcome import Action, Outcome, Step
from applier.ref import Ref
from grove_compiler.engine.runtime.results import StatusCondition
from grove_compiler.graph.graph import CompiledGraph
from grove_compiler.graph.node import ObjectRef
from grove_compiler.step import Key, StepResult
from grove_operator.controller import pending_condition
from grove_operator.controller.pending_condition import EVENT_DELAY, GRACE_PERIOD, PendingTracker
from grove_operator.controller.stalled_condition import GRACE, WriteFailures
from grove_operator.controller.statuses import DELAY, StatusDebounce

from .test_status_debounce import NOW, filtered, live

AHEAD = NOW + 3600.0
KEY = Key("PodCliqueSet", "default", "chat", 0)
SET = KEY._replace(replica=None)


def test_a_status() -> None:
    debounce, existing = StatusDebounce(), live("PodClique")
    assert filtered(debounce, existing, "PodClique", AHEAD, readyReplicas=1) == (False, [DELAY])
    assert filtered(debounce, existing, "PodClique", NOW, readyReplicas=1) == (False, [DELAY])
    assert filtered(debounce, existing, "PodClique", NOW + DELAY, readyReplicas=1) == (True, [])


def test_why_a_set_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pending_condition, "_lacks_pods", lambda _: True)
    tracker, of = PendingTracker(), ObjectRef("grove.io/v1alpha1", "PodCliqueSet", "default", "chat", "u")
    tracker.observe(KEY, StepResult(CompiledGraph([], {})))
    assert tracker.overdue_replica(SET, {}, AHEAD) == (None, GRACE_PERIOD)
    assert tracker.overdue_replica(SET, {}, NOW) == (None, GRACE_PERIOD)
    assert tracker.overdue_replica(SET, {}, NOW + GRACE_PERIOD) == (0, 0.0)
    condition = StatusCondition(of, "WhyPending", "True", "Unschedulable", "no node", "")
    assert tracker.event(SET, condition, {}, AHEAD) == ([], EVENT_DELAY)
    assert tracker.event(SET, condition, {}, NOW) == ([], EVENT_DELAY)
    assert len(tracker.event(SET, condition, {}, NOW + EVENT_DELAY)[0]) == 1


def test_a_write_that_fails() -> None:
    failures = WriteFailures()
    step = Step(Ref("", "Pod", "default", "chat-0"), Action.CREATED, "")
    result = Result(KEY, [Outcome(step, Action.FAILED, "away", error=ServerFailure(500, "InternalError", "away"))])
    for at in (AHEAD, NOW):
        failures.observe(result, at)
    assert not failures.reported(KEY)
    failures.observe(result, NOW + GRACE)
    assert failures.reported(KEY)
