"""Evaluates the results of a diagnostic by the design's table of recommended actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from preflight_images.dcgm_diag.diag_json import DiagResult
from preflight_images.dcgm_diag.error_names import name_of
from preflight_images.dcgm_diag.levels import DEPLOYMENT
from preflight_images.shared.outcome import FAILED, PASSED, CheckOutcome, HealthReport, RecommendedAction

ACTIONS = {
    "memory": RecommendedAction.CONTACT_SUPPORT,
    "pcie": RecommendedAction.CONTACT_SUPPORT,
    "nvlink": RecommendedAction.CONTACT_SUPPORT,
    "nvbandwidth": RecommendedAction.CONTACT_SUPPORT,
    "memory_bandwidth": RecommendedAction.CONTACT_SUPPORT,
    "memtest": RecommendedAction.CONTACT_SUPPORT,
    "diagnostic": RecommendedAction.RUN_DCGMEUD,
    "targeted_stress": RecommendedAction.RUN_DCGMEUD,
    "targeted_power": RecommendedAction.RUN_DCGMEUD,
    "pulse_test": RecommendedAction.RUN_DCGMEUD,
}
"""Recommended actions by test (ADR-026, Error to Recommended Action Mapping).

The design's Memory, PCIe and NVLink need support, its Stress is what loads a GPU. Tests that it does not name stand with those of their
sort; any other needs support, too.
"""

NOT_HARDWARE = {"software", *DEPLOYMENT} - {"page_retirement/row_remap", "inforom"}
"""Tests of the deployment: a failure is a misconfiguration of the machine, which no replacement of a GPU resolves."""
HARDWARE = frozenset(range(9, 16))
"""DCGM's categories of hardware errors: heat, memory, NVLink, NVSwitch, PCIe, power, other.

Version 4 reports failed row remappings and pending page retirements in its test of the deployment.
"""

BUSY = {203: "was killed", 217: "another diagnostic is already running", 222: "the GPUs are in use", 242: "the engine has no data"}
"""Exit codes of dcgmi about the engine and not about GPUs (the low byte of a DCGM status)."""
TAKEN = {217, 222}
"""Exit codes of a busy engine, which are retried."""


def judge(results: Sequence[DiagResult], uuids: Mapping[int, str]) -> CheckOutcome:
    """Returns the outcome for the pod's own GPUs, `uuids` by the engine's index. There are no results of `unrequested`."""
    sent = [report for result in results if (report := _report(result, uuids)) is not None]
    failed = [result for result in results if result.status == "FAIL"]
    if failed:
        names = ", ".join(dict.fromkeys(result.test for result in failed))
        return CheckOutcome(FAILED, f"failed: {names}", tuple(sent), error_code=_code(failed[0]))
    warned = any(not report.is_healthy for report in sent)
    return CheckOutcome(PASSED, "passed with warnings" if warned else "passed", tuple(sent))


def unrequested(results: Sequence[DiagResult], uuids: Mapping[int, str]) -> list[int]:
    """Returns the GPUs with results that are none of the pod's.

    Nobody asked for them, so the output is of another diagnostic, or garbled.
    """
    return sorted({result.gpu for result in results if result.gpu is not None and result.gpu not in uuids})


def _report(result: DiagResult, uuids: Mapping[int, str]) -> HealthReport | None:
    if result.status == "SKIP":
        return None
    entities = (uuids[result.gpu],) if result.gpu is not None else ()
    name = "DcgmDiagnostic" + "".join(word.capitalize() for word in result.test.split("_"))
    if result.status == "PASS":
        return HealthReport(name, "passed", is_healthy=True, entities=entities)
    if result.status == "WARN":
        return HealthReport(name, result.message or "warning", error_code=_code(result), entities=entities)
    if result.test in NOT_HARDWARE and not HARDWARE.intersection(result.categories):
        return HealthReport(name, result.message or "failed", error_code=_code(result), entities=entities)
    action = ACTIONS.get(result.test, RecommendedAction.CONTACT_SUPPORT)
    return HealthReport(name, result.message or "failed", is_fatal=True, action=action, error_code=_code(result), entities=entities)


def _code(result: DiagResult) -> str:
    return name_of(result.error_ids[0]) if result.error_ids else f"DCGM_{result.test.upper()}_{result.status}"
