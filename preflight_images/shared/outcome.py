"""Defines the outcome of a check, the exit code that follows from it, what prevents one, and how a check logs: a line of JSON each."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

PASSED, FAILED, MISCONFIGURED = 0, 1, 2
"""The exit codes of the contract (ADR-026, Check contract); there are no others."""


class RecommendedAction(IntEnum):
    """Recommended actions, by the numbers of the connector's `RecommendedAction`."""

    NONE = 0
    COMPONENT_RESET = 2
    CONTACT_SUPPORT = 5
    RUN_FIELDDIAG = 6
    RESTART_VM = 15
    RESTART_BM = 24
    REPLACE_VM = 25
    RUN_DCGMEUD = 26
    CUSTOM = 27
    UNKNOWN = 99


@dataclass(frozen=True, slots=True)
class HealthReport:
    """A report about GPUs (`entities` are their UUIDs), or about the node if there are none.

    A report that is healthy clears what an earlier one said. `is_fatal` says that the hardware is faulty.
    """

    check_name: str
    message: str
    is_healthy: bool = False
    is_fatal: bool = False
    action: RecommendedAction = RecommendedAction.NONE
    error_code: str = ""
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """The outcome of a check: exit code, reports, and a message."""

    exit_code: int
    message: str
    reports: tuple[HealthReport, ...] = ()
    error_code: str = ""
    measured: dict[str, float] = field(default_factory=dict)
    gang_wait: tuple[str, float] | None = None
    """The gang, and the seconds that the check waited for it."""


class Misconfigured(Exception):
    """A missing or invalid setting. The message is one line."""


class UnreadableOutput(Exception):
    """Reports output of a program that is cut off, garbled, or without a complete result. The message is one line."""


def say(line: Mapping[str, Any]) -> None:
    """Writes one line of JSON to standard output, at once."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def warn(check: str, text: str) -> None:
    """Logs circumstances that may explain the result of a check."""
    say({"check": check, "warning": text})


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Returns the map of a JSON object. Raises `ValueError` for a key that is there twice: which of the values holds, nobody knows."""
    keys = dict(pairs)
    if len(keys) < len(pairs):
        raise ValueError(f"a key is duplicated among {', '.join(key[:40] for key, _ in pairs[:10])}")
    return keys
