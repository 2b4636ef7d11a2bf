"""What dcgmi prints, of all versions: whole output is read, and no part of it ever passes for a whole."""

from __future__ import annotations

import json
from typing import Any

import pytest

from preflight_images.dcgm_diag.check import Ended, verdict
from preflight_images.dcgm_diag.diag_json import Result, Unreadable, read_diag

OWN = {0: "GPU-a", 1: "GPU-b"}


def v4(*rows: dict[str, Any], test: str = "memory") -> dict[str, Any]:
    """Version 4: entities, lists of warnings, a summary."""
    tests = [{"name": test, "results": list(rows), "test_summary": {"status": "Pass"}}]
    return {
        "DCGM Diagnostic": {"test_categories": [{"category": "Hardware", "tests": tests}]},
        "metadata": {"version": "4.2.0", "Driver Version Detected": "570.1"},
        "entity_groups": [{"entity_group_id": 1, "entity_group": "GPU", "entities": [{"entity_id": 0, "device_id": "2330"}]}],
    }


def entity(number: int, status: str, group: str = "GPU", **more: Any) -> dict[str, Any]:
    return {"entity_group": group, "entity_group_id": {"GPU": 1, "CPU": 7}[group], "entity_id": number, "status": status, **more}


def v3(*rows: dict[str, Any], test: str = "GPU Memory") -> dict[str, Any]:
    """Version 3: names for people, one text of numbers."""
    categories = [{"category": "Hardware", "tests": [{"name": test, "results": list(rows)}]}]
    return {"DCGM GPU Diagnostic": {"version": "3.1.8", "GPU Device IDs": ["20b2"], "test_categories": categories}}


WARNING = {"warning": "ECC", "error_id": 4, "error_category": 10, "error_severity": 2}
READ = {
    "3.1, two GPUs in one text": (v3({"gpu_ids": "0,1", "status": "Pass"}), [("memory", "PASS", 0), ("memory", "PASS", 1)]),
    "3.2, a text of warnings with its id": (
        v3({"gpu_ids": "1", "status": "Fail", "warnings": "ECC", "error_id": 4}),
        [("memory", "FAIL", 1)],
    ),
    "3.3, a list of warnings": (v3({"gpu_id": "0", "status": "Fail", "warnings": [WARNING]}), [("memory", "FAIL", 0)]),
    "3.3.9, a nested text": (
        v3({"gpu_id": 0, "status": "Fail", "warnings": [{"warnings": "ECC", "error_id": 4}]}),
        [("memory", "FAIL", 0)],
    ),
    "3, a test of no GPU": (v3({"status": "Pass"}, test="Denylist"), [("denylist", "PASS", None)]),
    "4, entities": (v4(entity(0, "Pass"), entity(1, "Fail", warnings=[WARNING])), [("memory", "PASS", 0), ("memory", "FAIL", 1)]),
    "4, another entity of the same number is no GPU": (v4(entity(0, "Fail", "CPU")), [("memory", "FAIL", None)]),
    "4, what was not run": (v4(entity(0, "Pass"), entity(1, "Not Run")), [("memory", "PASS", 0), ("memory", "SKIP", 1)]),
    "rounds": ({"iterations": [v4(entity(0, "Pass")), v4(entity(0, "Fail"))]}, [("memory", "PASS", 0), ("memory", "FAIL", 0)]),
}


def told(results: list[Result]) -> list[tuple[str, str, int | None]]:
    return [(one.test, one.status, one.gpu) for one in results]


@pytest.mark.parametrize("version", READ)
def test_every_version_is_read(version: str) -> None:
    document, expected = READ[version]
    assert told(read_diag(json.dumps(document))) == expected


@pytest.mark.parametrize("version", READ)
def test_notices_before_the_result_do_no_harm(version: str) -> None:
    document, expected = READ[version]
    assert told(read_diag("Successfully ran diagnostic for group.\n" + json.dumps(document, indent=2))) == expected


UNREADABLE = {
    "nothing": "",
    "text": "Error: unable to establish a connection to the specified host: localhost",
    "another document": '{"a": 1}',
    "a list": "[1]",
    "a start that failed": json.dumps({"DCGM Diagnostic": {"version": "4.2", "runtime_error": "no GPUs"}}),
    "no categories": json.dumps({"DCGM Diagnostic": {}}),
    "no tests": json.dumps({"DCGM Diagnostic": {"test_categories": [{"category": "Hardware"}]}}),
    "no test that was run": json.dumps(v4(entity(0, "Skip"))),
    "no rows": json.dumps(v4()),
    "a status of another world": json.dumps(v4(entity(0, "Splendid"))),
    "a GPU without a number": json.dumps(v3({"gpu_id": "first", "status": "Pass"})),
    "a row that is no map": json.dumps(v3("Pass")),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("what", UNREADABLE)
def test_what_is_no_result_is_an_error(what: str) -> None:
    with pytest.raises(Unreadable):
        read_diag(UNREADABLE[what])


@pytest.mark.parametrize("version", READ)
def test_no_output_that_is_cut_off_passes(version: str) -> None:
    text = json.dumps(READ[version][0])
    passed = [length for length in range(len(text)) if verdict(Ended(0, text[:length], ""), OWN).exit_code == 0]
    assert passed == []


def test_a_gpu_of_which_nothing_is_said_has_not_passed() -> None:
    outcome = verdict(Ended(0, json.dumps(v4(entity(0, "Pass"))), ""), OWN)
    assert (outcome.exit_code, outcome.error_code) == (1, "DCGM_INCOMPLETE")


def test_gpus_of_others_on_the_node_count_for_nothing() -> None:
    outcome = verdict(Ended(226, json.dumps(v4(entity(0, "Pass"), entity(1, "Pass"), entity(7, "Fail"))), ""), OWN)
    assert outcome.exit_code == 0


@pytest.mark.parametrize("code", [203, 217, 222, 242])
def test_an_engine_that_is_busy_fails_the_check_and_blames_no_gpu(code: int) -> None:
    outcome = verdict(Ended(code, "", "in use"), OWN)
    assert (outcome.exit_code, outcome.error_code, [one.is_fatal for one in outcome.reports]) == (1, "DCGM_BUSY", [False])
