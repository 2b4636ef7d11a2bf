"""A diagnostic passes once each GPU has a verdict of each test of the level that was asked for, and of no other."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from preflight_images.dcgm_diag.check import ProcessResult, check, verdict
from preflight_images.dcgm_diag.verdict import TESTS, required_tests
from preflight_images.shared.outcome import FAILED, MISCONFIGURED, PASSED, Misconfigured
from preflight_images.shared.settings import read_settings
from tests.suite.rows import rows

from .recorded import entity, leveled, v3, v4

OWN = {0: "GPU-a", 1: "GPU-b"}
LEVELS = (1, 2, 3, 4)
VERSIONS = (3, 4)
NO_VERDICT = ("Skip", "Not Run", "Skipped")


def outcome(document: dict[str, Any], level: int, code: int = 0) -> tuple[int, str]:
    found = verdict(ProcessResult(code, json.dumps(document), ""), OWN, required_tests({}, level))
    return found.exit_code, found.error_code


@rows("version", VERSIONS)
@rows("made", LEVELS)
@rows("asked", LEVELS)
def test_a_diagnostic_passes_for_its_level_and_those_below_it(made: int, asked: int, version: int) -> None:
    assert outcome(leveled(made, version), asked) == ((PASSED, "") if asked <= made else (MISCONFIGURED, "DCGM_INCOMPLETE"))


def of_one_gpu() -> list[tuple[int, int, str]]:
    """Each test of each level of each version, of both GPUs and of one; those of the machine name no GPU in version 3."""
    hardware = [(version, level, test) for version in VERSIONS for level in LEVELS for of in range(2, level + 1) for test in TESTS[of]]
    return [(version, level, which) for version, level, test in hardware for which in (test, f"{test}_0", f"{test}_1")]


@rows("status", NO_VERDICT)
@rows(("version", "level", "which"), of_one_gpu())
def test_a_test_that_did_not_run_is_no_pass(version: int, level: int, which: str, status: str) -> None:
    assert outcome(leveled(level, version, **{which: status}), level) == (MISCONFIGURED, "DCGM_INCOMPLETE")


@rows("version", VERSIONS)
@rows("status", NO_VERDICT)
def test_a_machine_that_was_not_tested_is_no_pass(version: int, status: str) -> None:
    assert outcome(leveled(2, version, software=status), 2) == (MISCONFIGURED, "DCGM_INCOMPLETE")


@rows("version", VERSIONS)
@rows("left", ["memory", "pcie"])
def test_a_test_whose_rows_are_left_out_is_no_pass(left: str, version: int) -> None:
    document = leveled(2, version)
    (root,) = (document[key] for key in document if key.startswith("DCGM"))
    (category,) = root["test_categories"]
    category["tests"] = [test for test in category["tests"] if test["name"].lower().removeprefix("gpu ") != left]
    assert outcome(document, 2) == (MISCONFIGURED, "DCGM_INCOMPLETE")


def test_a_test_of_another_level_stands_for_none() -> None:
    assert outcome(v4(entity(0, "Pass"), entity(1, "Pass"), test="targeted_stress"), 1) == (MISCONFIGURED, "DCGM_INCOMPLETE")


def test_the_machine_s_tests_of_version_3_say_nothing_of_the_hardware() -> None:
    assert outcome(v3({"status": "Pass"}, test="Denylist"), 1) == (PASSED, "")
    assert outcome(v3({"status": "Pass"}, test="Denylist"), 2) == (MISCONFIGURED, "DCGM_INCOMPLETE")


def test_a_failure_counts_before_the_tests_that_it_has_ended() -> None:
    assert outcome(leveled(2, memory_1="Fail", pcie="Not Run"), 2, 226) == (FAILED, "DCGM_MEMORY_FAIL")


def test_of_several_rounds_each_has_all_tests() -> None:
    whole, half = leveled(2), leveled(2, pcie_1="Not Run")
    assert outcome({"iterations": [whole, whole]}, 2) == (PASSED, "")
    for documents in ([whole, half], [half, whole]):
        assert outcome({"iterations": documents}, 2) == (MISCONFIGURED, "DCGM_INCOMPLETE")


def test_it_is_told_which_test_of_which_gpu_did_not_run() -> None:
    document = leveled(2, pcie_1="Not Run", memory="Skip")
    message = verdict(ProcessResult(0, json.dumps(document), ""), OWN, required_tests({}, 2)).message
    assert "memory of GPU-a, GPU-b; pcie of GPU-b;" in message


def test_the_configuration_may_ask_for_other_tests_of_the_level() -> None:
    wanted = required_tests({"DCGM_DIAG_REQUIRED_TESTS": "software, memory"}, 2)
    assert verdict(ProcessResult(0, json.dumps(leveled(2, pcie="Skip")), ""), OWN, wanted).exit_code == PASSED
    assert required_tests({"DCGM_DIAG_REQUIRED_TESTS": "nvbandwidth"}, 3) == ("nvbandwidth",)


@pytest.mark.parametrize(("text", "level"), [("memtest", 3), ("memory", 1), ("nvbandwidth", 2), ("memroy", 4)])
def test_a_test_that_such_a_diagnostic_does_not_make_cannot_be_required(text: str, level: int) -> None:
    with pytest.raises(Misconfigured, match=f"'{text}'.* level {level} has software"):
        required_tests({"DCGM_DIAG_REQUIRED_TESTS": text}, level)


UUIDS = [f"GPU-0e3f2d4c-aaaa-bbbb-cccc-12345678900{number}" for number in (0, 1)]
DISCOVERED = "2 GPUs found.\n" + "".join(f"| {index} | Name: H100 |\n|   | Device UUID: {uuid} |\n" for index, uuid in enumerate(UUIDS))


def install(folder: Path, name: str, text: str) -> None:
    """A program that prints this; what it is asked for last is in `asked`."""
    (folder / f"{name}.txt").write_text(text)
    (folder / name).write_text(f'#!/bin/sh\n[ "$2" = --host ] && [ "$1" = discovery ] && exec cat {folder}/discovery.txt\n')
    with (folder / name).open("a") as program:
        program.write(f'echo "$@" > {folder}/asked\nexec cat {folder}/{name}.txt\n')
    (folder / name).chmod(0o755)


@pytest.mark.parametrize(("level", "made", "code"), [("2", 2, PASSED), ("2", 1, MISCONFIGURED), ("", 1, PASSED)])
def test_the_check_asks_for_the_verdicts_of_its_level(
    level: str, made: int, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    (tmp_path / "discovery.txt").write_text(DISCOVERED)
    install(tmp_path, "nvidia-smi", "\n".join(UUIDS))
    install(tmp_path, "dcgmi", json.dumps(leveled(made)))
    told = {"NODE_NAME": "n", "DCGM_HOSTENGINE_ADDR": "engine:5555", "DCGM_DIAG_LEVEL": level}
    assert check(told, read_settings(told)).exit_code == code
    assert (tmp_path / "asked").read_text().strip() == f"diag --host engine:5555 -r {level or 1} -i 0,1 -j"
