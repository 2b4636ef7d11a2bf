"""Parses the output of `dcgmi diag -j` of versions 3.0 to 4.6. Output that cannot be parsed is an error, never a pass."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from preflight_images.shared.outcome import UnreadableOutput, unique_keys

ROOTS = ("DCGM Diagnostic", "DCGM GPU Diagnostic")
GPU_GROUP = "gpu"
STATUSES = {"pass": "PASS", "fail": "FAIL", "warn": "WARN", "warning": "WARN", "skip": "SKIP", "skipped": "SKIP", "not run": "SKIP"}

BAD = ("FAIL", "WARN")
TROUBLE = re.compile(r"error|abort|fail|unable|cannot", re.IGNORECASE)
"""Words that no notice before a result has."""
MAX_INDEX_LENGTH = 6
"""Digits of a GPU's number."""


@dataclass(frozen=True, slots=True)
class DiagResult:
    """The result of a test for an entity: `gpu` is the engine's index, none for results that are not about a single GPU.

    `categories` are DCGM's of its errors; `names_entity` says that it is about one of a sort, a GPU or something else. `round` counts the
    rounds of a diagnostic with several.
    """

    test: str
    status: str
    gpu: int | None
    message: str
    error_ids: tuple[int, ...] = ()
    categories: tuple[int, ...] = ()
    names_entity: bool = False
    round: int = 0


def read_diag(text: str) -> list[DiagResult]:
    """Returns the results of a diagnostic. Raises `UnreadableOutput`, also for one that could not start or has no results."""
    document = _document(text)
    rounds = document.get("iterations")
    if isinstance(rounds, list) and rounds and not any(key in document for key in ROOTS):
        return [replace(result, round=number) for number, each in enumerate(rounds) for result in _read_round(each)]
    return _read_round(document)


def _read_round(document: Any) -> list[DiagResult]:
    roots = [document[key] for key in ROOTS if isinstance(document.get(key), dict)] if isinstance(document, dict) else []
    if len(roots) != 1:
        raise UnreadableOutput(f"there is no {ROOTS[0]!r} in it" if not roots else "there are two diagnostics in it")
    root = roots[0]
    trouble = root.get("runtime_error") or document.get("runtime_error")
    if trouble:
        raise UnreadableOutput(f"the diagnostic did not run: {trouble}")
    categories = root.get("test_categories")
    if not isinstance(categories, list):
        raise UnreadableOutput("it has no test_categories")
    results = [result for category in categories for test in _maps(category, "tests") for result in _results(test)]
    if not any(result.status != "SKIP" for result in results):
        raise UnreadableOutput("no test was run")
    return results


def _document(text: str) -> dict[str, Any]:
    """Returns the one document of an output.

    Some versions print notices before it. Whatever follows it tells of an end that the document does not know.
    """
    document: dict[str, Any]
    notices, brace, rest = text.partition("{")
    if not brace:
        raise UnreadableOutput(f"it is no JSON: {text.strip()[:200] or 'nothing was printed'}")
    if TROUBLE.search(notices):
        raise UnreadableOutput(f"there is an error before the result: {notices.strip()[:200]}")
    try:
        document, end = json.JSONDecoder(object_pairs_hook=unique_keys).raw_decode(brace + rest)
    except (ValueError, RecursionError) as error:  # ValueError also for a number with thousands of digits
        raise UnreadableOutput(f"it is cut off or garbled: {error}") from None
    if after := (brace + rest)[end:].strip():
        raise UnreadableOutput(f"there is something after the result: {after[:200]}")
    return document


def _results(test: dict[str, Any]) -> Iterator[DiagResult]:
    name = test.get("name")
    rows = _maps(test, "results")
    if not isinstance(name, str) or not name:
        raise UnreadableOutput("a test has no name")
    for row in rows:
        for gpu in _gpus(row):
            yield _result(name, row, gpu)
    summary = test.get("test_summary")
    if isinstance(summary, dict) and "status" in summary:
        # Errors of a test as a whole, and not of its entities, are only here.
        whole = _result(name, summary, None)
        if whole.status in BAD and all(_result(name, row, None).status not in BAD for row in rows):
            yield whole


def _result(test: str, row: dict[str, Any], gpu: int | None) -> DiagResult:
    status = STATUSES.get(str(row.get("status", "")).strip().lower())
    if status is None:
        raise UnreadableOutput(f"the test {test} has the status {str(row.get('status'))[:40]!r}, which is unknown")
    warnings = list(_warnings(row))
    message = "; ".join(text for text, _, _ in warnings) or _info(row)
    ids = tuple(dict.fromkeys(number for _, number, _ in warnings if number))
    categories = tuple(dict.fromkeys(category for _, _, category in warnings if category))
    return DiagResult(normal_name(test), status, gpu, message, ids, categories, "entity_id" in row)


def normal_name(test: str) -> str:
    """Returns the name of a test as in version 4; version 3 has display names (`GPU Memory`, `Targeted Stress`)."""
    name = test.strip().lower().replace(" ", "_").replace("-", "_")
    return {"gpu_memory": "memory", "sm_stress": "targeted_stress"}.get(name, name)


def _gpus(row: dict[str, Any]) -> list[int | None]:
    """Returns the GPUs of a row: the entity of version 4, `gpu_id` of 3.3, `gpu_ids` of earlier versions."""
    if "entity_id" in row or "entity_group" in row:
        is_gpu = str(row.get("entity_group", "")).lower() == GPU_GROUP or row.get("entity_group_id") == 1
        return [_index(row.get("entity_id")) if is_gpu else None]
    given = row.get("gpu_id", row.get("gpu_ids"))
    if given is None or given == "":
        return [None]
    return [_index(part) for part in str(given).split(",")]


def _index(value: Any) -> int:
    text = str(value).strip()
    if not text.isascii() or not text.isdigit() or len(text) > MAX_INDEX_LENGTH:
        raise UnreadableOutput(f"{text[:40]!r} is not the number of a GPU")
    return int(text)


def _warnings(row: dict[str, Any]) -> Iterator[tuple[str, int, int]]:
    """Returns the warnings of a row with error ids and categories: a text until 3.2, later a list, nested once more in 3.3.9."""
    given = row.get("warnings", row.get("warning"))
    if isinstance(given, str):
        yield given, _id(row.get("error_id")), 0
    for one in given if isinstance(given, list) else ():
        if isinstance(one, str):
            yield one, 0, 0
        elif isinstance(one, dict):
            text = one.get("warning", one.get("warnings", ""))
            yield text if isinstance(text, str) else json.dumps(text), _id(one.get("error_id")), _id(one.get("error_category"))


def _id(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _info(row: dict[str, Any]) -> str:
    given = row.get("info", "")
    return "; ".join(map(str, given)) if isinstance(given, list) else str(given)


def _maps(holder: Any, key: str) -> list[dict[str, Any]]:
    items = holder.get(key) if isinstance(holder, dict) else None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise UnreadableOutput(f"{key} is not a list of maps")
    return items
