"""Runs a check from its environment to its exit code, as the contract wants it (ADR-026, Check contract)."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from preflight_images.shared.connector import Clock, Connector, Undelivered, message_of
from preflight_images.shared.metrics import exposition
from preflight_images.shared.outcome import FAILED, MISCONFIGURED, PASSED, Action, Misconfigured, Outcome, Report
from preflight_images.shared.settings import Settings, read_settings

Check = Callable[[Mapping[str, str], Settings], Outcome]
"""A check: what it is told, to how it ended. It raises `Misconfigured`; anything else that it raises is a fault of ours."""


def run(name: str, check: Check, environment: Mapping[str, str], clock: Clock = time) -> int:
    """Returns the exit code, after the verdict was logged, reported and counted.

    An event that cannot be sent is kept and changes no verdict: a connector that is away must not stop healthy pods, nor let sick ones
    start.
    """
    began = clock.time()
    try:
        settings = read_settings(environment)
    except Misconfigured as error:
        log(name, Outcome(MISCONFIGURED, str(error), error_code="CONFIG"), 0.0)
        return MISCONFIGURED
    outcome = _outcome(name, check, environment, settings)
    if outcome.exit_code == FAILED and not settings.stops_pods:
        outcome = replace(outcome, exit_code=PASSED, message=f"failed, which is only stored: {outcome.message}")
    duration = clock.time() - began
    log(name, outcome, duration)
    _count(settings, exposition(name, settings.node, outcome, duration))
    _report(name, outcome, settings, clock)
    return outcome.exit_code


def _outcome(name: str, check: Check, environment: Mapping[str, str], settings: Settings) -> Outcome:
    try:
        return check(environment, settings)
    except Misconfigured as error:
        report = Report(name, str(error), error_code="CONFIG")
        return Outcome(MISCONFIGURED, str(error), (report,), error_code="CONFIG")
    except Exception as error:  # a check that breaks has not passed, and no hardware is to blame for it
        message = f"the check itself broke: {type(error).__name__}: {error}"
        return Outcome(FAILED, message, (Report(name, message, action=Action.NONE, error_code="CHECK_ERROR"),), error_code="CHECK_ERROR")


def log(name: str, outcome: Outcome, duration: float) -> None:
    """Writes the verdict as one line of JSON."""
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


def say(line: Mapping[str, Any]) -> None:
    """Writes one line of JSON to standard output, at once."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def _report(name: str, outcome: Outcome, settings: Settings, clock: Clock) -> None:
    connector = Connector(settings, lambda text: say({"check": name, "warning": text}), clock)
    at = clock.time()
    try:
        connector.keep([message_of(report, f"preflight-{name}", settings, at) for report in outcome.reports])
        connector.flush()
    except (Undelivered, OSError) as error:
        say({"check": name, "warning": str(error)})


def _count(settings: Settings, text: str) -> None:
    try:
        Path(settings.metrics_file).write_text(text)
    except OSError as error:
        say({"warning": f"metrics cannot be written to {settings.metrics_file}: {error.strerror}"})
