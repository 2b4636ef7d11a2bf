"""Ends what tests leave (each simulation has an event loop, and processes in it), and has every step looked at twice."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from applier.loop import View
from grove_compiler.model.expanded.tally import CachedTally
from grove_compiler.replay.views import Recording
from grove_compiler.step import Key, StepContext, StepGone, StepHold, StepResult, step
from grove_compiler.step_context import Generation
from grove_operator.controller import evaluator
from grove_operator.controller.live_objects import LiveObjects
from tests.simulation.simulation import Simulation


@pytest.fixture(autouse=True)
def every_step_is_taken_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a set adds up from what has changed is what it adds up from scratch, after all that a simulation does to it."""

    def checked(asked: Recording | LiveObjects, key: Key, now: float, context: StepContext) -> StepResult | StepGone | StepHold:
        outcome = step(asked, key, now, context)
        view = asked.view if isinstance(asked, Recording) else asked
        assert isinstance(view, LiveObjects)
        if key.replica is None and isinstance(outcome, StepResult) and (generation := _generation(view, key, context)) is not None:
            kept, generation.tally = generation.tally, CachedTally()
            anew = step(LiveObjects.for_step(View(view._view._cache), key, is_sound=view.is_sound), key, now, context)
            generation.tally = kept
            assert isinstance(anew, StepResult)
            assert repr([outcome.statuses, outcome.deletions]) == repr([anew.statuses, anew.deletions]), "a tally is not what it should be"
        return outcome

    monkeypatch.setattr(evaluator, "step", checked)


def _generation(view: LiveObjects, key: Key, context: StepContext) -> Generation | None:
    live = view.get("grove.io", key.kind, key.namespace, key.name)
    return None if live is None else context.generation(live)


@pytest.fixture(autouse=True)
def no_simulation_left() -> Iterator[None]:
    """After each test all simulations are closed."""
    yield
    for one in list(Simulation.open):
        one.close()
