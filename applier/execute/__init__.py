"""Plans carried out on a cluster. The parts are imported when they are asked for: who only compares writes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from applier.lazy import lazily

if TYPE_CHECKING:
    from applier.execute.concurrency import Concurrency
    from applier.execute.executor import STOPPED, execute
    from applier.execute.options import AfterWrite, ExecuteOptions, Stop, Timeouts, ended_by_interrupt

__all__ = ["STOPPED", "AfterWrite", "Concurrency", "ExecuteOptions", "Stop", "Timeouts", "ended_by_interrupt", "execute"]

__getattr__ = lazily(
    __name__,
    {
        "concurrency": ("Concurrency",),
        "executor": ("STOPPED", "execute"),
        "options": ("AfterWrite", "ExecuteOptions", "Stop", "Timeouts", "ended_by_interrupt"),
    },
)
