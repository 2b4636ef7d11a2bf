"""SIGINT and SIGTERM end a command with an account of what was done until then."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from applier.testing.memory.faults import MemoryRequest

from .in_memory import Bench, config_map, deployment

ENDING = pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["SIGINT", "SIGTERM"])


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def on(bench: Bench, due: Callable[[MemoryRequest], bool], number: signal.Signals) -> None:
    """Sends a signal to this process at the first request that is due, and lets its handler come."""
    default = signal.getsignal(number)
    sent = False

    async def before(request: MemoryRequest) -> None:
        nonlocal sent
        handler = signal.getsignal(number)
        if not sent and due(request) and handler is not default:
            sent = True
            os.kill(os.getpid(), number)
            while signal.getsignal(number) is handler:
                await asyncio.sleep(0)

    bench.cluster.before = before


@ENDING
def test_what_is_in_flight_is_finished_and_the_rest_is_held(bench: Bench, number: signal.Signals, code: int) -> None:
    on(bench, lambda request: request.writes, number)
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new"}}
    ended = bench.run("apply", bench.file(namespace, config_map("late", "new")))
    assert (ended.code, ended.out) == (code, "namespace/new created\n")
    assert "ConfigMap/new/late: held" in ended.err


@ENDING
def test_a_wait_ends_with_what_was_applied(bench: Bench, number: signal.Signals, code: int) -> None:
    on(bench, lambda request: request.verb == "watch", number)
    ended = bench.run("apply", bench.file(deployment("web")), "--wait")
    assert (ended.code, ended.out) == (code, "deployment.apps/web created\n")
    assert "stopping after the requests in flight; send the signal again to abort" in ended.err
    assert "the run was stopped before everything was ready" in ended.err


@ENDING
@pytest.mark.parametrize("whole_set", [False, True], ids=["files", "a set"])
def test_a_delete_that_waits_ends_with_what_is_still_there(bench: Bench, number: signal.Signals, code: int, whole_set: bool) -> None:
    held = config_map("a")
    held["metadata"]["finalizers"] = ["example.com/never"]
    file = bench.file(held, config_map("b"))
    bench.run("apply", file, "--applyset=web", "-n", "shop")
    on(bench, lambda request: request.verb == "watch", number)
    ended = bench.run("delete", *(("--applyset=web",) if whole_set else (file,)), "-n", "shop")
    assert ended.code == code
    assert "ConfigMap/shop/a: failed: is deleted but may still exist: the run was stopped before its deletion was confirmed" in ended.err


@ENDING
def test_a_second_signal_breaks_a_wait_for_what_is_in_flight_off(bench: Bench, number: signal.Signals, code: int) -> None:
    async def hang(request: MemoryRequest) -> None:
        if request.writes:
            handler = signal.getsignal(number)
            os.kill(os.getpid(), number)
            while signal.getsignal(number) is handler:
                await asyncio.sleep(0)
            os.kill(os.getpid(), number)
            await asyncio.sleep(60)

    bench.cluster.before = hang
    assert bench.run("apply", bench.file(config_map("a"))).code == code


@ENDING
def test_a_delete_begins_nothing_after_a_signal(bench: Bench, number: signal.Signals, code: int) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new"}}
    file = bench.file(namespace, config_map("a", "new"))
    bench.run("apply", file)
    on(bench, lambda request: request.verb == "delete", number)
    ended = bench.run("delete", file)
    assert ended.code == code
    assert "ConfigMap/new/a: failed: is deleted but may still exist" in ended.err
    assert "Namespace/new: held: not done: the run was stopped before" in ended.err
    assert bench.find("Namespace", "new", "")


def test_an_object_that_was_replaced_is_told_and_stays(bench: Bench) -> None:
    bench.cluster.seed(config_map("a"))

    async def replace(request: MemoryRequest) -> None:
        if request.verb == "delete" and bench.find("ConfigMap", "a")["data"] == {}:
            from applier.ref import Ref

            bench.cluster.store.remove(Ref.of(config_map("a")))
            bench.cluster.seed(config_map("a", x="another"))

    bench.cluster.before = replace
    ended = bench.run("delete", bench.file(config_map("a")))
    message = "grove: ConfigMap/shop/a not deleted: was replaced by another object of this name since it was read\n"
    assert (ended.code, ended.err) == (2, message)
    assert bench.find("ConfigMap", "a")["data"] == {"x": "another"}
