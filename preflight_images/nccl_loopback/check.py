"""Implements the check `nccl-loopback`: compares the bus bandwidth of `all_reduce_perf` on the pod's GPUs with a threshold."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from functools import partial

from preflight_images.nccl_loopback.output import Bandwidth, TestFailed, read_output
from preflight_images.shared.nccl import BANDWIDTH, error_of, failure, with_topology
from preflight_images.shared.outcome import PASSED, CheckOutcome, HealthReport, Misconfigured, UnreadableOutput, warn
from preflight_images.shared.settings import CheckSettings, threshold_of

NAME = "nccl-loopback"
CHECK_NAME = "NCCLLoopbackTest"
DEFAULT_THRESHOLD = 10.0
QUERY = ("nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader")
MAX_SIZE = 256 << 20
"""Bytes of the message whose bandwidth is evaluated."""


def command(binary: str, gpus: int) -> tuple[str, ...]:
    """Returns the command of the design, with sizes from 8 bytes to 256 MB by factors of two."""
    return (binary, "-b", "8", "-e", f"{MAX_SIZE >> 20}M", "-f", "2", "-g", str(gpus))


def check(environment: Mapping[str, str], settings: CheckSettings) -> CheckOutcome:
    """Returns the outcome of the test. Raises `Misconfigured`."""
    threshold = threshold_of(environment, "NCCL_LOOPBACK_THRESHOLD_GBPS", DEFAULT_THRESHOLD)
    binary = environment.get("NCCL_TEST_BINARY_PATH") or "all_reduce_perf"
    gpus = count_gpus()
    try:
        with_files = with_topology(environment, partial(warn, NAME))
        ended = subprocess.run(
            command(binary, gpus), env=with_files, capture_output=True, text=True, errors="replace", timeout=settings.timeout, check=False
        )
    except FileNotFoundError:
        raise Misconfigured(f"{binary} is not installed") from None
    except subprocess.TimeoutExpired:
        return failure(CHECK_NAME, "NCCL_TIMEOUT", f"the test did not end within {settings.timeout:.0f} s")
    return verdict(ended.returncode, ended.stdout + ended.stderr, threshold, gpus)


def verdict(code: int, text: str, threshold: float, gpus: int) -> CheckOutcome:
    """Returns the outcome for output and exit code. A single GPU has no link, so that its bandwidth is ignored."""
    try:
        result = read_output(text)
    except TestFailed as error:
        return failure(CHECK_NAME, error_of(str(error)), str(error))
    except UnreadableOutput as error:
        return failure(CHECK_NAME, "NCCL_TEST_ERROR", f"the output cannot be read (exit code {code}): {error}")
    measured = {"bus_bandwidth_gbps": result.bus}
    outcome = _judge(code, result, threshold, gpus)
    return CheckOutcome(outcome.exit_code, outcome.message, outcome.reports, outcome.error_code, measured)


def _judge(code: int, result: Bandwidth, threshold: float, gpus: int) -> CheckOutcome:
    if result.gpus != gpus:
        return failure(CHECK_NAME, "NCCL_TEST_ERROR", f"{result.gpus} of {gpus} GPUs took part")
    if result.size != MAX_SIZE:
        return failure(CHECK_NAME, "NCCL_TEST_ERROR", f"the largest size that was measured is {result.size} bytes, not {MAX_SIZE}")
    if result.wrong:
        return failure(CHECK_NAME, "NCCL_INTERNAL_ERROR", f"{result.wrong} values were wrong")
    if code:
        return failure(CHECK_NAME, "NCCL_TEST_ERROR", f"the test ended with exit code {code}")
    if gpus > 1 and result.bus < threshold:
        return failure(CHECK_NAME, BANDWIDTH, f"{result.bus:g} GB/s between {gpus} GPUs, less than {threshold:g}")
    message = f"{result.bus:g} GB/s between {gpus} GPUs" if gpus > 1 else "passed; one GPU has no link to measure"
    return CheckOutcome(PASSED, message, (HealthReport(CHECK_NAME, message, is_healthy=True),))


def count_gpus() -> int:
    """Returns the number of GPUs of the container. Raises `Misconfigured` without any, and where nvidia-smi does not name all of them."""
    try:
        listed = subprocess.run(QUERY, capture_output=True, text=True, timeout=60, check=True).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise Misconfigured(f"nvidia-smi cannot list the GPUs: {error}") from None
    lines = list(filter(None, map(str.strip, listed.splitlines())))
    strange = next((line for line in lines if not re.fullmatch(r"GPU-\S+", line)), "")
    if strange:  # a test of the other GPUs could pass
        raise Misconfigured(f"nvidia-smi prints no UUID of a GPU: {strange[:200]}")
    if not lines:
        raise Misconfigured("the container has no GPU")
    return len(set(lines))
