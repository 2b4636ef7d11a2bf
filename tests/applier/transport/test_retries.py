"""When a request is sent again, and what becomes of writes whose fate nobody knows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import pytest

from applier.errors import (
    AlreadyExists,
    ClusterError,
    FieldConflict,
    Invalid,
    NotFound,
    ServerFailure,
    TooManyRequests,
    Unreachable,
    WriteConflict,
)
from applier.events import Retried, Throttled
from applier.transport import ApiCluster, refusals
from applier.transport.retries import FAILURE_TRIES, WEBHOOK_TRIES
from tests.connecting import connect_to

from .conftest import Told
from .scripted import CONFIG_MAPS, HASTY, RESET, Answer, Scripted, config_map, raised, status

OBJECT = "/api/v1/namespaces/ns/configmaps/a"
OBJECTS = "/api/v1/namespaces/ns/configmaps"
BUSY = status(429, "TooManyRequests", "busy")._replace(headers={"Retry-After": "0"})
UNAVAILABLE = status(503, "ServiceUnavailable", "shutting down")
FAILED = status(500, "InternalError", "etcdserver: leader changed")
GONE = status(404, "NotFound", 'configmaps "a" not found', name="a")
OTHER = status(409, "Conflict", "Precondition failed: UID in precondition: 1, UID in object meta: 2")
DONE = Answer(200, config_map())


def apply(cluster: ApiCluster) -> Awaitable[Any]:
    return cluster.apply(CONFIG_MAPS, config_map(), manager="m")


def create(cluster: ApiCluster) -> Awaitable[Any]:
    return cluster.create(CONFIG_MAPS, config_map(), manager="m")


def read(cluster: ApiCluster) -> Awaitable[Any]:
    return cluster.get(CONFIG_MAPS, "ns", "a")


def delete(cluster: ApiCluster) -> Awaitable[Any]:
    return cluster.delete(CONFIG_MAPS, "ns", "a", uid="1")


def merge(cluster: ApiCluster) -> Awaitable[Any]:
    return cluster.patch(CONFIG_MAPS, "ns", "a", {"data": {"k": "v"}})


def merge_one_version(cluster: ApiCluster) -> Awaitable[Any]:
    return cluster.patch(CONFIG_MAPS, "ns", "a", {"metadata": {"resourceVersion": "5"}, "data": {"k": "v"}})


def change(cluster: ApiCluster) -> Awaitable[Any]:
    return cluster.patch(CONFIG_MAPS, "ns", "a", [{"op": "add", "path": "/data/z", "value": "v"}])


Call = Callable[[ApiCluster], Awaitable[Any]]


class Case(NamedTuple):
    """What is asked, how the server answers each try, and how many tries that makes."""

    id: str
    call: Call
    method: str
    path: str
    answers: tuple[Answer, ...]
    tries: int


WORKS = [
    Case("a busy server, however often", read, "GET", OBJECT, (BUSY,) * 20 + (DONE,), 21),
    Case("a read that is reset", read, "GET", OBJECT, (RESET, RESET, RESET, DONE), 4),
    Case("a read of a server that fails", read, "GET", OBJECT, (UNAVAILABLE, FAILED, DONE), 3),
    Case("a server that fails among other troubles", apply, "PATCH", OBJECT, (RESET, FAILED, UNAVAILABLE, RESET, FAILED, DONE), 6),
    Case("an apply that is reset", apply, "PATCH", OBJECT, (RESET, DONE), 2),
    Case("an apply of a busy server", apply, "PATCH", OBJECT, (BUSY, DONE), 2),
    Case("a merge patch that is reset", merge, "PATCH", OBJECT, (RESET, DONE), 2),
    Case("a create that is reset", create, "POST", OBJECTS, (RESET, DONE), 2),
    Case("a patch of a busy server", change, "PATCH", OBJECT, (BUSY, DONE), 2),
    Case("a delete that is reset", delete, "DELETE", OBJECT, (RESET, DONE), 2),
    Case("a delete that was done before the reset", delete, "DELETE", OBJECT, (RESET, GONE), 2),
    Case("a delete after which another took the name", delete, "DELETE", OBJECT, (UNAVAILABLE, OTHER), 2),
]


@pytest.mark.parametrize("case", WORKS, ids=lambda case: case.id)
async def test_what_is_harmless_to_repeat_is_repeated_until_it_works(case: Case, server: Scripted, cluster: ApiCluster) -> None:
    server.on(case.method, case.path, *case.answers)
    await case.call(cluster)
    assert len(server.asked(case.method)) == case.tries


class Failing(NamedTuple):
    """A call that ends with an error after so many tries."""

    id: str
    call: Call
    method: str
    path: str
    answers: tuple[Answer, ...]
    error: type[ClusterError]
    tries: int


CONFLICT = status(409, "Conflict", "the object has been modified")
OWNED = status(
    409, "Conflict", "Apply failed", [{"reason": "FieldManagerConflict", "message": 'conflict with "x" using v1', "field": ".data"}]
)
INVALID = status(422, "Invalid", "is invalid")
EXISTS = status(409, "AlreadyExists", "exists")
HOOK = status(500, "InternalError", 'failed calling webhook "w": context deadline exceeded')

FAILS = [
    Failing("a field conflict", apply, "PATCH", OBJECT, (OWNED,), FieldConflict, 1),
    Failing("a write conflict", apply, "PATCH", OBJECT, (CONFLICT,), WriteConflict, 1),
    Failing("an object that is not valid", apply, "PATCH", OBJECT, (INVALID,), Invalid, 1),
    Failing("a conflict after a reset", apply, "PATCH", OBJECT, (RESET, OWNED), FieldConflict, 2),
    Failing("a server that always fails", apply, "PATCH", OBJECT, (FAILED,), ServerFailure, FAILURE_TRIES),
    Failing("a webhook that always fails", apply, "PATCH", OBJECT, (HOOK,), ServerFailure, WEBHOOK_TRIES),
    Failing("a server that is always away", apply, "PATCH", OBJECT, (UNAVAILABLE,), ServerFailure, HASTY.tries),
    Failing("a JSON patch that is reset", change, "PATCH", OBJECT, (RESET,), Unreachable, 1),
    Failing("a JSON patch that fails", change, "PATCH", OBJECT, (FAILED,), ServerFailure, 1),
    Failing("a merge patch for one version that is reset", merge_one_version, "PATCH", OBJECT, (RESET,), Unreachable, 1),
    Failing("a create of what exists", create, "POST", OBJECTS, (EXISTS,), AlreadyExists, 1),
    Failing("a create of what exists after a reset", create, "POST", OBJECTS, (RESET, EXISTS), Unreachable, 2),
    Failing("a create that is not valid after a reset", create, "POST", OBJECTS, (RESET, INVALID), Invalid, 2),
    Failing("a delete of nothing", delete, "DELETE", OBJECT, (GONE,), NotFound, 1),
    Failing("a delete of another", delete, "DELETE", OBJECT, (OTHER,), WriteConflict, 1),
]


@pytest.mark.parametrize("case", FAILS, ids=lambda case: case.id)
async def test_what_cannot_work_ends_with_its_error(case: Failing, server: Scripted, cluster: ApiCluster) -> None:
    server.on(case.method, case.path, *case.answers)
    assert type(await raised(lambda: case.call(cluster))) is case.error


@pytest.mark.parametrize("case", FAILS, ids=lambda case: case.id)
async def test_what_cannot_work_is_not_sent_again(case: Failing, server: Scripted, cluster: ApiCluster) -> None:
    server.on(case.method, case.path, *case.answers)
    await raised(lambda: case.call(cluster))
    assert len(server.asked(case.method)) == case.tries


UNSURE: dict[str, tuple[Call, str, str, tuple[Answer, ...]]] = {
    "a JSON patch that is reset": (change, "PATCH", OBJECT, (RESET,)),
    "a create of what exists after a reset": (create, "POST", OBJECTS, (RESET, EXISTS)),
    "a create of what exists after a failure": (create, "POST", OBJECTS, (UNAVAILABLE, EXISTS)),
}


@pytest.mark.parametrize("case", UNSURE.values(), ids=UNSURE)
async def test_a_write_whose_fate_is_unknown_says_that_it_may_be_done(
    case: tuple[Call, str, str, tuple[Answer, ...]], server: Scripted, cluster: ApiCluster
) -> None:
    call, method, path, answers = case
    server.on(method, path, *answers)
    error = await raised(lambda: call(cluster))
    assert isinstance(error, Unreachable)
    assert error.maybe_done


async def test_a_read_that_is_reset_leaves_nothing_done(server: Scripted, cluster: ApiCluster) -> None:
    server.on("GET", OBJECT, RESET)
    error = await raised(lambda: read(cluster))
    assert isinstance(error, Unreachable)
    assert not error.maybe_done


async def test_a_delete_for_one_version_does_not_take_a_conflict_for_done(server: Scripted, cluster: ApiCluster) -> None:
    server.on("DELETE", OBJECT, UNAVAILABLE, OTHER)
    error = await raised(lambda: cluster.delete(CONFIG_MAPS, "ns", "a", uid="1", resource_version="5"))
    assert isinstance(error, WriteConflict)


async def test_an_object_with_a_generated_name_is_never_made_twice(server: Scripted, cluster: ApiCluster) -> None:
    server.on("POST", OBJECTS, RESET)
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "a-", "namespace": "ns"}}
    await raised(lambda: cluster.create(CONFIG_MAPS, manifest, manager="m"))
    assert len(server.asked("POST")) == 1


async def test_a_repeated_request_is_told_with_the_reason(server: Scripted, cluster: ApiCluster, told: Told) -> None:
    server.on("PATCH", OBJECT, UNAVAILABLE, DONE)
    await apply(cluster)
    [event] = told
    assert isinstance(event, Retried)
    assert (str(event.ref), event.attempt, event.why) == ("ConfigMap/ns/a", 2, "the server failed (503): shutting down")


async def test_a_server_that_slows_us_down_is_told(server: Scripted, cluster: ApiCluster, told: Told) -> None:
    server.on("PATCH", OBJECT, BUSY, DONE)
    await apply(cluster)
    assert [type(event) for event in told] == [Throttled]


async def test_answers_that_slow_us_down_are_counted(server: Scripted, cluster: ApiCluster) -> None:
    server.on("PATCH", OBJECT, BUSY, BUSY, DONE)
    await apply(cluster)
    assert cluster.throttled == 2


async def test_each_try_counts_as_a_request(server: Scripted, cluster: ApiCluster) -> None:
    server.on("PATCH", OBJECT, UNAVAILABLE, DONE)
    await apply(cluster)
    assert cluster.requests == {("patch", "configmaps"): 2}


async def test_a_server_that_never_answered_is_soon_given_up(server: Scripted) -> None:
    server.on("GET", OBJECT, RESET)
    async with connect_to(server.url, retries=HASTY) as fresh:
        await raised(lambda: read(fresh))
    assert len(server.asked()) < HASTY.tries


async def test_a_spent_budget_ends_all_repeating(server: Scripted, cluster: ApiCluster) -> None:
    server.on("GET", OBJECT, UNAVAILABLE)
    cluster.wire.budget.per_second = cluster.wire.budget.left = 0
    await raised(lambda: read(cluster))
    assert len(server.asked()) == 1


async def test_a_server_that_asks_for_an_hour_is_asked_again_sooner_and_that_is_said(
    server: Scripted, cluster: ApiCluster, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refusals, "MAX_PAUSE", 0.02)
    server.on("GET", OBJECT, BUSY._replace(headers={"Retry-After": "9999"}), DONE)
    assert await read(cluster)
    [throttled] = told
    assert isinstance(throttled, Throttled)
    assert throttled.seconds < 1


async def test_a_server_that_goes_on_asking_for_an_hour_ends_with_what_it_asked_for(
    server: Scripted, cluster: ApiCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refusals, "MAX_PAUSE", 0.02)
    monkeypatch.setattr(cluster.wire.retries, "deadline", 1.0)
    server.on("GET", OBJECT, BUSY._replace(headers={"Retry-After": "9999"}))
    error = await raised(lambda: read(cluster))
    assert isinstance(error, TooManyRequests)
    assert "it asks to retry in 9999 s" in str(error)
    assert error.retry_after == 0.02
    assert len(server.heard) > 2


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1])
async def test_a_number_that_no_server_can_keep_is_refused_with_its_place(number: int, server: Scripted, cluster: ApiCluster) -> None:
    with pytest.raises(Invalid, match=r"data\.k\[0\]: a whole number beyond 64 bits, which the server cannot store"):
        await cluster.apply(CONFIG_MAPS, {**config_map(), "data": {"k": [number]}}, manager="m")
    assert not server.asked("PATCH")
