"""Gives memory back that a test has freed, so that one that was large for a moment does not make its worker large for good.

What a thousand connections took, half a gigabyte, the C library keeps for the process, in pieces between what is still used.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

LARGE = 400 << 20
"""Bytes in memory from which on it is worth the while: most files of tests stay below, and it takes some milliseconds."""
STATM = Path("/proc/self/statm")
PAGE = 4096


def resident() -> int:
    """How many bytes of this process are in memory; 0 where that is not told."""
    return int(STATM.read_text().split()[1]) * PAGE if STATM.exists() else 0


def trimmer() -> Callable[[int], int] | None:
    """The function of the C library that gives back what is free; none of another library."""
    return getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None


class _LastFile:
    """Gives memory back whenever the tests of a file are over."""

    def __init__(self) -> None:
        self.name, self.trim = "", trimmer()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        name, self.name = self.name, nodeid.partition("::")[0]
        if name != self.name and self.trim is not None and resident() > LARGE:
            self.trim(0)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(_LastFile(), "memory")
