"""Waiting until objects are ready, on a cluster in memory whose controllers are the tests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from applier.cluster import Resource
from applier.errors import Expired, Forbidden, ServerFailure, UnknownKind, Unreachable
from applier.events import Event, Ready, Waiting
from applier.readiness import ReadinessRule, State
from applier.ref import Kind, Manifest
from applier.testing.memory import MemoryCluster
from applier.testing.virtual_time import in_virtual_time
from applier.wait import wait_ready

SOON = 0.05
LATE = 30.0


def deployment(name: str, ready: int = 0, **status: Any) -> Manifest:
    counts = {f"{word}Replicas": ready for word in ("updated", "ready", "available")} | {"replicas": ready} if ready else {}
    available = {"conditions": [{"type": "Available", "status": "True"}]} if ready else {}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default", "labels": {"app": name}},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": name}}},
        "status": {**counts, **available, **status},
    }


def config(name: str) -> Manifest:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}}


class Controller:
    """Does something each time that the wait says what it waits for; remembers all that it was told."""

    def __init__(self, *interventions: Callable[[], Any]) -> None:
        self.interventions, self.events = list(interventions), list[Event]()

    def __call__(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event, Waiting) and self.interventions:
            asyncio.get_running_loop().call_soon(self.interventions.pop(0))


@pytest.fixture
def cluster() -> MemoryCluster:
    return MemoryCluster()


async def test_nothing_is_waited_for_at_once(cluster: MemoryCluster) -> None:
    assert await wait_ready([], cluster, seconds=LATE) == []
    assert cluster.log == []


async def test_what_is_ready_is_not_waited_for(cluster: MemoryCluster) -> None:
    cluster.seed(deployment("a", ready=1), config("b"))
    waited = await wait_ready([deployment("a"), config("b")], cluster, seconds=LATE)
    assert [(one.ref.name, one.readiness.state, one.reason) for one in waited] == [("a", State.READY, ""), ("b", State.READY, "")]


async def test_what_becomes_ready_ends_the_wait(cluster: MemoryCluster) -> None:
    cluster.seed(deployment("a"))
    controller = Controller(lambda: cluster.seed(deployment("a", ready=1)))
    [waited] = await wait_ready([deployment("a")], cluster, seconds=LATE, sink=controller)
    assert waited.readiness.is_ready
    assert controller.events[0] == Waiting(waited.ref, "0 of 1 replica updated")
    assert isinstance(controller.events[1], Ready)


async def test_what_is_not_there_yet_is_waited_for(cluster: MemoryCluster) -> None:
    controller = Controller(lambda: cluster.seed(config("a")))
    [waited] = await wait_ready([config("a")], cluster, seconds=LATE, sink=controller)
    assert waited.readiness.is_ready
    assert controller.events[0] == Waiting(waited.ref, "is not there")


async def test_a_time_out_names_what_is_missing(cluster: MemoryCluster) -> None:
    cluster.seed(deployment("a"), config("b"))
    waited = await wait_ready([deployment("a"), config("b"), config("c")], cluster, seconds=SOON)
    assert [one.reason for one in waited] == ["not ready after 0 s: 0 of 1 replica updated", "", "not ready after 0 s: is not there"]


async def test_a_time_out_says_what_the_pods_say(cluster: MemoryCluster) -> None:
    waiting = {"name": "main", "state": {"waiting": {"reason": "ImagePullBackOff"}}}
    scheduled = [{"type": "PodScheduled", "status": "True"}]
    for name in ("a-1", "a-2"):
        cluster.seed(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": name, "namespace": "default", "labels": {"app": "a"}},
                "status": {"phase": "Pending", "conditions": scheduled, "containerStatuses": [waiting]},
            }
        )
    cluster.seed(deployment("a"))
    [waited] = await wait_ready([deployment("a")], cluster, seconds=SOON)
    assert waited.readiness.reason == "0 of 1 replica updated; 2 pods: container main: ImagePullBackOff"


async def test_pods_that_may_not_be_read_are_left_out(cluster: MemoryCluster) -> None:
    cluster.seed(deployment("a"))
    cluster.fail(lambda request: request.resource.plural == "pods", Forbidden(403, "Forbidden", "no"), times=-1)
    [waited] = await wait_ready([deployment("a")], cluster, seconds=SOON)
    assert waited.readiness.reason == "0 of 1 replica updated"


async def test_what_failed_for_good_is_not_waited_for(cluster: MemoryCluster) -> None:
    late = [{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}]
    cluster.seed(deployment("a", conditions=late))
    [waited] = await wait_ready([deployment("a")], cluster, seconds=LATE)
    assert waited.readiness.state is State.FAILED


async def test_what_falls_back_is_waited_for_again(cluster: MemoryCluster) -> None:
    cluster.seed(deployment("a", ready=1))
    controller = Controller(
        lambda: cluster.seed(deployment("a")),
        lambda: cluster.seed(config("b"), deployment("a", ready=1)),
    )
    waited = await wait_ready([deployment("a"), config("b")], cluster, seconds=LATE, sink=controller)
    said = [(type(event).__name__, event.ref.name) for event in controller.events if isinstance(event, Waiting | Ready)]
    assert all(one.readiness.is_ready for one in waited)
    assert said[-2:] in ([("Ready", "b"), ("Ready", "a")], [("Ready", "a"), ("Ready", "b")])
    assert ("Waiting", "a") in said


async def test_a_rule_of_the_graph_is_waited_for(cluster: MemoryCluster) -> None:
    cluster.seed(config("a"))
    rule = ReadinessRule.read({"kind": "ConfigMap", "fields": [["/data/done", "=", "yes"]]})
    controller = Controller(lambda: cluster.seed({**config("a"), "data": {"done": "yes"}}))
    [waited] = await wait_ready([config("a")], cluster, seconds=LATE, rules=[rule], sink=controller)
    assert waited.readiness.is_ready


@pytest.mark.parametrize("error", [None, Expired(410, "Expired", "too old"), Unreachable("reset")])
async def test_a_watch_that_ends_is_taken_up_again(cluster: MemoryCluster, error: Exception | None) -> None:
    cluster.seed(deployment("a"))

    def end() -> None:
        cluster.end_watches(error)
        cluster.seed(deployment("a", ready=1))

    [waited] = await wait_ready([deployment("a")], cluster, seconds=LATE, sink=Controller(end))
    assert waited.readiness.is_ready


async def test_a_server_in_trouble_is_asked_again(cluster: MemoryCluster) -> None:
    cluster.seed(config("a"))
    cluster.fail("list", ServerFailure(503, "ServiceUnavailable", "busy"), times=2)
    [waited] = await wait_ready([config("a")], cluster, seconds=LATE)
    assert waited.readiness.is_ready


async def test_a_server_that_refuses_to_be_watched_is_an_error(cluster: MemoryCluster) -> None:
    cluster.seed(deployment("a"))
    cluster.fail("watch", Forbidden(403, "Forbidden", "may not watch deployments"), times=-1)
    with pytest.raises(Forbidden, match="may not watch"):
        await wait_ready([deployment("a")], cluster, seconds=LATE)


async def test_a_kind_that_is_not_served_is_an_error(cluster: MemoryCluster) -> None:
    widget = {"apiVersion": "example.org/v1", "kind": "Widget", "metadata": {"name": "a", "namespace": "default"}}
    with pytest.raises(UnknownKind):
        await wait_ready([widget], cluster, seconds=LATE)


async def test_one_kind_in_one_namespace_is_one_list_and_one_watch(cluster: MemoryCluster) -> None:
    names = [f"c{number}" for number in range(20)]
    cluster.seed(*map(config, names[:10]))
    controller = Controller(lambda: cluster.seed(*map(config, names[10:])))
    await wait_ready(map(config, names), cluster, seconds=LATE, sink=controller)
    assert [request.verb for request in cluster.log] == ["list", "watch"]


def labelled(name: str) -> Manifest:
    return {**config(name), "metadata": {**config(name)["metadata"], "labels": {"set": "1"}}}


async def test_with_a_selector_less_is_read(cluster: MemoryCluster) -> None:
    cluster.seed(labelled("a"), config("b"))
    [waited] = await wait_ready([config("a")], cluster, seconds=LATE, labels="set=1")
    assert waited.readiness.is_ready
    assert cluster.requests["list", "configmaps"] == 1


async def test_what_does_not_match_the_selector_is_found_all_the_same(cluster: MemoryCluster) -> None:
    cluster.seed(labelled("a"), config("b"))
    waited = await wait_ready([config("a"), config("b")], cluster, seconds=LATE, labels="set=1")
    assert [one.readiness.is_ready for one in waited] == [True, True]


async def test_no_task_is_left_behind(cluster: MemoryCluster) -> None:
    before = asyncio.all_tasks()
    await wait_ready([config("a")], cluster, seconds=SOON)
    assert asyncio.all_tasks() == before


# Jobs.


def job(name: str, *conditions: str) -> Manifest:
    status = {"startTime": "2026-01-01T00:00:00Z", "conditions": [{"type": type, "status": "True", "reason": type} for type in conditions]}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": "default"}, "status": status}


async def test_a_job_is_waited_for_until_it_is_complete(cluster: MemoryCluster) -> None:
    cluster.seed(job("a"))
    controller = Controller(lambda: cluster.seed(job("a", "Complete")))
    [waited] = await wait_ready([job("a")], cluster, seconds=LATE, sink=controller)
    assert controller.events[0] == Waiting(waited.ref, "running, 0 active, 0 succeeded, 0 failed")
    assert waited.readiness == (State.READY, "complete, 0 succeeded", False)


@in_virtual_time
async def test_a_job_that_fails_ends_the_wait_at_once_with_its_reason() -> None:
    cluster = MemoryCluster()
    cluster.seed(job("a"), deployment("b"))
    controller = Controller(lambda: cluster.seed(job("a", "Failed")))
    waited = await wait_ready([job("a"), deployment("b")], cluster, seconds=LATE, sink=controller)
    assert [one.reason for one in waited] == ["not ready after 0 s: Failed: Failed", "not ready after 0 s: 0 of 1 replica updated"]


# Objects on which nobody reports.


WIDGET: Manifest = {"apiVersion": "example.org/v1", "kind": "Widget", "metadata": {"name": "w", "namespace": "default"}}


def with_widgets() -> MemoryCluster:
    cluster = MemoryCluster()
    cluster.serve(Resource(Kind("example.org", "v1", "Widget"), "widgets", True, subresources=frozenset({"status"})))
    cluster.seed(WIDGET)
    return cluster


@in_virtual_time
async def test_what_nobody_reports_on_counts_as_it_is_after_a_while_and_with_a_word() -> None:
    controller = Controller()
    [waited] = await wait_ready([WIDGET], with_widgets(), seconds=LATE, sink=controller)
    word = "no status was reported within 5 s, so it is judged as it is"
    assert (waited.readiness, waited.seconds) == ((State.READY, word, False), 5.0)
    assert controller.events == [Waiting(waited.ref, "it has no status yet"), Ready(waited.ref, 5.0, word)]


@in_virtual_time
async def test_what_is_reported_in_time_is_believed() -> None:
    cluster = with_widgets()
    not_ready = {**WIDGET, "status": {"conditions": [{"type": "Ready", "status": "False", "reason": "Slow"}]}}
    controller = Controller(lambda: asyncio.get_running_loop().call_later(4.0, lambda: cluster.seed(not_ready)))
    [waited] = await wait_ready([WIDGET], cluster, seconds=LATE, sink=controller)
    assert waited.readiness == (State.IN_PROGRESS, "Ready: Slow", False)


@in_virtual_time
async def test_other_changes_of_what_nobody_reports_on_do_not_begin_anew() -> None:
    cluster = with_widgets()
    touched = {**WIDGET, "metadata": {**WIDGET["metadata"], "labels": {"a": "b"}}}
    controller = Controller(lambda: asyncio.get_running_loop().call_later(4.0, lambda: cluster.seed(touched)))
    [waited] = await wait_ready([WIDGET], cluster, seconds=LATE, sink=controller)
    assert waited.seconds == 5.0
