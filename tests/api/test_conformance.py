"""What shipped Grove was given and what it stored: `GROVE_CONFORMANCE`, default `../shared/conformance`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from grove_compiler.kube.defaults import apply_defaults
from grove_compiler.kube.definitions import DEFINITIONS, KINDS
from tests.suite.rows import rows

from .manifests import faults

FOLDER = Path(os.environ.get("GROVE_CONFORMANCE", "../shared/conformance")) / "cases"
CASES = sorted(FOLDER.glob("*.json"))

pytestmark = pytest.mark.skipif(not CASES, reason=f"no conformance cases in {FOLDER}")


@cache
def cases() -> list[Any]:
    """Returns what each case was given and what was stored, read once."""
    return [pytest.param(json.loads(path.read_text(encoding="utf-8")), id=path.stem) for path in CASES]


OURS = [("spec", "workloadType")]
"""What the designs add to a set that shipped Grove knows nothing of: it is Inference, as it always was (decisions §6)."""


def known(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [item for item in objects if (item["apiVersion"], item["kind"]) in KINDS]


@rows("case", cases)
def test_inputs_have_the_structure_of_the_tables(case: dict[str, Any]) -> None:
    assert [faults(manifest) for manifest in known(case["input"])] == [[]] * len(case["input"])


@rows("case", cases)
def test_what_shipped_grove_stored_has_the_structure_of_the_tables(case: dict[str, Any]) -> None:
    assert [wrong for item in known(case.get("objects", [])) if (wrong := faults(item))] == []


@rows("case", cases)
def test_schema_defaults_add_nothing_to_what_was_stored(case: dict[str, Any]) -> None:
    for item in known(case.get("objects", [])):
        result = apply_defaults(item, KINDS[item["apiVersion"], item["kind"]], DEFINITIONS)
        assert [path for path, _ in additions(item, result) if path not in OURS] == []


def additions(before: Any, after: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """The values that `after` has and `before` lacks."""
    if isinstance(after, dict):
        for name, item in after.items():
            if name not in before:
                yield (*path, name), item
            else:
                yield from additions(before[name], item, (*path, name))
    elif isinstance(after, list):
        for index, item in enumerate(after):
            yield from additions(before[index], item, (*path, index))


@rows("case", cases)
def test_schema_defaults_add_to_a_set_what_shipped_grove_stored_there(case: dict[str, Any]) -> None:
    stored = {(item["kind"], item["metadata"]["name"]): item for item in case.get("objects", [])}
    for manifest in known(case["input"]):
        if (manifest["kind"], manifest["metadata"]["name"]) not in stored:
            continue  # refused by admission
        result = apply_defaults(manifest, KINDS[manifest["apiVersion"], manifest["kind"]], DEFINITIONS)
        for path, value in additions(manifest, result):
            if path in OURS:
                continue
            there: Any = stored[manifest["kind"], manifest["metadata"]["name"]]
            for step in path:
                there = there[step]
            assert there == value, path
