"""Which fields an edit changes, where they stand, and the input with one edit alone."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.graph.field_path import ABSENT, render, replace
from grove_compiler.graph.identical import identical
from grove_compiler.impact.change import changes
from grove_compiler.impact.edit import applied, as_declared, edits
from grove_compiler.impact.edit import given as given_in
from grove_compiler.source.document import Document
from tests.features.compiling import documents_of

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.text("ab", max_size=2),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.sampled_from("abc"), part, max_size=3),
    max_leaves=8,
)

DIFFERENCES: dict[str, tuple[Any, Any, list[tuple[str, Any, Any]]]] = {
    "nothing": ({"a": [1]}, {"a": [1]}, []),
    "a field": ({"a": {"b": 1}}, {"a": {"b": 2}}, [("a.b", 1, 2)]),
    "a field that is gone": ({"a": 1, "b": 2}, {"b": 2}, [("a", 1, ABSENT)]),
    "a field that is new": ({}, {"a": {"b": 1}}, [("a", ABSENT, {"b": 1})]),
    "an item": ({"a": [1, 2]}, {"a": [1, 3]}, [("a[1]", 2, 3)]),
    "a list of another length": ({"a": [1, 2]}, {"a": [1]}, [("a", [1, 2], [1])]),
    "another type": ({"a": 1}, {"a": True}, [("a", 1, True)]),
    "the order of keys": ({"l": {"a": 1, "b": 2}}, {"l": {"b": 2, "a": 1}}, [("l", {"a": 1, "b": 2}, {"b": 2, "a": 1})]),
}


@pytest.mark.parametrize(("before", "after", "expected"), DIFFERENCES.values(), ids=DIFFERENCES.keys())
def test_changes_are_the_deepest_fields_that_differ(before: Any, after: Any, expected: list[tuple[str, Any, Any]]) -> None:
    assert [(render(change.path), change.before, change.after) for change in changes(before, after)] == expected


@given(VALUES, VALUES)
def test_all_changes_together_lead_from_one_value_to_the_other(before: Any, after: Any) -> None:
    value = copy.deepcopy(before)
    for change in changes(before, after):
        value = replace(value, change.path, change.after)
    assert value == after


@given(VALUES, VALUES)
def test_there_are_changes_exactly_where_values_are_not_identical(before: Any, after: Any) -> None:
    assert bool(list(changes(before, after))) is not identical(before, after)


OLD = """\
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: a}
spec:
  replicas: 1
  gone: x
---
apiVersion: v1
kind: List
items:
  - {kind: PodCliqueSet, metadata: {name: b, namespace: team}, spec: {replicas: 1}}
"""
NEW = """\
# a comment
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: a, namespace: default}
spec:
  replicas: 2
---
kind: PodCliqueSet
metadata:
  name: c
---
kind: PodCliqueSet
metadata: {name: b, namespace: team}
spec:
  replicas: 1
  added: 1
"""


def found() -> list[tuple[str, str, str, int]]:
    old, new = given_in(documents_of(OLD, "old.yaml"), "default"), given_in(documents_of(NEW, "new.yaml"), "default")
    return [(edit.subject, render(edit.change.path), edit.file, edit.line) for edit in edits(old, new)]


def test_edits_name_the_line_of_the_new_input_or_of_the_old_for_what_is_gone() -> None:
    assert found() == [
        ("PodCliqueSet/default/a", "metadata.namespace", "new.yaml", 4),
        ("PodCliqueSet/default/a", "spec.replicas", "new.yaml", 6),
        ("PodCliqueSet/default/a", "spec.gone", "old.yaml", 6),
        ("PodCliqueSet/default/c", "", "new.yaml", 8),
        ("PodCliqueSet/team/b", "spec.added", "new.yaml", 16),
    ]


def test_a_manifest_that_is_gone_is_told_with_its_old_line() -> None:
    old, new = given_in(documents_of(OLD, "old.yaml"), "default"), given_in(documents_of(NEW, "new.yaml"), "default")
    (edit,) = [edit for edit in edits(new, old) if edit.change.after is ABSENT and not edit.change.path]
    assert (edit.subject, edit.file) == ("PodCliqueSet/default/c", "new.yaml")


def test_one_edit_alone_changes_nothing_else() -> None:
    old, new = given_in(documents_of(OLD), "default"), given_in(documents_of(NEW), "default")
    for edit in edits(old, new):
        alone = given_in(applied(old, edit), "default")
        left = edits(old, alone)
        assert [(one.key, one.change.path) for one in left] == [(edit.key, edit.change.path)]


def test_what_a_server_adds_is_no_edit() -> None:
    live = {
        "kind": "PodCliqueSet",
        "metadata": {
            "name": "a",
            "uid": "u",
            "resourceVersion": "7",
            "generation": 3,
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "managedFields": [{}],
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}", "a": "b"},
        },
        "spec": {"replicas": 1},
        "status": {"replicas": 1},
    }
    expected = {"kind": "PodCliqueSet", "metadata": {"name": "a", "annotations": {"a": "b"}}, "spec": {"replicas": 1}}
    alone, listed = as_declared([Document(live), Document({"kind": "List", "items": [live, 3]})])
    assert alone.value == expected
    assert listed.value == {"kind": "List", "items": [expected, 3]}
