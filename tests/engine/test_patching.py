"""The operations of RFC 6902 against another implementation, and where ours differ."""

from __future__ import annotations

import contextlib
import copy
from typing import Any

import jsonpatch
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.engine.runtime.access import OMIT, EvaluationError
from grove_compiler.engine.runtime.patching import merge_patch, patch_add, patch_merge, patch_remove, patch_replace, patch_test, pointer
from tests.suite.rows import rows

KEYS = st.sampled_from(["a", "b", "c/d", "e~f", "", "0", "-"])
SCALARS = st.none() | st.integers(0, 3) | st.sampled_from(["x", "z"])
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=10)
DOCUMENTS = st.dictionaries(KEYS, JSON, min_size=1, max_size=4)


def places(value: Any, path: str = "") -> list[str]:
    """The pointers of everything inside a document."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = []
    for step, part in parts:
        here = f"{path}/{str(step).replace('~', '~0').replace('/', '~1')}"
        found += [here, *places(part, here)]
    return found


@st.composite
def operations(draw: Any) -> tuple[Any, str, str, Any]:
    """A document, an operation, a place that is there or nearly, and a value."""
    document = draw(DOCUMENTS)
    path = draw(st.sampled_from(places(document)))
    path += draw(st.sampled_from(["", "", "", "/a", "/0", "/1", "/-", "/01", "/9"]))
    return document, draw(st.sampled_from(["add", "replace", "remove", "test"])), path, draw(JSON)


def ours(document: Any, operation: str, path: str, value: Any) -> Any:
    if operation == "remove":
        return patch_remove(document, pointer(path))
    change = {"add": patch_add, "replace": patch_replace, "test": patch_test}[operation]
    return change(document, pointer(path), value)


@given(operations())
def test_what_another_implementation_does_ours_does(case: tuple[Any, str, str, Any]) -> None:
    document, operation, path, value = case
    try:
        expected = jsonpatch.apply_patch(document, [{"op": operation, "path": path, "value": value}])
    except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException, TypeError):
        return  # what it refuses, ours may do: see below
    if "-" in path.split("/")[:-1]:
        return  # it goes into the end of a list, which nothing is at
    assert ours(document, operation, path, value) == expected


@given(operations())
def test_what_another_implementation_refuses_ours_refuses_but_for_missing_parents_and_removals(case: tuple[Any, str, str, Any]) -> None:
    document, operation, path, value = case
    try:
        made = ours(document, operation, path, value)
    except EvaluationError:
        return
    try:
        assert made == jsonpatch.apply_patch(document, [{"op": operation, "path": path, "value": value}])
    except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException, TypeError):
        assert operation == "add" or (operation == "remove" and made is document)


@given(operations())
def test_no_operation_changes_its_input(case: tuple[Any, str, str, Any]) -> None:
    document, operation, path, value = case
    before = copy.deepcopy((document, value))
    with contextlib.suppress(EvaluationError):
        ours(document, operation, path, value)
    assert (document, value) == before


@given(DOCUMENTS, DOCUMENTS, KEYS)
def test_a_merge_changes_neither_side(document: Any, new: Any, key: str) -> None:
    before = copy.deepcopy((document, new))
    patch_merge(document, (key,), new)
    assert (document, new) == before


@given(JSON, JSON)
def test_a_merge_is_that_of_rfc_7386(present: Any, new: Any) -> None:
    assert merge_patch(present, new) == merged_by_the_book(copy.deepcopy(present), new)


def merged_by_the_book(target: Any, patch: Any) -> Any:
    """The pseudo-code of RFC 7386, section 2."""
    if isinstance(patch, dict):
        if not isinstance(target, dict):
            target = {}
        for name, value in patch.items():
            if value is None:
                target.pop(name, None)
            else:
                target[name] = merged_by_the_book(target.get(name), value)
        return target
    return patch


@given(DOCUMENTS, st.data())
def test_what_is_not_on_the_path_is_shared(document: Any, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(places(document)))
    made = patch_replace(document, pointer(path), 5)
    first = pointer(path)[0]
    assert all(made[key] is part for key, part in document.items() if key != first)


OURS: dict[str, tuple[Any, str, str, Any, Any]] = {
    "add makes parents": ({}, "add", "/a/b/c", 1, {"a": {"b": {"c": 1}}}),
    "add makes parents of null": ({"a": None}, "add", "/a/b", 1, {"a": {"b": 1}}),
    "add makes a list to append to": ({}, "add", "/a/-", 1, {"a": [1]}),
    "add makes a list in a map": ({}, "add", "/a/b/-", 1, {"a": {"b": [1]}}),
    "add replaces a key": ({"a": 1}, "add", "/a", 2, {"a": 2}),
    "add inserts": ({"a": [1, 3]}, "add", "/a/1", 2, {"a": [1, 2, 3]}),
    "add inserts at the end": ({"a": [1]}, "add", "/a/1", 2, {"a": [1, 2]}),
    "add goes into an item": ({"a": [{}]}, "add", "/a/0/b/c", 2, {"a": [{"b": {"c": 2}}]}),
    "add of omit": ({"a": 1}, "add", "/b", OMIT, {"a": 1}),
    "replace by omit": ({"a": 1}, "replace", "/a", OMIT, {"a": 1}),
    "a slash and a tilde in a key": ({}, "add", "/a~1b~0c~01", 1, {"a/b~c~1": 1}),
    "an empty key": ({}, "add", "/", 1, {"": 1}),
    "remove of what is not there": ({"a": 1}, "remove", "/b/c", None, {"a": 1}),
    "remove of an item": ({"a": [1, 2]}, "remove", "/a/0", None, {"a": [2]}),
    "remove beyond a list": ({"a": [1]}, "remove", "/a/5", None, {"a": [1]}),
    "test that holds": ({"a": {"b": [1]}}, "test", "/a", {"b": [1]}, {"a": {"b": [1]}}),
}


@rows(("document", "operation", "path", "value", "expected"), OURS.values(), ids=OURS.keys())
def test_an_operation_gives_what_the_reference_says(document: Any, operation: str, path: str, value: Any, expected: Any) -> None:
    assert ours(document, operation, path, value) == expected


REFUSED: dict[str, tuple[Any, str, str, Any, str]] = {
    "replace of nothing": ({}, "replace", "/a", 1, "at /a: there is no 'a' in a map"),
    "replace beyond a list": ({"a": []}, "replace", "/a/0", 1, "at /a/0: there is no '0' in a list"),
    "add beyond a list": ({"a": []}, "add", "/a/1", 1, "at /a/1: no place '1' in a list of 0"),
    "add with a leading zero": ({"a": [1, 2]}, "add", "/a/01", 1, "at /a/01: no place '01'"),
    "add with a digit of another script": ({"a": [1, 2]}, "add", "/a/²", 1, "at /a/²: no place '²'"),
    "add to an item of a list that is not there": ({}, "add", "/a/0", 1, "at /a/0: nothing is there yet, so an item is added with `-`"),
    "add into text": ({"a": "x"}, "add", "/a/b", 1, "at /a/b: cannot go into text"),
    "add through text": ({"a": "x"}, "add", "/a/b/c", 1, "at /a/b/c: there is no 'b' in text"),
    "add through the end of a list": ({"a": [{}]}, "add", "/a/-/b", 1, "at /a/-/b: there is no '-' in a list"),
    "test that does not hold": ({"a": 1}, "test", "/a", 2, "at /a: expected 2, found 1"),
    "test of nothing": ({}, "test", "/a~1b", 2, "at /a~1b: there is no 'a/b' in a map"),
}


@rows(("document", "operation", "path", "value", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_an_operation_that_cannot_be_done_says_where_and_why(document: Any, operation: str, path: str, value: Any, said: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        ours(document, operation, path, value)
    assert said in str(caught.value)


MERGES: dict[str, tuple[Any, str, Any, Any]] = {
    "into a map": ({"a": {"b": 1}}, "/a", {"c": 2}, {"a": {"b": 1, "c": 2}}),
    "null removes": ({"a": {"b": 1, "c": 2}}, "/a", {"b": None}, {"a": {"c": 2}}),
    "deep": ({"a": {"b": {"c": 1}}}, "/a", {"b": {"d": 2}}, {"a": {"b": {"c": 1, "d": 2}}}),
    "missing parents": ({}, "/a/b", {"c": 1}, {"a": {"b": {"c": 1}}}),
    "an item": ({"a": [{"b": 1}]}, "/a/0", {"c": 2}, {"a": [{"b": 1, "c": 2}]}),
    "over text": ({"a": "x"}, "/a", {"c": 2}, {"a": {"c": 2}}),
    "a scalar": ({"a": {"b": 1}}, "/a", 5, {"a": 5}),
    "omit": ({"a": 1}, "/a", OMIT, {"a": 1}),
}


@rows(("document", "path", "new", "expected"), MERGES.values(), ids=MERGES.keys())
def test_a_merge_gives_what_the_reference_says(document: Any, path: str, new: Any, expected: Any) -> None:
    assert patch_merge(document, pointer(path), new) == expected


@pytest.mark.parametrize("text", ["", "a", "a/b", "#/a"])
def test_a_pointer_begins_with_a_slash(text: str) -> None:
    with pytest.raises(EvaluationError, match="is not a JSON pointer"):
        pointer(text)
