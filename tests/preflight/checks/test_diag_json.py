"""What dcgmi prints, of all versions: whole output is read, and no part of it ever passes for a whole."""

from __future__ import annotations

import json
from typing import Any

import pytest

from preflight_images.dcgm_diag.check import ProcessResult, verdict
from preflight_images.dcgm_diag.diag_json import DiagResult, read_diag
from preflight_images.shared.outcome import MISCONFIGURED, RecommendedAction, UnreadableOutput
from tests.suite.rows import rows

from .recorded import READ, WARNING, entity, v3, v4

OWN = {0: "GPU-a", 1: "GPU-b"}
MEMORY = ("memory",)
"""The one test of most documents here."""


def told(results: list[DiagResult]) -> list[tuple[str, str, int | None]]:
    return [(one.test, one.status, one.gpu) for one in results]


@rows("version", READ)
def test_every_version_is_read(version: str) -> None:
    document, expected = READ[version]
    assert told(read_diag(json.dumps(document))) == expected


@rows("version", READ)
def test_notices_before_the_result_do_no_harm(version: str) -> None:
    document, expected = READ[version]
    assert told(read_diag("Successfully ran diagnostic for group.\n" + json.dumps(document, indent=2) + "\n\n")) == expected


AFTER = [
    "\nError: the diagnostic was aborted\n",
    "\nSuccessfully ran diagnostic for group.",
    json.dumps(v4(entity(0, "Fail"))),
    "\n" + json.dumps(v4(entity(0, "Pass"))),
    "}",
    " 0",
    "\x00",
]
BEFORE = ["Error: the child ended early.\n", "Unable to complete diagnostic\n", "aborted\n"]
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
    "a number of thousands of digits": '{"DCGM Diagnostic": ' + "9" * 5000 + "}",
    "a summary of another world": json.dumps(v4(entity(0, "Pass"))).replace('{"status": "Pass"}}', '{"status": "?"}}'),
    **{f"{text[:30]!r} after the result": json.dumps(v4(entity(0, "Pass"))) + text for text in AFTER},
    **{f"{text!r} before the result": text + json.dumps(v4(entity(0, "Pass"))) for text in BEFORE},
    "two results in one document": json.dumps({**v4(entity(0, "Fail")), **v3({"gpu_id": "0", "status": "Pass"})}),
    "a status that is there twice": json.dumps(v4(entity(0, "Fail"))).replace('"status": "Fail"', '"status": "Fail", "status": "Pass"'),
    "an error beside the result": json.dumps({**v4(entity(0, "Pass")), "runtime_error": "the child was killed"}),
    "a row that is not a map": json.dumps(v3("Pass")),  # type: ignore[arg-type]
}


@rows("what", UNREADABLE)
def test_what_is_no_result_is_an_error(what: str) -> None:
    with pytest.raises(UnreadableOutput):
        read_diag(UNREADABLE[what])


@rows("version", READ)
def test_no_output_that_is_cut_off_passes(version: str) -> None:
    text = json.dumps(READ[version][0])
    passed = [length for length in range(len(text)) if verdict(ProcessResult(0, text[:length], ""), OWN, MEMORY).exit_code == 0]
    assert passed == []


def test_a_gpu_of_which_nothing_is_said_has_not_passed() -> None:
    outcome = verdict(ProcessResult(0, json.dumps(v4(entity(0, "Pass"))), ""), OWN, MEMORY)
    assert (outcome.exit_code, outcome.error_code) == (MISCONFIGURED, "DCGM_INCOMPLETE")


@pytest.mark.parametrize("rows", [(entity(0, "Pass", "CPU"),), (entity(0, "Skip"), entity(1, "Skip"), entity(0, "Pass", "CPU"))])
def test_a_pass_of_something_else_is_none_of_the_gpus(rows: tuple[dict[str, Any], ...]) -> None:
    outcome = verdict(ProcessResult(0, json.dumps(v4(*rows)), ""), OWN, MEMORY)
    assert (outcome.exit_code, outcome.error_code) == (MISCONFIGURED, "DCGM_INCOMPLETE")


CATEGORIES = [(3, RecommendedAction.NONE, False), (10, RecommendedAction.CONTACT_SUPPORT, True)]


@pytest.mark.parametrize(("category", "action", "fatal"), CATEGORIES)
def test_a_fault_of_memory_is_one_also_where_the_test_of_the_deployment_finds_it(
    category: int, action: RecommendedAction, fatal: bool
) -> None:
    found = entity(0, "Fail", warnings=[{"warning": "row remap", "error_id": 80, "error_category": category}])
    outcome = verdict(ProcessResult(226, json.dumps(v4(found, entity(1, "Pass"), test="software")), ""), OWN, MEMORY)
    assert [(one.action, one.is_fatal) for one in outcome.reports if not one.is_healthy] == [(action, fatal)]


UNREQUESTED = [
    (code, document)
    for code in (226, 205, 0)
    for status in ("Fail", "Pass", "Skip")
    for document in (
        v4(entity(0, "Pass"), entity(1, "Pass"), entity(9, status)),
        v4(entity(0, "Pass"), entity(1, "Fail"), entity(2, status)),
        v3({"gpu_ids": "0,1", "status": "Pass"}, {"gpu_id": "10", "status": status}),
        v3({"gpu_ids": "0,1,7", "status": status}),
        {"iterations": [v4(entity(0, "Pass"), entity(1, "Pass")), v4(entity(0, "Pass"), entity(1, "Pass"), entity(9, status))]},
    )
]


@rows(("code", "document"), UNREQUESTED)
def test_results_of_a_gpu_that_nobody_asked_for_are_those_of_nobody(code: int, document: dict[str, Any]) -> None:
    outcome = verdict(ProcessResult(code, json.dumps(document), ""), OWN, MEMORY)
    assert (outcome.exit_code, outcome.error_code, [one.is_fatal for one in outcome.reports]) == (1, "DCGM_UNREADABLE", [False])


@pytest.mark.parametrize("code", [203, 217, 222, 242])
def test_an_engine_that_is_busy_fails_the_check_and_blames_no_gpu(code: int) -> None:
    outcome = verdict(ProcessResult(code, "", "in use"), OWN, MEMORY)
    assert (outcome.exit_code, outcome.error_code, [one.is_fatal for one in outcome.reports]) == (1, "DCGM_BUSY", [False])


def summed_up(status: str, *rows: dict[str, Any]) -> dict[str, Any]:
    """Version 4, with this as the summary of its one test."""
    document = v4(*rows)
    (test,) = document["DCGM Diagnostic"]["test_categories"][0]["tests"]
    test["test_summary"] = {"status": status, "warnings": [WARNING]}
    return document


def test_a_test_that_failed_without_blaming_an_entity_has_failed() -> None:
    outcome = verdict(ProcessResult(226, json.dumps(summed_up("Fail", entity(0, "Pass"), entity(1, "Pass"))), ""), OWN, MEMORY)
    assert (outcome.exit_code, outcome.error_code, outcome.message) == (1, "DCGM_FR_VOLATILE_DBE_DETECTED", "failed: memory")


def test_a_summary_that_repeats_what_a_gpu_did_blames_nobody_else() -> None:
    outcome = verdict(ProcessResult(226, json.dumps(summed_up("Fail", entity(0, "Pass"), entity(1, "Fail"))), ""), OWN, MEMORY)
    assert [one.entities for one in outcome.reports if not one.is_healthy] == [("GPU-b",)]


def test_a_warning_explains_no_exit_code() -> None:
    outcomes = [verdict(ProcessResult(code, json.dumps(v4(entity(0, "Pass"), entity(1, "Warn"))), ""), OWN, MEMORY) for code in (0, 226)]
    assert [(outcome.exit_code, outcome.error_code) for outcome in outcomes] == [(0, ""), (1, "DCGM_UNREADABLE")]


@pytest.mark.parametrize("code", [226, 205, 254, 137, 1])
def test_an_exit_code_that_nothing_in_the_output_explains_is_no_pass(code: int) -> None:
    outcome = verdict(ProcessResult(code, json.dumps(v4(entity(0, "Pass"), entity(1, "Pass"))), ""), OWN, MEMORY)
    assert (outcome.exit_code, outcome.error_code, [one.is_fatal for one in outcome.reports]) == (1, "DCGM_UNREADABLE", [False])
