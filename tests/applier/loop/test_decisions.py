"""What was decided on an object is decided once, until anything that it was decided on is another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from applier.decision import Type
from applier.desired import Desired, Policy
from applier.loop import decisions
from applier.loop.decisions import Decisions
from applier.outcome import Action, Obstacle, Step
from applier.plan import Intent, step_for
from applier.ref import Kind, Manifest
from tests.suite.rows import rows

from ..free_schemas import FreeSchemas
from ..plan.test_planner import TERMINATING, there
from ..things import desired, ref

INTENT = Intent("me")
SCHEMA = FreeSchemas().get(Kind("", "v1", "ConfigMap"))
WANTED = desired("a", data={"x": "1"})
LIVE = there("a", data={"x": "1"})
Given = tuple[Desired, Manifest | None, Type | None, Intent, str, str]
SAME: Given = (WANTED, LIVE, SCHEMA, INTENT, "", "")


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Step]:
    """What is decided anew."""
    anew: list[Step] = []

    def noted(*given: Any) -> Step:
        anew.append(step_for(*given))
        return anew[-1]

    monkeypatch.setattr(decisions, "step_for", noted)
    return anew


def decided(known: Decisions, *given: Any) -> Step:
    """The step of the only object of the next plan."""
    known.begin()
    return known.step_for(*given)


def told(step: Step) -> Step:
    return replace(step, intent=None)


def test_what_is_the_same_is_decided_once(made: list[Step]) -> None:
    known = Decisions()
    steps = [decided(known, *SAME) for _ in range(3)]
    assert len(made) == 1
    assert [repr(one) for one in steps] == [repr(told(made[0]))] * 3
    assert steps[0].action is Action.UNCHANGED


def test_an_object_that_is_somebody_elses_is_held_again_with_all_that_is_told_of_it(made: list[Step]) -> None:
    known, theirs = Decisions(), there("a", manager="helm", data={"x": "2"})
    wanted = desired("a", policy=Policy(adopt=False), data={"x": "1"})
    steps = [decided(known, wanted, theirs, SCHEMA, INTENT, "", "") for _ in range(2)]
    assert len(made) == 1
    assert [repr(one) for one in steps] == [repr(made[0])] * 2
    assert (steps[1].obstacle, steps[1].action) == (Obstacle.FOREIGN, Action.HELD)
    assert steps[1].changes


def test_each_plan_has_a_step_of_its_own() -> None:
    known = Decisions()
    first, second = (decided(known, *SAME) for _ in range(2))
    first.wave = 7
    assert second.wave == 0
    assert decided(known, *SAME).wave == 0


def test_of_what_a_plan_does_not_want_nothing_is_remembered(made: list[Step]) -> None:
    known = Decisions()
    decided(known, *SAME)
    known.begin()
    decided(known, *SAME)
    assert len(made) == 2


def test_what_is_written_is_decided_again(made: list[Step]) -> None:
    known = Decisions()
    for _ in range(2):
        assert decided(known, WANTED, there("a", data={"x": "2"}), SCHEMA, INTENT, "", "").action is Action.CONFIGURED
    assert len(made) == 2


def wanting(**fields: Any) -> Callable[[Given], Given]:
    return lambda given: (desired("a", **{"data": {"x": "1"}, **fields}), *given[1:])


OTHER: dict[str, Callable[[Given], Given]] = {
    "another state of the object, of the same content": lambda given: (given[0], {**LIVE}, *given[2:]),
    "an object that terminates": lambda given: (given[0], {**LIVE, "metadata": {**LIVE["metadata"], **TERMINATING}}, *given[2:]),
    "no object": lambda given: (given[0], None, *given[2:]),
    "another value": wanting(data={"x": "2"}),
    "a value that Python takes for the same": wanting(data={"x": 1}),
    "another owner": wanting(owner=ref("owner")),
    "another policy": wanting(policy=Policy(create_only=True)),
    "no schema": lambda given: (*given[:2], None, *given[3:]),
    "another manager": lambda given: (*given[:3], Intent("you"), *given[4:]),
    "another owner's UID": lambda given: (*given[:4], "uid", given[5]),
    "an object that will be gone": lambda given: (*given[:5], "its namespace is recreated"),
}


@rows("change", OTHER.values(), ids=OTHER.keys())
def test_what_is_not_the_same_is_decided_again(change: Callable[[Given], Given]) -> None:
    known, other = Decisions(), change(SAME)
    decided(known, *SAME)
    assert repr(told(decided(known, *other))) == repr(told(step_for(*other)))
    assert repr(told(decided(known, *SAME))) == repr(told(step_for(*SAME)))


def test_true_is_not_one() -> None:
    known = Decisions()
    given = desired("a", data={"x": 1}), there("a", data={"x": 1}), SCHEMA, INTENT, "", ""
    decided(known, *given)
    other = desired("a", data={"x": True}), *given[1:]
    assert decided(known, *other).action is step_for(*other).action is Action.CONFIGURED
