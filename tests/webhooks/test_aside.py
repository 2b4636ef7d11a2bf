"""Large objects are reviewed beside everything else, with the same result, and not for longer than an API server waits."""

from __future__ import annotations

import asyncio
import gc
import threading
from dataclasses import replace
from typing import Any

import pytest

from applier.cache import Query, WatchCache
from applier.loop import View
from applier.ref import CONFIG_MAP
from applier.testing.memory import MemoryCluster
from grove_compiler.engine.runtime.cost_budget import CostBudget
from grove_compiler.step import StepContext
from grove_operator.webhooks.answers import LARGE, Answers, Aside, Overdue
from grove_operator.webhooks.review import Reviewer

from .conftest import Manifest, asked

PATIENCE = 60.0


async def test_small_reviews_are_answered_while_a_large_one_is_computed(judge: Reviewer, workload: Manifest) -> None:
    gate, begun = threading.Event(), threading.Event()

    def compute(_: Reviewer) -> bool:
        begun.set()
        return gate.wait(PATIENCE)

    large = asyncio.ensure_future(Aside(PATIENCE).run(judge, compute))
    async with asyncio.timeout(PATIENCE):
        while not begun.is_set():
            await asyncio.sleep(0.001)
        small = await Answers(lambda: judge).validate(asked("CREATE", workload), LARGE - 1)
        assert (small["response"]["allowed"], large.done()) == (True, False)
        gate.set()
        assert await large


@pytest.mark.parametrize("minimum", [2, 3])
async def test_a_large_review_has_the_same_answer(minimum: int, judge: Reviewer, workload: Manifest) -> None:
    workload["spec"]["template"]["cliques"][0]["spec"]["minAvailable"] = minimum
    answers, review = Answers(lambda: judge), asked("CREATE", workload)
    assert await answers.validate(review, LARGE) == await answers.validate(review)
    assert await answers.default(review, LARGE) == await answers.default(review)


async def test_what_exists_is_frozen_while_a_thread_reads_it(judge: Reviewer) -> None:
    cluster = MemoryCluster()
    cluster.seed(config_map("old"))
    cache, gate = WatchCache(cluster, [Query(CONFIG_MAP)]), threading.Event()
    await cache.start()
    await cache.synced()
    view = View(cache)

    def names(_: Reviewer) -> list[str]:
        assert gate.wait(PATIENCE)
        return [one["metadata"]["name"] for one in view.by_label("", "ConfigMap")]

    reading = asyncio.ensure_future(Aside(PATIENCE).run(replace(judge, frozen=view.frozen), names))
    async with asyncio.timeout(PATIENCE):
        while not view.is_frozen:
            await asyncio.sleep(0)
        cluster.seed(config_map("new"))
        while cache.count() < 2:
            await asyncio.sleep(0)
        gate.set()
        assert await reading == ["old"]
    assert [one["metadata"]["name"] for one in view.by_label("", "ConfigMap")] == ["new", "old"]
    await cache.stop()


def config_map(name: str) -> Manifest:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}}


async def test_a_review_past_its_time_is_given_up_before_its_next_rule(judge: Reviewer, workload: Manifest) -> None:
    aside = Aside(PATIENCE)

    def review(reviewer: Reviewer) -> Manifest:
        aside._budget.until = 0.0
        return reviewer.validate(asked("CREATE", workload))

    with pytest.raises(Overdue):
        await aside.run(judge, review)


async def test_a_review_past_its_time_is_answered(judge: Reviewer, workload: Manifest, monkeypatch: pytest.MonkeyPatch) -> None:
    async def overdue(*_: object) -> None:
        raise Overdue

    monkeypatch.setattr(Aside, "run", overdue)
    response = (await Answers(lambda: judge).validate(asked("CREATE", workload), LARGE))["response"]
    assert (response["allowed"], response["status"]["code"], "takes more than 8 s" in response["status"]["message"]) == (False, 504, True)


@pytest.mark.parametrize("is_enabled", [True, False])
async def test_garbage_is_not_collected_meanwhile_and_then_as_before(is_enabled: bool, judge: Reviewer) -> None:
    aside, before = Aside(PATIENCE), gc.isenabled()

    def fail(_: Reviewer) -> None:
        raise ValueError(gc.isenabled())

    try:
        (gc.enable if is_enabled else gc.disable)()
        with pytest.raises(ValueError, match="False"):
            await aside.run(judge, fail)
        assert gc.isenabled() is is_enabled
    finally:
        (gc.enable if before else gc.disable)()


async def test_what_a_thread_has_made_is_not_looked_at_either(judge: Reviewer) -> None:
    before = gc.isenabled()
    gc.enable()
    try:
        made = await Aside(PATIENCE).run(judge, lambda _: [list[int]()])
        assert not any(one is made for one in gc.get_objects())
    finally:
        (gc.enable if before else gc.disable)()


async def test_rules_that_are_reloaded_count_for_large_reviews_too(judge: Reviewer) -> None:
    aside, others = Aside(PATIENCE), StepContext(judge.context.program.with_budget(CostBudget()), judge.context.settings)

    async def rules(reviewer: Reviewer) -> Any:
        return await aside.run(reviewer, lambda beside: beside.context.program)

    first, again, other = await rules(judge), await rules(judge), await rules(Reviewer(others))
    assert (first is again, first is other) == (True, False)
