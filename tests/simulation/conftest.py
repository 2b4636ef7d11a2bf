"""Ends what tests leave (each simulation has an event loop, and processes in it), and has every step looked at twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

import pytest

from applier.loop import View
from applier.ref import Manifest, Ref
from grove_compiler.model.expanded.tally import CachedTally
from grove_compiler.model.inputs.snapshot import Snapshot
from grove_compiler.replay.views import Recording
from grove_compiler.step import Key, StepContext, StepGone, StepHold, StepResult, step
from grove_compiler.step_context import Generation
from grove_operator.controller import evaluator
from grove_operator.controller.live_objects import SET, LiveObjects
from grove_operator.controller.membership import read_by_replicas
from tests.simulation.simulation import Simulation


@pytest.fixture(autouse=True)
def every_step_is_taken_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a set adds up from what has changed is what it adds up from scratch, after all that a simulation does to it.

    One in three steps is compared: a sum that is wrong once is wrong until the operator is restarted.
    """
    number = count()

    def checked(asked: Recording | LiveObjects, key: Key, now: float, context: StepContext) -> StepResult | StepGone | StepHold:
        outcome = step(asked, key, now, context)
        view = asked.view if isinstance(asked, Recording) else asked
        assert isinstance(view, LiveObjects)
        if key.replica is not None or not isinstance(outcome, StepResult) or next(number) % 3:
            return outcome
        if (generation := _generation(view, key, context)) is not None:
            kept, generation.tally = generation.tally, CachedTally()
            anew = step(LiveObjects.for_step(View(view._view._live), key, is_sound=view.is_sound), key, now, context)
            generation.tally = kept
            assert isinstance(anew, StepResult)
            assert repr([outcome.statuses, outcome.deletions]) == repr([anew.statuses, anew.deletions]), "a tally is not what it should be"
        return outcome

    monkeypatch.setattr(evaluator, "step", checked)


def _generation(view: LiveObjects, key: Key, context: StepContext) -> Generation | None:
    live = view.get("grove.io", key.kind, key.namespace, key.name)
    return None if live is None else context.generation(live, Snapshot((), view))


WAKE_NOBODY = ("conditions", "observedGeneration", "startTime", "suspendedSeconds")
"""Fields of the set's status that steps of replicas read and that need not wake them: they are written in one write with others that do
(the phase of a job and why it has failed, the generation and its hash), or time decides by them, of which the phase tells."""


class WithoutTheRestOfItsSet(LiveObjects):
    """What a step of a replica may see if no other field of its set than those that wake it is ever read."""

    replica = 0

    def get(self, group: str, kind: str, namespace: str, name: str) -> Manifest | None:
        live = super().get(group, kind, namespace, name)
        if live is None or (group, kind) != SET:
            return live
        part = read_by_replicas(live)
        own = [attempt for attempt in live.get("status", {}).get("trainingReplicas") or () if attempt["index"] == self.replica]
        named = {"name": name, "namespace": namespace} | {key: value for key, value in part["metadata"].items() if value is not None}
        beside = {key: value for key, value in live.get("status", {}).items() if key in WAKE_NOBODY}
        return {**live, "metadata": named, "status": {**beside, **part["status"], "trainingReplicas": own}}


@pytest.fixture(autouse=True)
def replicas_read_only_what_wakes_them(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One in ten steps of replicas is taken again without what else is in their set.

    A change of a field that is not in `controller/keys.py` would be seen by none of them, until something else wakes it.
    """
    taken: Callable[..., StepResult | StepGone | StepHold] = vars(evaluator)["step"]  # itself checked, perhaps
    number = count()
    differing: list[Key] = []  # told at the end: an operator goes on after an error of one key

    def checked(asked: Recording | LiveObjects, key: Key, now: float, context: StepContext) -> StepResult | StepGone | StepHold:
        outcome = taken(asked, key, now, context)
        if key.replica is not None and next(number) % 10 == 0 and isinstance(outcome, StepResult):
            view = asked.view if isinstance(asked, Recording) else asked
            assert isinstance(view, LiveObjects)
            less = WithoutTheRestOfItsSet(View(view._view._live), Ref(*SET, key.namespace, key.name), is_sound=view.is_sound)
            less.replica = key.replica
            again = step(less, key, now, context)
            if not isinstance(again, StepResult) or decided(again) != decided(outcome):
                differing.append(key)
        return outcome

    monkeypatch.setattr(evaluator, "step", checked)
    yield
    assert differing == [], "these replicas read a field of their set that does not wake them: controller/keys.py"


def decided(outcome: StepResult) -> str:
    """All that comes of a step."""
    return repr([outcome.graph.nodes, outcome.statuses, outcome.conditions, outcome.events, outcome.deletions, outcome.requeue_at])


@pytest.fixture(autouse=True)
def no_simulation_left() -> Iterator[None]:
    """After each test all simulations are closed."""
    yield
    for one in list(Simulation.open):
        one.close()
