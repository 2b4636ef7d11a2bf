"""Says which tests of a diagnostic must have a verdict for each GPU, by its level, and which of them have none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from preflight_images.dcgm_diag.diag_json import DiagResult
from preflight_images.shared.outcome import Misconfigured

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
