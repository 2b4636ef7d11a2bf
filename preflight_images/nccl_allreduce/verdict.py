"""Combines the results of a pod's ranks into one outcome. Each pod reports about its own node."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from preflight_images.nccl_allreduce.benchmark import COLLECTIVE, INIT
from preflight_images.shared.nccl import BANDWIDTH, FATAL, error_of, failure
from preflight_images.shared.outcome import PASSED, CheckOutcome, HealthReport, unique_keys

CHECK_NAME = "NCCLAllReduceTest"
MEASURED = {"bus_bandwidth_gbps", "ranks", "rank"}
"""What the report of a rank says that has measured."""
OF_THE_STORE = re.compile(r"Dist(Store|Network)Error\b")
"""Errors of PyTorch's store, by which ranks connect over TCP: they concern the first pod and the pod network, not NCCL."""


def gang_timeout(message: str) -> CheckOutcome:
    """Returns the outcome of a gang that did not form, which blames no hardware (ADR-026, Timeout handling)."""
    return failure(CHECK_NAME, "NCCL_GANG_TIMEOUT", message)


def read_report(name: str, text: str) -> dict[str, Any]:
    """Returns the report of a rank, which is called by its number. One that is cut off, garbled or another's is the report of an error."""
    rank = int(name) if name.isdecimal() else 0
    try:
        report = json.loads(text, object_pairs_hook=unique_keys)
    except (ValueError, RecursionError) as error:
        return {"rank": rank, "phase": COLLECTIVE, "error": f"its report cannot be read: {error}"}
    told = report.get("error") if isinstance(report, dict) else ""
    if isinstance(told, str) and told and report.get("phase") in (INIT, COLLECTIVE):
        return {**report, "rank": rank}
    if not isinstance(report, dict) or set(report) - {"phase"} != MEASURED or report["rank"] != rank:
        return {"rank": rank, "phase": COLLECTIVE, "error": f"its report contains no measurement: {text[:200]!r}"}
    numbers = report["bus_bandwidth_gbps"], report["ranks"]
    if any(isinstance(number, bool) or not isinstance(number, int | float) for number in numbers):
        return {"rank": rank, "phase": COLLECTIVE, "error": f"its report has no numbers: {text[:200]!r}"}
    return report


def judge(ranks: Sequence[dict[str, Any]], expected: int, threshold: float, ended: str, world: int = 0) -> CheckOutcome:
    """Returns the outcome for the reports of `expected` ranks. `ended` is the error of torchrun, empty for success.

    `world` is the number of ranks of the gang, 0 if nobody knows it.
    """
    errors = [rank for rank in ranks if rank.get("error")]
    if errors:
        return _failed(errors)
    if len(ranks) < expected:
        why = ended or "torchrun ended without an error"
        return failure(CHECK_NAME, "NCCL_TIMEOUT", f"{expected - len(ranks)} of {expected} ranks of this pod reported nothing: {why}")
    sizes = {rank["ranks"] for rank in ranks}
    if len(sizes | ({world} if world else set())) > 1 or len({rank["rank"] for rank in ranks}) < len(ranks):
        told = ", ".join(map(str, sorted(sizes)))
        return failure(CHECK_NAME, "NCCL_TEST_ERROR", f"ranks of this pod report {told} ranks, but there are {world or 'fewer'}")
    found = [float(rank["bus_bandwidth_gbps"]) for rank in ranks]
    slowest = next((each for each in found if not math.isfinite(each)), min(found))
    message = f"{slowest:g} GB/s across {ranks[0]['ranks']} ranks"
    measured = {"bus_bandwidth_gbps": slowest}
    if ranks[0]["ranks"] > 1 and not threshold <= slowest < math.inf:  # true for NaN as well
        return replace(failure(CHECK_NAME, BANDWIDTH, f"{message}, less than {threshold:g}"), measured=measured)
    if ended:
        return failure(CHECK_NAME, "NCCL_TEST_ERROR", ended)
    return CheckOutcome(PASSED, message, (HealthReport(CHECK_NAME, message, is_healthy=True),), measured=measured)


def _failed(errors: Sequence[dict[str, Any]]) -> CheckOutcome:
    """Returns the most specific error: one of hardware rather than the timeout of a rank that waited for it."""
    ordered = sorted(errors, key=lambda rank: (error_of(rank["error"]) not in FATAL or _is_of_the_store(rank), rank["rank"]))
    first = ordered[0]
    code = error_of(first["error"])
    while_doing = "while the ranks were connecting" if first["phase"] == "init" else "in the collective"
    if _is_of_the_store(first) or (first["phase"] == "init" and code == "NCCL_TIMEOUT"):
        code = "NCCL_INIT_TIMEOUT"
    return failure(CHECK_NAME, code, f"rank {first['rank']} failed {while_doing}: {first['error']}")


def _is_of_the_store(rank: dict[str, Any]) -> bool:
    return rank["phase"] == "init" and OF_THE_STORE.match(rank["error"]) is not None
