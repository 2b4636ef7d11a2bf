"""Rules that ship take steps in proportion to a set, however it is large, and one that would not ends before it holds up the others."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from grove_compiler.engine.runtime import cost_budget
from grove_compiler.engine.runtime.cost_budget import CostBudget
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.source.document import Document
from grove_compiler.step import StepHold, StepResult, step
from tests.benchmarks.growth_sets import DIMENSIONS, inputs_of, mounts_of_many_containers
from tests.features.compiling import shipped_program

from .world import NOW, context, key_of, stored

SMALL, FACTOR = 64, 4
SETTINGS = Settings(pods=True, kube_version="1.35", is_operator=True)


class Counted(CostBudget):
    """A budget that knows the most steps of one run."""

    __slots__ = ("most",)

    def __init__(self) -> None:
        self._spent = self.most = 0
        super().__init__()

    def start(self, results: Any = ()) -> None:
        self.most = max(self.most, self._spent)
        super().start(results)


def most_steps(name: str, count: int) -> int:
    """The most steps that a rule takes in the first steps of a set, and in later ones."""
    budget, (config, more) = Counted(), inputs_of(name)
    shared = context(SETTINGS, Document(config) if config else None, shipped_program().with_budget(budget))
    (pcs, *others) = stored([DIMENSIONS[name](count), *more], "team")
    objects = [pcs, *others]
    for _ in range(2):
        for key in (key_of(pcs), key_of(pcs, 0)):
            outcome = step(ObjectList(objects), key, NOW, shared)
            assert isinstance(outcome, StepResult), outcome
            objects += [copy.deepcopy(node.object) for node in outcome.graph.nodes]
    budget.start()
    return budget.most


@pytest.mark.parametrize("name", DIMENSIONS)
def test_four_times_the_set_takes_four_times_the_steps(name: str) -> None:
    few, many = (most_steps(name, count) for count in (SMALL, FACTOR * SMALL))
    assert many <= FACTOR * few * 1.25


def test_a_rule_that_ships_and_takes_too_long_holds_its_set_and_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    (pcs,) = stored([mounts_of_many_containers(400)], "team")
    monkeypatch.setattr(cost_budget, "MAX_STEPS", 1_000)
    outcome = step(ObjectList([pcs]), key_of(pcs), NOW, context(SETTINGS))
    assert isinstance(outcome, StepHold)
    (finding,) = outcome.findings
    assert (finding.code, finding.file.startswith("rules/"), finding.line > 0) == ("rules/failed", True, True)
    assert "takes more than 1,000 steps" in outcome.reason
    assert not outcome.unforeseen
