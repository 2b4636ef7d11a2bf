"""Classifies errors of NCCL and PyTorch by the design's taxonomy, with their recommended actions."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping

from preflight_images.shared.outcome import FAILED, CheckOutcome, HealthReport, RecommendedAction
from preflight_images.shared.topology import built_in_file

TOPOLOGY = "NCCL_TOPO_FILE"

ACTIONS = {
    "NCCL_SYSTEM_ERROR": RecommendedAction.CONTACT_SUPPORT,
    "NCCL_INTERNAL_ERROR": RecommendedAction.RUN_DCGMEUD,
    "NCCL_INVALID_USAGE": RecommendedAction.NONE,
    "NCCL_TIMEOUT": RecommendedAction.NONE,
    "NCCL_REMOTE_ERROR": RecommendedAction.CONTACT_SUPPORT,
}
"""ADR-026, Error to Recommended Action Mapping."""
FATAL = {"NCCL_SYSTEM_ERROR", "NCCL_INTERNAL_ERROR", "NCCL_REMOTE_ERROR"}
"""ADR-026, isFatal determination: hardware errors are, timeouts and mistakes of configuration are not."""

BANDWIDTH = "NCCL_BW_DEGRADED"
"""An addition to the design: a working but slow link. It stops the pod without blaming hardware, so that nothing is remediated."""

TEST_ERROR = "NCCL_TEST_ERROR"
"""An addition: the test did not get far enough to evaluate hardware."""

SHARED_MEMORY = "NCCL_SHARED_MEMORY"
"""An addition: NCCL reports a `system error` if a container has too little of /dev/shm, which is no fault of its node."""

PATTERNS = (
    (SHARED_MEMORY, r"no space left on device|/dev/shm"),
    (TEST_ERROR, r"out of memory|OutOfMemoryError"),
    (
        "NCCL_INVALID_USAGE",
        r"invalid (usage|argument)|ncclInvalid(Usage|Argument)"
        r"|driver version is insufficient|no kernel image|unsupported toolchain|forward compatibility|unsupported display driver",
    ),
    ("NCCL_REMOTE_ERROR", r"remote (process|error)|ncclRemoteError|connection (closed|reset) by (remote )?peer|peer closed"),
    ("NCCL_TIMEOUT", r"timeout|timed out"),
    ("NCCL_INTERNAL_ERROR", r"internal error|ncclInternalError"),
    ("NCCL_SYSTEM_ERROR", r"(unhandled )?(system|cuda) error|ncclSystemError|ncclUnhandledCudaError|CUDA failure|CUDA error"),
    ("NCCL_INTERNAL_ERROR", r"nccl"),
)
"""Patterns in order of precedence: an error about a lost peer often contains `system error` as well.

An image that is newer than the driver fails on every node of a cluster, and memory of GPUs may be somebody else's: no hardware is at fault.
"""


def error_of(text: str) -> str:
    """Returns the error of a text: NCCL_INTERNAL_ERROR for an unspecific one of NCCL, NCCL_TEST_ERROR for any other."""
    return next((code for code, pattern in PATTERNS if re.search(pattern, text, re.IGNORECASE)), TEST_ERROR)


def with_topology(environment: Mapping[str, str], tell: Callable[[str], None], instance_type: str = "") -> dict[str, str]:
    """Returns the environment for NCCL with the topology file: the one that it names, else the built-in one for the machine.

    Without either, and without a file that is missing, NCCL detects the topology. Raises `Misconfigured` where it may not.
    """
    file = environment.get(TOPOLOGY, "") or built_in_file(environment, tell, instance_type)
    others = {name: value for name, value in environment.items() if name != TOPOLOGY}
    if not file:
        return others
    if os.path.isfile(file):
        return {**others, TOPOLOGY: file}
    tell(f"there is no topology file {file}; NCCL detects the topology itself")
    return others


def failure(check_name: str, code: str, message: str) -> CheckOutcome:
    """Returns the outcome of a test with an error of the taxonomy, or an addition to it, which is never fatal."""
    report = HealthReport(check_name, message, is_fatal=code in FATAL, action=ACTIONS.get(code, RecommendedAction.NONE), error_code=code)
    return CheckOutcome(FAILED, message, (report,), error_code=code)
