"""A write that goes on failing is told of, in words that do not change with each try, and is not tried again for being told of."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from applier.errors import ApiError, Forbidden, ServerFailure, TooManyRequests
from applier.ref import Manifest
from applier.testing.memory.faults import MemoryRequest
from applier.testing.virtual_time import in_virtual_time
from tests.step.world import context

from .lab import Lab, lab_running
from .test_held_is_told import SET, cliques, stalled, stalled_of, status, told
from .test_no_harm import named

HOUR = 3600


def refuse_pods(lab: Lab, error: Callable[[], ApiError]) -> Callable[[], None]:
    """From now on pods cannot be created, until the returned function is called."""
    refuses = [True]

    def when(request: MemoryRequest) -> bool:
        if refuses[0] and request.resource.plural == "pods" and request.writes:
            raise error()
        return False

    lab.cluster.fail(when, AssertionError("is raised above"), times=-1)
    return lambda: refuses.__setitem__(0, False)


def creates(lab: Lab) -> int:
    return sum(request.resource.plural == "pods" for request in lab.cluster.writes())


FAILURES = {
    "a webhook that is away": (ServerFailure(500, "InternalError", 'webhook "pods.example.com" did not answer'), "pods.example.com"),
    "a server that throttles": (TooManyRequests(429, "TooManyRequests", "too many requests, please try again later"), "too many requests"),
}


@pytest.mark.parametrize(("error", "words"), FAILURES.values(), ids=FAILURES)
@in_virtual_time
async def test_a_write_that_goes_on_failing_is_told_of_until_it_is_done(error: ApiError, words: str) -> None:
    lab = Lab(context())
    lab.cluster.seed(named("set"))
    mend = refuse_pods(lab, lambda: error)
    async with lab_running(lab):
        await asyncio.sleep(60)
        assert words in "".join(stalled(lab))
        assert "is tried again" in "".join(stalled(lab))
        assert len([one for one in cliques(lab) if words in "".join(stalled_of(one))]) == 4
        assert len(told(lab, "Refused")) == 5, "once for each clique, and once for the set"
        mend()
        await asyncio.sleep(60)
        assert stalled(lab) == []
        assert [text for one in cliques(lab) for text in stalled_of(one)] == []
        assert len([one for one in lab.objects("set") if one["kind"] == "Pod"]) == 4


@in_virtual_time
async def test_a_write_that_fails_for_a_moment_is_not_told_of() -> None:
    lab = Lab(context())
    lab.cluster.seed(named("set"))
    mend = refuse_pods(lab, lambda: ServerFailure(500, "InternalError", "etcd elects a leader"))
    async with lab_running(lab):
        await asyncio.sleep(3)
        mend()
        await asyncio.sleep(60)
        assert told(lab, "Refused") == []
        assert len([one for one in lab.objects("set") if one["kind"] == "Pod"]) == 4


VARYING = {
    "a policy that numbers its refusals": lambda number: Forbidden(403, "Forbidden", f"denied, request {number}"),
    "a failure with another port each time": lambda number: ServerFailure(500, "InternalError", f"read 127.0.0.1:{number}: reset"),
}


@pytest.mark.parametrize("error", VARYING.values(), ids=VARYING)
@in_virtual_time
async def test_a_refusal_in_other_words_each_time_is_tried_no_more_often_than_any(error: Callable[[int], ApiError]) -> None:
    numbers = count()
    lab = Lab(context())
    lab.cluster.seed(named("set"))
    refuse_pods(lab, lambda: error(next(numbers)))
    async with lab_running(lab):
        await asyncio.sleep(HOUR)
        before, events = creates(lab), len(told(lab, "Refused"))
        await asyncio.sleep(HOUR)
        assert creates(lab) - before <= 4 * HOUR / 25
        assert len(told(lab, "Refused")) == events
        assert stalled(lab) != []


@in_virtual_time
async def test_an_object_that_somebody_changes_after_each_write_is_named() -> None:
    numbers = count()

    def mirror(manifest: Manifest) -> Manifest:
        if manifest["kind"] != "PodClique" or manifest["metadata"]["name"] != "set-0-worker":
            return manifest
        stamped = copy.deepcopy(manifest)
        stamped["spec"]["podSpec"]["containers"][0]["image"] = f"mirror.example/worker:{next(numbers)}"
        return stamped

    lab = Lab(context())
    lab.cluster.seed(named("set"))
    lab.cluster.admit = mirror
    async with lab_running(lab):
        await asyncio.sleep(HOUR)
        (sentence,) = stalled(lab)
        assert sentence.startswith(
            "replica 0: PodClique.grove.io/default/set-0-worker is changed by another client, or an admission webhook,"
        )
        assert len(lab.cluster.writes()) < 600
        lab.cluster.admit = lambda manifest: manifest
        await asyncio.sleep(60)
        assert stalled(lab) == []


@in_virtual_time
async def test_an_object_in_which_a_webhook_sets_the_same_other_value_at_each_write_is_named() -> None:
    def mirror(manifest: Manifest) -> Manifest:
        if manifest["kind"] != "PodClique" or manifest["metadata"]["name"] != "set-0-worker":
            return manifest
        mirrored = copy.deepcopy(manifest)
        mirrored["spec"]["podSpec"]["containers"][0]["image"] = "mirror.example/worker"
        return mirrored

    lab = Lab(context())
    lab.cluster.seed(named("set"))
    lab.cluster.admit = mirror
    async with lab_running(lab):
        await asyncio.sleep(60)
        (sentence,) = stalled(lab)
        assert sentence.startswith("replica 0: PodClique.grove.io/default/set-0-worker stays as it was when the operator writes it")
        assert "podSpec.containers" in sentence
        before = len(lab.cluster.writes())
        await asyncio.sleep(HOUR)
        assert len(lab.cluster.writes()) - before <= 2 * HOUR / 30
        lab.cluster.admit = lambda manifest: manifest
        await asyncio.sleep(60)
        assert stalled(lab) == []


STALLS = {
    "a refusal": (lambda lab: refuse_pods(lab, lambda: Forbidden(403, "Forbidden", "no")), 20),
    "a webhook that is away": (lambda lab: refuse_pods(lab, lambda: ServerFailure(500, "InternalError", "no answer")), 60),
}


@pytest.mark.parametrize(("refuse", "seconds"), STALLS.values(), ids=STALLS)
@in_virtual_time
async def test_an_operator_that_starts_does_not_take_back_what_the_last_one_reported(refuse: Callable[[Lab], Any], seconds: int) -> None:
    first = Lab(context())
    first.cluster.seed(named("set"))
    refuse(first)
    async with lab_running(first):
        await asyncio.sleep(seconds)
    assert stalled(first) != []
    second = Lab(context(), first.cluster)
    async with lab_running(second):
        for _ in range(10 * seconds):
            await asyncio.sleep(0.1)
            assert stalled(second) != []


@pytest.mark.parametrize(("refuse", "seconds"), STALLS.values(), ids=STALLS)
@in_virtual_time
async def test_nor_does_it_where_it_writes_a_status_for_another_reason(refuse: Callable[[Lab], Any], seconds: int) -> None:
    """Here the set is scaled meanwhile. It goes on saying since when it is stalled, and no longer than it is."""

    def since(lab: Lab) -> list[str]:
        return [one["lastTransitionTime"] for one in status(lab)["conditions"] if one["type"] == "Stalled"]

    first = Lab(context())
    first.cluster.seed(named("set"))
    mend = refuse(first)
    async with lab_running(first):
        await asyncio.sleep(seconds)
    began = since(first)
    second = Lab(context(), first.cluster)
    live = first.cluster.store.objects[SET]
    second.edit({**live, "spec": {**live["spec"], "replicas": 3}})
    async with lab_running(second):
        for _ in range(10 * seconds):
            await asyncio.sleep(0.1)
            assert since(second) == began
        assert status(second)["replicas"] == 3
        mend()
        await asyncio.sleep(60)
        assert stalled(second) == []
