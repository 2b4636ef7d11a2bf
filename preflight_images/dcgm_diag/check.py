"""Implements the check `dcgm-diag`: runs a diagnostic of the pod's GPUs by the node's host engine, and evaluates the results."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from preflight_images.dcgm_diag.diag_json import read_diag
from preflight_images.dcgm_diag.gpus import NotWhole, UnreadableList, engine_indices, own_uuids
from preflight_images.dcgm_diag.verdict import BUSY, TAKEN, TESTS, judge, missing, required_tests, unrequested
from preflight_images.shared.outcome import (
    FAILED,
    MISCONFIGURED,
    CheckOutcome,
    HealthReport,
    Misconfigured,
    RecommendedAction,
    UnreadableOutput,
)
from preflight_images.shared.run import deferred_sigterm
from preflight_images.shared.settings import CheckSettings, required, whole

NAME = "dcgm-diag"
TRIES, PAUSE = 10, 10
"""The default number of attempts while the engine is busy with another diagnostic, and the seconds between them."""

TO_STOP = 15.0
"""Seconds for dcgmi to stop its diagnostic: half of the grace period of a pod."""


class ProcessResult(NamedTuple):
    """The result of a program."""

    code: int
    out: str
    err: str


def check(environment: Mapping[str, str], settings: CheckSettings) -> CheckOutcome:
    """Returns the outcome of the diagnostic. An unreachable or busy engine fails the check, and blames no GPU. Raises `Misconfigured`."""
    level = whole(environment, "DCGM_DIAG_LEVEL", min(TESTS), range(min(TESTS), max(TESTS) + 1))
    tests = required_tests(environment, level)
    address = required(environment, "DCGM_HOSTENGINE_ADDR")
    try:
        uuids = own_uuids(lambda command: printed(command, settings.timeout))
    except NotWhole as error:
        return lost(str(error)) if error.is_lost else unknown("NVML_ERROR", str(error))
    try:
        discovery = execute(("dcgmi", "discovery", "--host", address, "-l"), settings.timeout)
    except FileNotFoundError:
        raise Misconfigured("dcgmi is not installed") from None
    except subprocess.TimeoutExpired:
        return unknown("DCGM_UNREACHABLE", f"the engine at {address} did not answer within {settings.timeout:.0f} s")
    if discovery.code:
        return unknown("DCGM_UNREACHABLE", f"the engine at {address} cannot be queried: {first_line(discovery)}")
    try:
        indices = engine_indices(discovery.out)
    except UnreadableList as error:
        return unknown("DCGM_UNREADABLE", str(error))
    foreign = [uuid for uuid in uuids if uuid not in indices]
    if foreign:
        return unknown("DCGM_OTHER_NODE", f"the engine at {address} does not know {foreign[0]}: does its Service lead to another node?")
    own = {indices[uuid]: uuid for uuid in uuids}
    numbers = ",".join(str(index) for index in sorted(own))
    command = ("dcgmi", "diag", "--host", address, "-r", str(level), "-i", numbers, "-j")
    tries = whole(environment, "DCGM_DIAG_STATUS_RETRY_MAX_ATTEMPTS", TRIES, range(1, 1001))
    pause = whole(environment, "DCGM_DIAG_STATUS_RETRY_INTERVAL_SECONDS", PAUSE, range(3601))
    end = time.monotonic() + settings.timeout
    try:
        ended = until_free(lambda: execute(command, end - time.monotonic()), tries, pause, end)
    except subprocess.TimeoutExpired:
        return unknown("DCGM_TIMEOUT", f"the diagnostic did not end within {settings.timeout:.0f} s")
    return verdict(ended, own, tests)


def until_free(
    run: Callable[[], ProcessResult],
    tries: int,
    pause: float,
    end: float,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> ProcessResult:
    """Retries until `end` while the engine is busy with another diagnostic; returns the last result."""
    ended = run()
    for _ in range(tries - 1):
        if ended.code not in TAKEN or clock() + pause >= end:
            break
        sleep(pause)
        ended = run()
    return ended


def verdict(ended: ProcessResult, own: Mapping[int, str], required: Sequence[str]) -> CheckOutcome:
    """Returns the outcome for the output and exit code of dcgmi; GPUs are keyed by the engine's index.

    Each of them needs a verdict of each `required` test. Whatever the output does not explain is no pass.
    """
    if ended.code in BUSY:
        return unknown("DCGM_BUSY", f"no diagnostic was run: {BUSY[ended.code]}")
    try:
        results = read_diag(ended.out)
    except UnreadableOutput as error:
        return unknown("DCGM_UNREADABLE", f"what dcgmi printed cannot be read (exit code {ended.code}): {error}")
    others = ", ".join(map(str, unrequested(results, own)))
    if others:
        return unknown("DCGM_UNREADABLE", f"the results include GPU {others}, which dcgmi was not asked to test (exit code {ended.code})")
    outcome = judge(results, own)
    if outcome.exit_code:
        return outcome
    if ended.code:
        return unknown("DCGM_UNREADABLE", f"dcgmi ended with exit code {ended.code}, but no reported test has failed")
    untested = missing(results, own, required)
    return incomplete(untested) if untested else outcome


def unknown(code: str, message: str) -> CheckOutcome:
    """Returns the failure of a check without results about the GPUs, which blames no hardware."""
    return CheckOutcome(FAILED, message, (HealthReport("DcgmDiagnostic", message, error_code=code),), error_code=code)


def incomplete(untested: Sequence[str]) -> CheckOutcome:
    """Returns the end of a check whose tests did not run: the level, or the version of DCGM, does not suit these GPUs."""
    message = f"there is no verdict for {'; '.join(untested)}; a lower DCGM_DIAG_LEVEL, or DCGM_DIAG_REQUIRED_TESTS, may suit these GPUs"
    report = HealthReport("DcgmDiagnostic", message, error_code="DCGM_INCOMPLETE")
    return CheckOutcome(MISCONFIGURED, message, (report,), error_code="DCGM_INCOMPLETE")


def lost(message: str) -> CheckOutcome:
    """Returns the failure of a GPU that cannot be diagnosed because it has fallen off the bus."""
    code = "DCGM_FR_FALLEN_OFF_BUS"
    report = HealthReport("DcgmDiagnostic", message, is_fatal=True, action=RecommendedAction.CONTACT_SUPPORT, error_code=code)
    return CheckOutcome(FAILED, message, (report,), error_code=code)


def printed(command: Sequence[str], timeout: float) -> str:
    """Returns the output of a program. Raises `OSError` and `subprocess.SubprocessError`."""
    ended = execute(command, timeout)
    if ended.code:
        raise subprocess.CalledProcessError(ended.code, command[0])
    return ended.out


def execute(command: Sequence[str], timeout: float) -> ProcessResult:
    """Runs a program. Raises `OSError` and, after terminating it, `subprocess.TimeoutExpired`.

    One that is asked has the engine stop; else that would go on diagnosing for nobody, and reject whoever comes next.
    """
    process = None
    try:
        with deferred_sigterm():  # one that arrives in the middle of a start would leave a program that nobody knows
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
        out, err = process.communicate(timeout=max(0.0, timeout))
    except BaseException:  # including the termination of the check itself
        if process is not None:
            _stop(process)
        raise
    return ProcessResult(process.returncode & 0xFF, out, err)


def _stop(process: subprocess.Popen[str]) -> None:
    with process:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=TO_STOP)
        process.kill()


def first_line(ended: ProcessResult) -> str:
    """Returns the first line of a program's output."""
    return next((line.strip() for line in (ended.err + "\n" + ended.out).splitlines() if line.strip()), f"exit code {ended.code}")
