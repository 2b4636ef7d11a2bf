"""Output of tools that failed, cut, garbled, doubled and mixed up by chance: it never passes, and is always judged."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preflight_images.dcgm_diag.check import ProcessResult
from preflight_images.dcgm_diag.check import verdict as of_dcgm
from preflight_images.nccl_loopback.check import verdict as of_nccl
from preflight_images.shared.outcome import PASSED
from tests.suite.effort import runs

from .mutations import slowed
from .recorded import RELEASES, entity, v3, v4

OWN = {0: "GPU-a", 1: "GPU-b"}
THRESHOLD = 10.0
SLOW = {release: slowed(text) for release, text in RELEASES.items()}
SICK = {
    "3.1": v3({"gpu_ids": "0", "status": "Pass"}, {"gpu_ids": "1", "status": "Fail", "warnings": "ECC", "error_id": 4}),
    "3.3": v3({"gpu_id": "0", "status": "Pass"}, {"gpu_id": "1", "status": "Fail"}),
    "4": v4(entity(0, "Pass"), entity(1, "Fail")),
    "rounds": {"iterations": [v4(entity(0, "Pass"), entity(1, "Pass")), v4(entity(0, "Pass"), entity(1, "Fail"))]},
}
FAILURE_FOUND = 226
"""The exit code of a diagnostic that found one."""
GARBAGE = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)


@st.composite
def garbled(draw: st.DrawFn, text: str) -> str:
    """The text after some accidents: parts are lost, doubled, replaced by garbage, or change places."""
    for _ in range(draw(st.integers(1, 4))):
        begin = draw(st.integers(0, len(text)))
        end = min(len(text), begin + draw(st.integers(0, 80)))
        middle = text[begin:end]
        text = text[:begin] + draw(st.sampled_from(["", middle * 2, middle[::-1]]) | GARBAGE) + text[end:]
    return text


@st.composite
def with_lines_lost(draw: st.DrawFn, text: str) -> str:
    """Some of its lines, in any order."""
    return "".join(draw(st.lists(st.sampled_from(text.splitlines(keepends=True)))))


@pytest.mark.parametrize("release", SLOW)
@given(data=st.data())
@settings(max_examples=runs(300))
def test_a_slow_link_passes_in_no_disguise(release: str, data: st.DataObject) -> None:
    text = data.draw(garbled(SLOW[release]) | with_lines_lost(SLOW[release]))
    assert of_nccl(0, text, THRESHOLD, 2).exit_code != PASSED


@pytest.mark.parametrize("version", SICK)
@given(data=st.data())
@settings(max_examples=runs(300))
def test_a_sick_gpu_passes_in_no_disguise(version: str, data: st.DataObject) -> None:
    document = json.dumps(SICK[version], indent=data.draw(st.sampled_from([None, 2])))
    text = data.draw(garbled(document) | with_lines_lost(document))
    assert of_dcgm(ProcessResult(FAILURE_FOUND, text, ""), OWN, ("memory",)).exit_code != PASSED


VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["Pass", "Skip", "GPU", "0,1"])
KEYS = st.sampled_from(["name", "tests", "results", "status", "gpu_id", "entity_id", "entity_group", "warnings", "test_summary"])
DOCUMENTS = st.recursive(VALUES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=20)


@given(DOCUMENTS, st.sampled_from(["DCGM Diagnostic", "DCGM GPU Diagnostic", "iterations"]))
@settings(max_examples=runs(500))
def test_any_document_is_judged_and_none_that_lists_no_tests_passes(inner: Any, root: str) -> None:
    assert of_dcgm(ProcessResult(0, json.dumps({root: inner}), ""), OWN, ("memory",)).exit_code != PASSED


@given(st.text())
@settings(max_examples=runs(500))
def test_any_text_is_judged_and_none_passes(text: str) -> None:
    assert of_dcgm(ProcessResult(0, text, ""), OWN, ("memory",)).exit_code != PASSED
    assert of_nccl(0, text, THRESHOLD, 2).exit_code != PASSED
