"""Describes where a process stands: the stacks of its threads, and of the tasks of its event loop."""

from __future__ import annotations

import asyncio
import sys
import threading
import traceback
from collections.abc import Iterator
from types import FrameType
from typing import Any


def stacks(frame: FrameType | None) -> str:
    """Returns the stacks of all threads and tasks as text. `frame` is where the calling thread was interrupted."""
    return "\n".join([*_of_threads(frame), *_of_tasks()])


def _of_threads(frame: FrameType | None) -> Iterator[str]:
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    for ident, top in sys._current_frames().items():
        here = frame if ident == threading.get_ident() and frame else top
        yield f"--- thread {names.get(ident, ident)}\n{''.join(traceback.format_stack(here))}"


def _of_tasks() -> Iterator[str]:
    """Yields the tasks of the loop that runs in this thread; a signal handler is called inside of it."""
    if (loop := asyncio._get_running_loop()) is None:
        return
    for task in sorted(asyncio.all_tasks(loop), key=lambda task: task.get_name()):
        lines = traceback.StackSummary.extract((one, one.f_lineno) for one in _frames(task.get_coro())).format()
        yield f"--- task {task.get_name()}\n{''.join(lines)}"


def _frames(awaited: Any) -> Iterator[FrameType]:
    """Yields the frames of a suspended coroutine, and of each that it awaits; `Task.get_stack` has only the first."""
    while awaited is not None:
        for prefix, next_name in (("cr", "cr_await"), ("gi", "gi_yieldfrom"), ("ag", "ag_await")):
            if hasattr(awaited, next_name):
                if (frame := getattr(awaited, f"{prefix}_frame")) is not None:
                    yield frame
                awaited = getattr(awaited, next_name)
                break
        else:
            return
