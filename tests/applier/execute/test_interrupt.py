"""Ctrl-C during a run."""

from __future__ import annotations

import asyncio
import os
import signal
import threading

import pytest

from applier.execute.options import Stop, ended_by_interrupt

from ..things import desired, ref
from .lab import Lab


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


async def test_the_first_interrupt_ends_the_run_with_a_report() -> None:
    lab, stop, told = Lab(), Stop(), list[str]()
    asked = asyncio.Event()

    async def wait(request: object) -> None:
        interrupt()
        await asked.wait()

    def tell() -> None:
        told.append("stopping")
        asked.set()

    lab.cluster.before = wait
    with ended_by_interrupt(stop, tell):
        ended = await lab.apply(desired("a"), desired("b", "ConfigMap", ref("a")), stop=stop)
    assert (ended, told) == ("a=created b=held", ["stopping"])


async def test_the_second_interrupt_does_what_it_always_did() -> None:
    stop, before = Stop(), signal.getsignal(signal.SIGINT)
    with ended_by_interrupt(stop):
        interrupt()
        while not stop.is_cancelled:
            await asyncio.sleep(0)
        assert signal.getsignal(signal.SIGINT) is before


async def test_afterwards_everything_is_as_before() -> None:
    before = signal.getsignal(signal.SIGINT)
    with ended_by_interrupt(Stop()):
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before


def test_in_another_thread_it_changes_nothing() -> None:
    errors: list[BaseException] = []

    async def enter() -> None:
        with ended_by_interrupt(Stop()):
            pass

    def work() -> None:
        try:
            asyncio.run(enter())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert errors == []


async def test_a_wait_ends_as_soon_as_it_is_asked_to() -> None:
    from applier.execute.options import Stopped

    stop = Stop()
    waiting = asyncio.create_task(stop.pause(60))
    await asyncio.sleep(0)
    stop.cancel()
    with pytest.raises(Stopped):
        await waiting
