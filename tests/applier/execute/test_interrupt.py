"""Ctrl-C during a run."""

from __future__ import annotations

import asyncio
import os
import signal
import threading

import pytest

from applier.stop import Stop, ended_by_signal

from ..things import desired, ref
from .lab import Lab

ENDING = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)


def send(number: signal.Signals) -> None:
    os.kill(os.getpid(), number)


@ENDING
async def test_the_first_signal_ends_the_run_with_a_report(number: signal.Signals) -> None:
    lab, stop, told = Lab(), Stop(), list[str]()
    asked = asyncio.Event()

    async def wait(request: object) -> None:
        send(number)
        await asked.wait()

    def tell(number: signal.Signals) -> None:
        told.append(number.name)
        asked.set()

    lab.cluster.before = wait
    with ended_by_signal(stop, tell):
        ended = await lab.apply(desired("a"), desired("b", "ConfigMap", ref("a")), stop=stop)
    assert (ended, told) == ("a=created b=held", [number.name])


@ENDING
async def test_the_second_signal_does_what_it_always_did(number: signal.Signals) -> None:
    stop, before = Stop(), signal.getsignal(number)
    with ended_by_signal(stop):
        send(number)
        while not stop.is_cancelled:
            await asyncio.sleep(0)
        assert signal.getsignal(number) is before


@ENDING
async def test_afterwards_everything_is_as_before(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with ended_by_signal(Stop()):
        assert signal.getsignal(number) is not before
    assert signal.getsignal(number) is before


def test_in_another_thread_it_changes_nothing() -> None:
    errors: list[BaseException] = []

    async def enter() -> None:
        with ended_by_signal(Stop()):
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
    from applier.stop import Stopped

    stop = Stop()
    waiting = asyncio.create_task(stop.pause(60))
    await asyncio.sleep(0)
    stop.cancel()
    with pytest.raises(Stopped):
        await waiting
