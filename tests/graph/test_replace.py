"""One place of a value changed, everything else shared."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from grove_compiler.graph.field_path import ABSENT, replace
from tests.suite.rows import rows

MANIFEST: dict[str, Any] = {"spec": {"cliques": [{"name": "a", "replicas": 1}, {"name": "b"}], "replicas": 2}, "kind": "X"}


@rows(
    ("path", "new", "expected"),
    [
        (("kind",), "Y", {**MANIFEST, "kind": "Y"}),
        (
            ("spec", "cliques", 1, "name"),
            "c",
            {**MANIFEST, "spec": {"cliques": [{"name": "a", "replicas": 1}, {"name": "c"}], "replicas": 2}},
        ),
        (
            ("spec", "cliques", 1, "replicas"),
            3,
            {**MANIFEST, "spec": {"cliques": [{"name": "a", "replicas": 1}, {"name": "b", "replicas": 3}], "replicas": 2}},
        ),
        (("spec", "cliques"), [], {**MANIFEST, "spec": {"cliques": [], "replicas": 2}}),
        (("spec", "replicas"), None, {**MANIFEST, "spec": {**MANIFEST["spec"], "replicas": None}}),
        (("spec", "replicas"), ABSENT, {**MANIFEST, "spec": {"cliques": MANIFEST["spec"]["cliques"]}}),
        ((), "all of it", "all of it"),
    ],
)
def test_the_value_at_a_path_is_another_one(path: tuple[Any, ...], new: Any, expected: Any) -> None:
    assert replace(MANIFEST, path, new) == expected


def test_the_value_given_stays_as_it_is() -> None:
    before = copy.deepcopy(MANIFEST)
    replace(MANIFEST, ("spec", "cliques", 0, "name"), "z")
    assert before == MANIFEST


def test_what_is_not_on_the_path_is_shared() -> None:
    changed = replace(MANIFEST, ("spec", "cliques", 0, "name"), "z")
    assert changed["spec"]["cliques"][1] is MANIFEST["spec"]["cliques"][1]
    assert changed["spec"]["cliques"] is not MANIFEST["spec"]["cliques"]


def test_a_parent_that_is_missing_is_an_error() -> None:
    with pytest.raises(KeyError):
        replace(MANIFEST, ("status", "phase"), "Running")
