"""Evaluates the results of a diagnostic by the design's table of recommended actions, and finds required tests without a verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from preflight_images.dcgm_diag.diag_json import DiagResult
from preflight_images.shared.outcome import FAILED, PASSED, CheckOutcome, HealthReport, Misconfigured, RecommendedAction

TESTS = {
    1: ("software",),
    2: ("memory", "pcie"),
    3: ("diagnostic", "memory_bandwidth", "targeted_stress", "targeted_power"),
    4: ("memtest", "pulse_test"),
}
"""The tests that each level adds to those below it, by their names in version 4, in all versions of DCGM since 3.0."""

NEWER = {3: ("nvbandwidth", "nccl_tests")}
"""Tests of a level that only newer versions have, so that they are not required unless the configuration says so."""

DEPLOYMENT = {
    "denylist",
    "nvml_library",
    "cuda_main_library",
    "cuda_toolkit_library",
    "permissions_and_os_blocks",
    "persistence_mode",
    "environment_variables",
    "page_retirement/row_remap",
    "graphics_processes",
    "inforom",
}
"""What version 4 calls `software`, in version 3: tests of the machine, whose results name no GPU and hold for all."""


def required_tests(environment: Mapping[str, str], level: int) -> tuple[str, ...]:
    """Returns the tests of which each GPU needs a verdict: those of the level, or those that the environment names.

    Raises `Misconfigured` for a test that no such diagnostic makes.
    """
    usual = tuple(test for of, tests in TESTS.items() for test in tests if of <= level)
    made = (*usual, *(test for of, tests in NEWER.items() for test in tests if of <= level))
    named = tuple(filter(None, map(str.strip, environment.get("DCGM_DIAG_REQUIRED_TESTS", "").split(","))))
    for test in named:
        if test not in made:
            raise Misconfigured(f"DCGM_DIAG_REQUIRED_TESTS names the test {test!r}; a diagnostic of level {level} has {', '.join(made)}")
    return named or usual


def missing(results: Sequence[DiagResult], uuids: Mapping[int, str], required: Sequence[str]) -> list[str]:
    """Returns the required tests without a verdict for some of the pod's GPUs, as `pcie of GPU-…, GPU-…`; `uuids` by the engine's index.

    A test that was skipped, or not run, has no verdict. Of a diagnostic of several rounds each round counts.
    """
    return list(dict.fromkeys(_missing(results, uuids, required)))


def _missing(results: Sequence[DiagResult], uuids: Mapping[int, str], required: Sequence[str]) -> Iterator[str]:
    for number in {result.round for result in results}:
        ran = [result for result in results if result.round == number and result.status != "SKIP"]
        for test in required:
            gpus = {result.gpu for result in ran if _name(result) == test}
            untested = [uuid for index, uuid in uuids.items() if index not in gpus]
            if untested and not (test == "software" and any(map(_holds_for_all, ran))):
                yield f"{test} of {', '.join(untested)}"


def _name(result: DiagResult) -> str:
    return "software" if result.test in DEPLOYMENT else result.test


def _holds_for_all(result: DiagResult) -> bool:
    return _name(result) == "software" and result.gpu is None and not result.names_entity and result.status == "PASS"


PREFIX = "DCGM_FR_"
IN_ORDER = """
OK UNKNOWN UNRECOGNIZED PCI_REPLAY_RATE VOLATILE_DBE_DETECTED VOLATILE_SBE_DETECTED PENDING_PAGE_RETIREMENTS RETIRED_PAGES_LIMIT
RETIRED_PAGES_DBE_LIMIT CORRUPT_INFOROM CLOCKS_EVENT_THERMAL POWER_UNREADABLE CLOCKS_EVENT_POWER NVLINK_ERROR_THRESHOLD
NVLINK_DOWN NVSWITCH_FATAL_ERROR NVSWITCH_NON_FATAL_ERROR NVSWITCH_DOWN NO_ACCESS_TO_FILE NVML_API DEVICE_COUNT_MISMATCH
BAD_PARAMETER CANNOT_OPEN_LIB DENYLISTED_DRIVER NVML_LIB_BAD GRAPHICS_PROCESSES HOSTENGINE_CONN FIELD_QUERY BAD_CUDA_ENV
PERSISTENCE_MODE LOW_BANDWIDTH HIGH_LATENCY CANNOT_GET_FIELD_TAG FIELD_VIOLATION FIELD_THRESHOLD FIELD_VIOLATION_DBL
FIELD_THRESHOLD_DBL UNSUPPORTED_FIELD_TYPE FIELD_THRESHOLD_TS FIELD_THRESHOLD_TS_DBL THERMAL_VIOLATIONS THERMAL_VIOLATIONS_TS
TEMP_VIOLATION THROTTLING_VIOLATION INTERNAL PCIE_GENERATION PCIE_WIDTH ABORTED TEST_DISABLED CANNOT_GET_STAT STRESS_LEVEL
CUDA_API FAULTY_MEMORY CANNOT_SET_WATCHES CUDA_UNBOUND ECC_DISABLED MEMORY_ALLOC CUDA_DBE MEMORY_MISMATCH CUDA_DEVICE
ECC_UNSUPPORTED ECC_PENDING MEMORY_BANDWIDTH TARGET_POWER API_FAIL API_FAIL_GPU CUDA_CONTEXT DCGM_API CONCURRENT_GPUS
TOO_MANY_ERRORS NVLINK_CRC_ERROR_THRESHOLD NVLINK_ERROR_CRITICAL ENFORCED_POWER_LIMIT MEMORY_ALLOC_HOST GPU_OP_MODE
NO_MEMORY_CLOCKS NO_GRAPHICS_CLOCKS HAD_TO_RESTORE_STATE L1TAG_UNSUPPORTED L1TAG_MISCOMPARE ROW_REMAP_FAILURE UNCONTAINED_ERROR
EMPTY_GPU_LIST DBE_PENDING_PAGE_RETIREMENTS UNCORRECTABLE_ROW_REMAP PENDING_ROW_REMAP BROKEN_P2P_MEMORY_DEVICE
BROKEN_P2P_WRITER_DEVICE NVSWITCH_NVLINK_DOWN EUD_BINARY_PERMISSIONS EUD_NON_ROOT_USER EUD_SPAWN_FAILURE EUD_TIMEOUT EUD_ZOMBIE
EUD_NON_ZERO_EXIT_CODE EUD_TEST_FAILED FILE_CREATE_PERMISSIONS PAUSE_RESUME_FAILED PCIE_H_REPLAY_VIOLATION GPU_EXPECTED_NVLINKS_UP
NVSWITCH_EXPECTED_NVLINKS_UP XID_ERROR SBE_VIOLATION DBE_VIOLATION PCIE_REPLAY_VIOLATION SBE_THRESHOLD_VIOLATION
DBE_THRESHOLD_VIOLATION PCIE_REPLAY_THRESHOLD_VIOLATION CUDA_FM_NOT_INITIALIZED SXID_ERROR GFLOPS_THRESHOLD_VIOLATION NAN_VALUE
"""
"""Names from 0 on. Numbers are never reused; two were renamed (from CLOCK_THROTTLE_THERMAL and CLOCK_THROTTLE_POWER)."""
LATER = {120: "FALLEN_OFF_BUS", 122: "IMEX_UNHEALTHY", 125: "GPU_RECOVERY_RESET", 126: "GPU_RECOVERY_REBOOT", 129: "NCCL_ERROR"}
"""Names of later numbers."""
NAMES = {**dict(enumerate(IN_ORDER.split())), **LATER}


def name_of(error_id: int) -> str:
    """Returns the name of an error as known to the platform; its number for an unknown one."""
    return f"{PREFIX}{NAMES.get(error_id, error_id)}"


STRESS = {"diagnostic", "targeted_stress", "targeted_power", "pulse_test"}
"""Tests that load a GPU, the design's Stress: DCGM's EUD is recommended (ADR-026, Error to Recommended Action Mapping).

The design's Memory, PCIe and NVLink need support, and so does any other test.
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
    action = RecommendedAction.RUN_DCGMEUD if result.test in STRESS else RecommendedAction.CONTACT_SUPPORT
    return HealthReport(name, result.message or "failed", is_fatal=True, action=action, error_code=_code(result), entities=entities)


def _code(result: DiagResult) -> str:
    return name_of(result.error_ids[0]) if result.error_ids else f"DCGM_{result.test.upper()}_{result.status}"
