"""Runs a check as the main program of a container (ADR-026, Check contract)."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import NoReturn

from preflight_images.shared.attempt import Check, attempt
from preflight_images.shared.connector import Clock, Connector, Undelivered, message_of
from preflight_images.shared.log import say
from preflight_images.shared.metrics import exposition
from preflight_images.shared.outcome import FAILED, MISCONFIGURED, PASSED, CheckOutcome, Misconfigured
from preflight_images.shared.settings import CheckSettings, read_settings


def main(name: str, check: Check) -> NoReturn:
    """Runs a check as the program of a container, and ends with its exit code, or as a signal asks: then with all that it has started.

    A kernel hides signals from the first process of a container that does not ask for them.
    """
    signal.signal(signal.SIGTERM, _end)
    sys.exit(run(name, check, os.environ))


def _end(number: int, _: FrameType | None) -> NoReturn:
    sys.exit(128 + number)


def run(name: str, check: Check, environment: Mapping[str, str], clock: Clock = time) -> int:
    """Logs, reports and counts the outcome, and returns the exit code.

    An event that cannot be sent is kept and changes no verdict: a connector that is away must not stop healthy pods, nor let sick ones
    start.
    """
    began = clock.time()
    try:
        settings = read_settings(environment)
    except Misconfigured as error:
        log(name, CheckOutcome(MISCONFIGURED, str(error), error_code="CONFIG"), 0.0)
        return MISCONFIGURED
    outcome = attempt(name, check, environment, settings)
    if outcome.exit_code == FAILED and not settings.stops_pods:
        outcome = replace(outcome, exit_code=PASSED, message=f"failed (recorded only): {outcome.message}")
    duration = clock.time() - began
    log(name, outcome, duration)
    _count(settings, exposition(name, settings.node, outcome, duration))
    _report(name, outcome, settings, clock)
    return outcome.exit_code


def log(name: str, outcome: CheckOutcome, duration: float) -> None:
    """Logs the outcome as one line of JSON."""
    say(
        {
            "check": name,
            "result": {PASSED: "passed", FAILED: "failed", MISCONFIGURED: "config_error"}[outcome.exit_code],
            "message": outcome.message,
            "error_code": outcome.error_code,
            "duration_seconds": round(duration, 3),
            **outcome.measured,
        }
    )


def _report(name: str, outcome: CheckOutcome, settings: CheckSettings, clock: Clock) -> None:
    connector = Connector(settings, lambda text: say({"check": name, "warning": text}), clock)
    at = clock.time()
    try:
        connector.keep([message_of(report, f"preflight-{name}", settings, at) for report in outcome.reports])
        connector.flush()
    except (Undelivered, OSError) as error:
        say({"check": name, "warning": str(error)})


def _count(settings: CheckSettings, text: str) -> None:
    try:
        Path(settings.metrics_file).write_text(text)
    except OSError as error:
        say({"warning": f"metrics cannot be written to {settings.metrics_file}: {error.strerror}"})
