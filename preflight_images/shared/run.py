"""Runs a check as the main program of a container (ADR-026, Check contract)."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import FrameType
from typing import NoReturn

from preflight_images.shared.connector import Clock, Connector, Undelivered, message_of
from preflight_images.shared.outcome import FAILED, MISCONFIGURED, PASSED, CheckOutcome, Misconfigured, say, warn
from preflight_images.shared.settings import Check, CheckSettings, attempt, read_settings

MAX_BYTES = 4096
MAX_COMMENT_LENGTH = 512
RESULTS = {PASSED: "passed", FAILED: "failed", MISCONFIGURED: "config_error"}


def exposition(check: str, node: str, outcome: CheckOutcome, duration: float) -> str:
    """Returns the metrics of a run for Prometheus, after a comment with its result.

    A check lives for seconds and no scraper finds it, so it leaves them as its termination message, which the kubelet puts into the pod's
    status (at most 4096 bytes); the gang controller, which watches pods, adds them up.
    """
    lines = [f"# {' '.join(outcome.message.split())[:MAX_COMMENT_LENGTH]}\n"]
    lines += [_sample("preflight_check_total", 1, check=check, result=RESULTS[outcome.exit_code])]
    lines.append(_sample("preflight_check_duration_seconds", round(duration, 3), check=check))
    if outcome.exit_code == FAILED:
        lines.append(_sample("preflight_check_failures_total", 1, check=check, node=node, error_code=outcome.error_code))
    if outcome.exit_code == MISCONFIGURED:
        lines.append(_sample("preflight_config_errors_total", 1, error=outcome.error_code))
    if outcome.gang_wait is not None:
        workload, seconds = outcome.gang_wait
        lines.append(_sample("preflight_gang_wait_seconds", round(seconds, 3), workload=workload))
    lines += [_sample(f"preflight_{name}", round(value, 3), check=check, node=node) for name, value in outcome.measured.items()]
    fitting: list[str] = []
    for line in lines:
        if len("".join((*fitting, line)).encode()) <= MAX_BYTES:
            fitting.append(line)
    return "".join(fitting)


def _sample(name: str, value: float, **labels: str) -> str:
    pairs = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
    return f"{name}{{{pairs}}} {value}\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def main(name: str, check: Check) -> NoReturn:
    """Runs a check as the program of a container, and ends with its exit code, or as a signal asks: then with all that it has started.

    A kernel hides signals from the first process of a container that does not ask for them.
    """
    signal.signal(signal.SIGTERM, _end)
    sys.exit(run(name, check, os.environ))


def _end(number: int, _: FrameType | None) -> NoReturn:
    sys.exit(128 + number)


@contextmanager
def deferred_sigterm() -> Iterator[None]:
    """Has a SIGTERM that arrives in the block take effect at its end."""
    arrived: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: arrived.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        if arrived:
            signal.raise_signal(signal.SIGTERM)


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
            "result": RESULTS[outcome.exit_code],
            "message": outcome.message,
            "error_code": outcome.error_code,
            "duration_seconds": round(duration, 3),
            **outcome.measured,
        }
    )


def _report(name: str, outcome: CheckOutcome, settings: CheckSettings, clock: Clock) -> None:
    connector = Connector(settings, partial(warn, name), clock)
    at = clock.time()
    try:
        connector.keep([message_of(report, f"preflight-{name}", settings, at) for report in outcome.reports])
        connector.flush()
    except (Undelivered, OSError) as error:
        warn(name, str(error))


def _count(settings: CheckSettings, text: str) -> None:
    try:
        Path(settings.metrics_file).write_text(text)
    except OSError as error:
        say({"warning": f"metrics cannot be written to {settings.metrics_file}: {error.strerror}"})
