"""One object's trouble is its own: the others are compared and written all the same."""

from __future__ import annotations

from typing import Any

import pytest

from applier.decision import decide, merged
from applier.desired import Graph
from applier.outcome import Action
from applier.plan import planner
from applier.run import difference
from applier.run.difference import diff
from applier.run.options import ApplyOptions
from applier.run.pipeline import apply
from applier.testing.memory import MemoryCluster

from ..free_schemas import FreeSchemas
from ..things import desired, manifest

FAULT = ZeroDivisionError("a fault of ours")


def cluster() -> MemoryCluster:
    memory = MemoryCluster(namespaces=("shop",), schemas=FreeSchemas())
    for name in ("a", "b"):
        memory.seed(manifest(name, data={"x": "1"}), manager="me")
    return memory


GRAPH = Graph([desired(name, data={"x": "2"}) for name in ("a", "b")])


def faulty(function: Any, given: int) -> Any:
    """The function, which fails for the object `a`; `given` says which argument is its manifest."""

    def fails(*arguments: Any, **options: Any) -> Any:
        if arguments[given]["metadata"]["name"] == "a":
            raise FAULT
        return function(*arguments, **options)

    return fails


async def test_an_apply_goes_on_when_one_object_cannot_be_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planner, "decide", faulty(decide, 0))
    outcomes = {one.step.ref.name: (one.action, one.reason) for one in (await apply(GRAPH, cluster(), ApplyOptions("me"))).outcomes}
    assert outcomes["b"][0] is Action.CONFIGURED
    assert outcomes["a"] == (Action.FAILED, "cannot be compared: ZeroDivisionError: a fault of ours")


async def test_a_diff_goes_on_when_one_object_cannot_be_worked_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(difference, "merged", faulty(merged, 0))
    steps = {one.step.ref.name: one.step for one in await diff(GRAPH, cluster(), ApplyOptions("me"))}
    assert steps["b"].action is Action.CONFIGURED
    assert (steps["a"].action, steps["a"].reason) == (Action.FAILED, "cannot be compared: ZeroDivisionError: a fault of ours")


async def test_a_diff_goes_on_when_an_answer_cannot_be_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    from applier.run import dry_run

    monkeypatch.setattr(dry_run, "update_step", faulty(dry_run.update_step, 1))
    steps = {one.step.ref.name: one.step for one in await diff(GRAPH, cluster(), ApplyOptions("me"), ask_server=True)}
    assert steps["b"].action is Action.CONFIGURED
    assert steps["a"].action is Action.FAILED
