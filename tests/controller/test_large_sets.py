"""Steps of large sets are taken in a thread, with the same result, while everything else goes on."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable
from typing import Any

import pytest

from applier.desired import Gone, Graph, Hold
from applier.errors import NotSynced
from applier.loop import View
from applier.ref import Kind, Manifest, Ref
from grove_compiler.engine.runtime.cost_budget import CostBudget
from grove_compiler.model.expanded import expansion
from grove_compiler.step import Key, StepContext, step
from grove_operator.controller import evaluator
from grove_operator.controller.evaluator import Evaluator
from grove_operator.controller.large_sets import MANY_OBJECTS, MANY_VALUES, LargeSets
from grove_operator.controller.operator import settings_of
from grove_operator.controller.waiting import RecordedCache
from grove_operator.worker_thread import WorkerThread
from tests.benchmarks.growth_sets import cliques_in_groups_of_one, containers
from tests.controller.whole import EPOCH, WholeOperator
from tests.features.compiling import shipped_program
from tests.model.sets import clique, pcs

PATIENCE = 60.0
POD = Kind("", "v1", "Pod")
SET = Key("PodCliqueSet", "default", "big")


def declared(manifest: Manifest, name: str = "big", generation: int = 1) -> Manifest:
    manifest["metadata"] = {"name": name, "namespace": "default", "uid": f"uid-{name}", "generation": generation}
    return manifest


def small(name: str = "chat") -> Manifest:
    return declared(pcs([clique("worker", 2)], replicas=1), name)


def view_of(*manifests: Manifest) -> View:
    return RecordedCache(manifests, ()).view()


def written(desired: Graph | Gone | Hold) -> Any:
    """All that the applier is told."""
    if not isinstance(desired, Graph):
        return type(desired), getattr(desired, "reason", "")
    objects = [(one.manifest, one.owner, list(one.awaited), one.policy.yields, one.source) for one in desired.objects.values()]
    statuses = [(one.of, one.status, one.resource_version) for one in desired.statuses]
    return objects, statuses, [one.name for one in desired.events], desired.deletions, desired.requeue_after


@pytest.fixture
def context() -> StepContext:
    return StepContext(shipped_program(), settings_of("1.35"))


@pytest.fixture
def thread() -> WorkerThread:
    return WorkerThread("large steps", CostBudget())


@pytest.mark.parametrize("replica", [None, 0, 7])
async def test_the_result_is_the_same(replica: int | None, context: StepContext, thread: WorkerThread) -> None:
    evaluate, key = Evaluator(context, lambda: EPOCH), SET._replace(replica=replica)
    view = view_of(declared(cliques_in_groups_of_one(30)))
    assert written(await evaluate(view, key, thread)) == written(await evaluate(view, key))


async def test_a_hold_is_the_same(context: StepContext, thread: WorkerThread) -> None:
    evaluate, wrong = Evaluator(context, lambda: EPOCH), declared(containers(30))
    wrong["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][3]["name"] = "c2"
    aside = await evaluate(view_of(wrong), SET, thread)
    assert isinstance(aside, Hold)
    assert written(aside) == written(await evaluate(view_of(wrong), SET))


async def test_the_set_is_taken_apart_in_the_thread(context: StepContext, thread: WorkerThread, monkeypatch: pytest.MonkeyPatch) -> None:
    take_apart, threads = expansion._take_apart, set[str]()

    def noted(expanded: Any) -> None:
        threads.add(threading.current_thread().name.partition("_")[0])
        take_apart(expanded)

    gc.collect()  # or what other tests have left is taken apart meanwhile, and here
    monkeypatch.setattr(expansion, "_take_apart", noted)
    assert isinstance(await Evaluator(context, lambda: EPOCH)(view_of(small("big")), SET, thread), Graph)
    assert threads == {"large steps"}


async def test_an_error_is_tried_on_sound_objects_as_without_a_thread(
    context: StepContext, thread: WorkerThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    take, tried = step, list[bool]()

    def fail_first(view: Any, *arguments: Any) -> Any:
        tried.append(view.is_sound)
        if not view.is_sound:
            raise TypeError("a text where a number should be")
        return take(view, *arguments)

    monkeypatch.setattr(evaluator, "step", fail_first)
    assert isinstance(await Evaluator(context, lambda: EPOCH)(view_of(small("big")), SET, thread), Graph)
    assert tried == [False, True]


async def wait_until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not holds():
            await asyncio.sleep(0.005)


async def test_small_sets_go_on_while_a_step_of_a_large_one_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    take, threads = step, dict[str, set[str]]()
    begun, gate = threading.Event(), threading.Event()

    def blocking(view: Any, key: Key, *arguments: Any) -> Any:
        threads.setdefault(key.name, set()).add(threading.current_thread().name.partition("_")[0])
        if key.name == "big":
            begun.set()
            assert gate.wait(PATIENCE)
        return take(view, key, *arguments)

    monkeypatch.setattr(evaluator, "step", blocking)
    world = WholeOperator()
    world.start()
    try:
        world.cluster.seed(declared(containers(MANY_VALUES)))
        await wait_until(begun.is_set)
        world.cluster.seed(small())
        await wait_until(lambda: len(world.of(POD)) == 2)
        gate.set()
        await wait_until(lambda: len(world.of(POD)) == 3)
    finally:
        gate.set()
        await world.stop()
    assert threads == {"big": {"large steps"}, "chat": {threading.current_thread().name}}


def test_a_spec_of_many_values_is_large_and_one_of_a_few_is_not() -> None:
    large = LargeSets()
    assert [large.is_large(view_of(one), SET) for one in (small("big"), declared(containers(MANY_VALUES), generation=2))] == [False, True]
    assert large.is_large(view_of(declared(containers(MANY_VALUES), generation=2)), SET._replace(replica=3))


def test_a_set_is_looked_at_once_for_each_generation() -> None:
    large, big = LargeSets(), declared(containers(MANY_VALUES))
    assert large.is_large(view_of(big), SET)
    assert large.is_large(view_of({**small("big")}), SET)  # of the same generation: nobody looks
    assert not large.is_large(view_of(declared(small("big"), generation=2)), SET)


async def test_a_key_of_many_objects_is_large_until_it_has_few(context: StepContext) -> None:
    large, view = LargeSets(), view_of(small("big"))
    key = SET._replace(replica=0)
    evaluate = Evaluator(context, lambda: EPOCH)
    few = await evaluate(view, key)
    many = await evaluate(view_of(declared(pcs([clique("worker", MANY_OBJECTS)], replicas=1), generation=2)), key)
    found = []
    for desired in (few, many, Hold("something is wrong"), few, many, Gone()):
        large.note(key, desired)
        found.append(large.is_large(view, key))
    assert found == [False, True, True, False, True, False]


def test_a_topology_and_a_set_that_is_unknown_or_gone_are_not_large() -> None:
    class Unknown:
        def peek(self, ref: Ref) -> Manifest:
            raise NotSynced(str(ref))

    views: list[Any] = [view_of(), Unknown()]
    keys = [Key("ClusterTopology", "", "racks"), SET]
    assert not any(LargeSets().is_large(view, key) for view in views for key in keys)
