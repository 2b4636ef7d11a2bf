"""The design's tables of DCGM results: recommended action, and whether it is fatal."""

from __future__ import annotations

import pytest

from preflight_images.dcgm_diag.diag_json import DiagResult, normal_name
from preflight_images.dcgm_diag.gpus import engine_indices
from preflight_images.dcgm_diag.verdict import judge
from preflight_images.shared.outcome import RecommendedAction
from tests.suite.rows import rows

UUID = "GPU-0e3f2d4c-aaaa-bbbb-cccc-1234567890ab"

# ADR-026, Error to Recommended Action Mapping and isFatal determination: test, result, action, fatal, exit code
TABLE = [
    ("GPU Memory", "FAIL", RecommendedAction.CONTACT_SUPPORT, True, 1),
    ("memory", "FAIL", RecommendedAction.CONTACT_SUPPORT, True, 1),
    ("PCIe", "FAIL", RecommendedAction.CONTACT_SUPPORT, True, 1),
    ("pcie", "FAIL", RecommendedAction.CONTACT_SUPPORT, True, 1),
    ("NVLink", "FAIL", RecommendedAction.CONTACT_SUPPORT, True, 1),
    ("nvbandwidth", "FAIL", RecommendedAction.CONTACT_SUPPORT, True, 1),
    ("Targeted Stress", "FAIL", RecommendedAction.RUN_DCGMEUD, True, 1),
    ("targeted_stress", "FAIL", RecommendedAction.RUN_DCGMEUD, True, 1),
    ("Diagnostic", "FAIL", RecommendedAction.RUN_DCGMEUD, True, 1),
    ("memory", "WARN", RecommendedAction.NONE, False, 0),
    ("targeted_stress", "WARN", RecommendedAction.NONE, False, 0),
    ("a test of tomorrow", "FAIL", RecommendedAction.CONTACT_SUPPORT, True, 1),
    ("software", "FAIL", RecommendedAction.NONE, False, 1),
    ("Persistence Mode", "FAIL", RecommendedAction.NONE, False, 1),
]


@rows(("test", "status", "action", "fatal", "code"), TABLE)
def test_a_result_means_what_the_table_says(test: str, status: str, action: RecommendedAction, fatal: bool, code: int) -> None:
    outcome = judge([DiagResult(normal_name(test), status, 0, "text", (4,))], {0: UUID})
    (report,) = outcome.reports
    assert (report.action, report.is_fatal, outcome.exit_code, report.entities) == (action, fatal, code, (UUID,))


def test_a_pass_clears_what_was_said_before() -> None:
    (report,) = judge([DiagResult("memory", "PASS", 0, "")], {0: UUID}).reports
    assert (report.is_healthy, report.check_name) == (True, "DcgmDiagnosticMemory")


def test_the_engine_s_numbers_are_found_by_uuid() -> None:
    other = UUID.replace("0e3f", "1e3f")
    printed = f"""2 GPUs found.
+--------+----------------------------------------------------------------------+
| GPU ID | Device Information                                                   |
+--------+----------------------------------------------------------------------+
| 0      | Name: NVIDIA H100 80GB HBM3                                          |
|        | PCI Bus ID: 00000000:18:00.0                                         |
|        | Device UUID: {other}                |
+--------+----------------------------------------------------------------------+
| 5      | Name: NVIDIA H100 80GB HBM3                                          |
|        | Device UUID: {UUID}                |
+--------+----------------------------------------------------------------------+
"""
    assert engine_indices(printed) == {other: 0, UUID: 5}


NAMES = {
    4: "DCGM_FR_VOLATILE_DBE_DETECTED",
    29: "DCGM_FR_PERSISTENCE_MODE",
    50: "DCGM_FR_STRESS_LEVEL",
    85: "DCGM_FR_PENDING_ROW_REMAP",
    101: "DCGM_FR_XID_ERROR",
    120: "DCGM_FR_FALLEN_OFF_BUS",
    999: "DCGM_FR_999",
}


@pytest.mark.parametrize("number", NAMES)
def test_an_error_is_told_by_the_name_that_the_platform_knows(number: int) -> None:
    outcome = judge([DiagResult("memory", "FAIL", 0, "text", (number,))], {0: UUID})
    assert outcome.error_code == NAMES[number]
