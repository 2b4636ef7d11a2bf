"""What is said of errors that no task has seen."""

from __future__ import annotations

import asyncio
import logging

import pytest

from applier.transport import run
from applier.transport.connect import unhandled

CLOSED = RuntimeError("unable to perform operation on <TCPTransport closed=True reading=False 0x1>; the handler is closed")


def told(error: Exception, caplog: pytest.LogCaptureFixture) -> list[str]:
    async def fail() -> None:
        asyncio.get_running_loop().call_exception_handler({"message": "Fatal error on SSL protocol", "exception": error})

    with caplog.at_level(logging.ERROR, "asyncio"):
        run(fail())
    return [one.message for one in caplog.records]


def test_nothing_is_said_of_a_write_to_a_connection_that_is_closed(caplog: pytest.LogCaptureFixture) -> None:
    assert told(CLOSED, caplog) == []


def test_of_another_error_is_told_as_ever(caplog: pytest.LogCaptureFixture) -> None:
    assert [one.splitlines()[0] for one in told(RuntimeError("something else"), caplog)] == ["Fatal error on SSL protocol"]


def test_an_error_without_an_exception_is_told(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "asyncio"), asyncio.Runner() as runner:
        unhandled(runner.get_loop(), {"message": "a task was lost"})
    assert [one.message for one in caplog.records] == ["a task was lost"]
