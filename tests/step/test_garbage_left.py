"""What a step or a review has computed is freed as it ends: hardly anything is left to the garbage collector, which stops all threads."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from grove_compiler.compile import Inputs, lint_manifests
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.source.document import Document
from grove_compiler.step import StepContext, StepHold, StepResult, step
from tests.benchmarks.growth_sets import DIMENSIONS, inputs_of
from tests.benchmarks.step import as_stored
from tests.features.compiling import shipped_program

from .world import NOW, context, key_of, stored

FEW = 10
"""Values in cycles that may be left, of whatever size the set is."""
SETTINGS = Settings(pods=True, kube_version="1.35", is_operator=True)
NAMES = ["cliques in groups of one", "cliques in one group", "containers", "nvlink groups", "packed cliques", "failure rules", "a chain"]


def left(work: Callable[[], object]) -> Counter[str]:
    """The types of what some work leaves to the collector, which looks at nothing older: that would take longer than the work."""
    work()  # classes are completed as their first instance is created
    gc.freeze()
    before, flags = gc.isenabled(), gc.get_debug()
    gc.disable()
    try:
        work()
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        return Counter(type(one).__name__ for one in gc.garbage)
    finally:
        gc.set_debug(flags)
        gc.garbage.clear()
        if before:
            gc.enable()


def of_this(name: str, count: int) -> tuple[Document | None, list[dict[str, Any]]]:
    """The configuration, and a stored set with what it needs."""
    config, more = inputs_of(name)
    return Document(config) if config else None, stored([DIMENSIONS[name](count), *more], "team")


@pytest.mark.parametrize("name", NAMES)
def test_a_review_leaves_nothing(name: str) -> None:
    config, (pcs, *more) = of_this(name, 40)
    inputs = Inputs([Document(pcs), *map(Document, more)], config=config, settings=SETTINGS)
    assert left(lambda: lint_manifests(inputs, shipped_program())).total() < FEW


@pytest.mark.parametrize("name", NAMES)
def test_a_review_of_an_edit_leaves_nothing(name: str) -> None:
    config, (pcs, *more) = of_this(name, 40)
    old = Document(DIMENSIONS[name](39))
    inputs = Inputs([Document(pcs), *map(Document, more)], old=[old], config=config, settings=SETTINGS)
    assert left(lambda: lint_manifests(inputs, shipped_program())).total() < FEW


def test_a_review_of_values_of_other_types_leaves_nothing() -> None:
    _, (pcs,) = of_this("containers", 40)
    pcs["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][7]["ports"] = "none"
    pcs["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][8]["name"] = "c7"
    assert left(lambda: lint_manifests(Inputs([Document(pcs)], settings=SETTINGS), shipped_program())).total() < FEW


@pytest.mark.parametrize("replica", [None, 0])
@pytest.mark.parametrize("name", NAMES)
def test_a_step_leaves_nothing_neither_the_first_nor_a_later_one(name: str, replica: int | None) -> None:
    config, objects = of_this(name, 40)
    key, nodes = key_of(objects[0]), []

    def taken(shared: StepContext, part: int | None) -> None:
        outcome = step(ObjectList(objects), key._replace(replica=part), NOW, shared)
        assert isinstance(outcome, StepResult), outcome
        assert outcome.waits() is not None
        nodes.extend(outcome.graph.nodes)

    assert left(lambda: taken(context(SETTINGS, config), replica)).total() < FEW
    nodes.clear()
    shared = context(SETTINGS, config)
    for part in (None, 0):
        taken(shared, part)
    objects += as_stored(nodes, {f"PodCliqueSet/team/{key.name}": objects[0]["metadata"]["uid"]})
    assert left(lambda: taken(shared, replica)).total() < FEW


def test_a_generation_leaves_nothing_once_it_is_replaced() -> None:
    _, (pcs,) = of_this("cliques in groups of one", 40)
    shared = context(SETTINGS)

    def edited() -> None:
        pcs["metadata"] = {**pcs["metadata"], "generation": pcs["metadata"]["generation"] + 1}
        assert isinstance(step(ObjectList([pcs]), key_of(pcs, 0), NOW, shared), StepResult)

    assert left(edited).total() < FEW


def test_a_set_that_is_held_leaves_nothing() -> None:
    _, (pcs,) = of_this("cliques in groups of one", 40)
    del pcs["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][0]["name"]

    def held() -> None:
        assert isinstance(step(ObjectList([pcs]), key_of(pcs), NOW, context(SETTINGS)), StepHold)

    assert left(held).total() < FEW
