"""Defaults: where a path leads, what counts as absent, and that no input changes."""

from __future__ import annotations

import contextlib
import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.engine.runtime.defaults import apply_default, parse_default_path
from grove_compiler.engine.runtime.failure import RuleFailure
from grove_compiler.graph.diagnostic import Diagnostic
from tests.suite.rows import rows

from .bookshop import program


def rule(path: str, value: str, more: str = "", id: str = "a") -> str:
    return f"rule: {id}\ndoc: A.\ndefault: {path}\nof: Thing\nvalue: {value}\n{more}"


def defaulted(rules: str | list[str], manifest: Any) -> Any:
    return program(rules).default("Thing", manifest, {"shop": {"name": "Corner"}})


PLACES: dict[str, tuple[str, Any, Any]] = {
    "a field that is absent": ("a", {}, {"a": 5}),
    "a field that is null": ("a", {"a": None}, {"a": 5}),
    "a field that is there": ("a", {"a": 1}, {"a": 1}),
    "a field that is zero": ("a", {"a": 0}, {"a": 0}),
    "a field that is empty": ("a", {"a": ""}, {"a": ""}),
    "a field that is false": ("a", {"a": False}, {"a": False}),
    "a field of a map": ("a.b.c", {"a": {"b": {"x": 1}}}, {"a": {"b": {"x": 1, "c": 5}}}),
    "a parent that is absent": ("a.b", {}, {}),
    "a parent that is null": ("a.b", {"a": None}, {"a": None}),
    "a parent that is text": ("a.b", {"a": "text"}, {"a": "text"}),
    "a parent that is a list": ("a.b", {"a": [{}]}, {"a": [{}]}),
    "every item": ("a[*].b", {"a": [{}, {"b": 1}, {}]}, {"a": [{"b": 5}, {"b": 1}, {"b": 5}]}),
    "items that are no maps": ("a[*].b", {"a": [1, None, "x", {}]}, {"a": [1, None, "x", {"b": 5}]}),
    "every item of what is no list": ("a[*].b", {"a": {"b": 1}}, {"a": {"b": 1}}),
    "items of items": ("a[*][*].b", {"a": [[{}], [{}, {}]]}, {"a": [[{"b": 5}], [{"b": 5}, {"b": 5}]]}),
    "either field": ("'{a,b}'", {"a": 1}, {"a": 1, "b": 5}),
    "either parent": ("'x.{a, b}[*].c'", {"x": {"a": [{}], "b": [{}]}}, {"x": {"a": [{"c": 5}], "b": [{"c": 5}]}}),
    "several paths": ("[a, b.c]", {"b": {}}, {"a": 5, "b": {"c": 5}}),
    "a key with dots": ("'a[example.com/team]'", {"a": {}}, {"a": {"example.com/team": 5}}),
    "a key with a dash": ("a-b", {}, {"a-b": 5}),
}


@rows(("path", "given_", "expected"), PLACES.values(), ids=PLACES.keys())
def test_a_default_is_set_where_its_path_leads(path: str, given_: Any, expected: Any) -> None:
    assert defaulted(rule(path, "5"), given_) == expected


WARN = "absent: [0, '']\nwarn: it becomes 5"


@rows(
    ("path", "given_", "places"),
    [
        ("a", {"a": 0}, ["a"]),
        ("a", {"a": None}, []),
        ("a", {}, []),
        ("a", {"a": 5}, []),
        ("a[*].b", {"a": [{"b": 0}, {}, {"b": 1}, {"b": ""}]}, ["a[0].b", "a[3].b"]),
        ("'{a,b}.c'", {"a": {"c": 0}, "b": {"c": 0}}, ["a.c", "b.c"]),
    ],
)
def test_a_default_warns_of_the_values_that_it_replaces(path: str, given_: Any, places: list[str]) -> None:
    found: list[Diagnostic] = []
    earlier = rule("'{a,b}.x'", "1", id="earlier")  # what an earlier default has copied is compared as well
    program([earlier, rule(path, "5", WARN, id="later")]).default("Thing", given_, {"shop": {}}, found.append)
    assert [(one.code, one.severity, one.message, one.path) for one in found] == [
        ("later", "warning", "it becomes 5", place) for place in places
    ]


VALUES: dict[str, tuple[str, Any]] = {
    "a literal": ("text", "text"),
    "a map": ("{x: [1, {z: 2}]}", {"x": [1, {"z": 2}]}),
    "a field of the map that lacks it": ("'{{ item.size }}'", 3),
    "a field of the map around": ("'{{ parent.name }}'", "outer"),
    "a field of the manifest": ("'{{ object.kind }}'", "Thing"),
    "a root": ("'{{ shop.name }}'", "Corner"),
    "text": ("'{{ parent.name }}-{{ item.size }}'", "outer-3"),
    "template keys": ("[{$for: i in range(item.size), $value: '{{ i }}'}]", [0, 1, 2]),
}


@rows(("value", "expected"), VALUES.values(), ids=VALUES.keys())
def test_a_value_sees_the_map_the_map_around_and_the_manifest(value: str, expected: Any) -> None:
    manifest = {"kind": "Thing", "outer": {"name": "outer", "items": [{"size": 3}]}}
    assert defaulted(rule("outer.items[*].it", value), manifest)["outer"]["items"][0]["it"] == expected


def test_omit_sets_nothing() -> None:
    manifest = {"a": 1}
    assert defaulted(rule("b", "'{{ item.nothing or omit }}'"), manifest) is manifest


def test_a_condition_is_asked_for_each_place() -> None:
    assert defaulted(rule("a[*].b", "5", "when: item.x is defined\n"), {"a": [{"x": 1}, {}]}) == {"a": [{"x": 1, "b": 5}, {}]}


def test_a_name_is_evaluated_for_each_place() -> None:
    text = rule("a[*].b", "'{{ twice }}'", "let: {twice: item.x * 2}\nwhen: [item.x, twice > 2]\n")
    assert defaulted(text, {"a": [{"x": 1}, {"x": 2}, {}]}) == {"a": [{"x": 1}, {"x": 2, "b": 4}, {}]}


def test_a_default_sees_what_former_ones_set() -> None:
    assert defaulted([rule("a", "1"), rule("b", "'{{ object.a + 1 }}'", id="b")], {}) == {"a": 1, "b": 2}


def test_a_default_goes_into_what_a_former_one_made() -> None:
    assert defaulted([rule("a", "{x: 1}"), rule("a.b", "2", id="b")], {}) == {"a": {"x": 1, "b": 2}}


def test_a_constant_of_a_rule_is_not_changed_by_a_later_one() -> None:
    made = program([rule("a", "{x: 1}"), rule("a.b", "'{{ item.x }}-{{ object.name }}'", id="b")])
    assert [made.default("Thing", {"name": name}, {})["a"]["b"] for name in ("p", "q")] == ["1-p", "1-q"]


def test_a_part_of_the_manifest_that_is_copied_stays_apart_from_where_it_was() -> None:
    rules = [rule("spec.a.x", "1"), rule("spec.b", "'{{ object.spec.a }}'", id="b"), rule("spec.b.z", "2", id="c")]
    assert defaulted(rules, {"spec": {"a": {}}}) == {"spec": {"a": {"x": 1}, "b": {"x": 1, "z": 2}}}


ABSENT: list[tuple[str, Any, Any]] = [
    ("[0]", 0, 5),
    ("[0]", 1, 1),
    ("[0]", False, False),
    ("['']", "", 5),
    ("[0, '']", "", 5),
    ("[0]", None, 5),
]


@rows(("absent", "present", "expected"), ABSENT)
def test_further_values_may_count_as_absent(absent: str, present: Any, expected: Any) -> None:
    assert defaulted(rule("a", "5", f"absent: {absent}\n"), {"a": present}) == {"a": expected}


def test_defaults_are_for_the_kinds_that_they_name() -> None:
    made = program(rule("a", "5").replace("of: Thing", "of: [Thing, Other]"))
    assert [made.default(kind, {}, {}) for kind in ("Thing", "Other", "Third")] == [{"a": 5}, {"a": 5}, {}]


def test_a_default_that_fails_names_its_line() -> None:
    with pytest.raises(RuleFailure, match=r"^rules/shop.yaml:5: the rule 'a' failed: TypeError"):
        defaulted(rule("a", "'{{ item.x + 1 }}'"), {})


def test_a_manifest_without_anything_to_set_is_given_back_itself() -> None:
    manifest = {"a": 1}
    assert defaulted(rule("a", "5"), manifest) is manifest


def test_what_a_path_does_not_touch_is_shared() -> None:
    manifest = {"a": {}, "other": {"x": [1]}}
    assert defaulted(rule("a.b", "5"), manifest)["other"] is manifest["other"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 9) | st.sampled_from(["", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "c"]), inner, max_size=3),
    max_leaves=12,
)
STEPS = st.sampled_from(["a", "b", "c", "{a,b}", "a[*]", "b[*]", "{a,c}[*]"])
PATHS = st.builds(lambda steps, last: ".".join([*steps, last]), st.lists(STEPS, max_size=3), st.sampled_from(["a", "b", "{b,c}"]))


@given(st.dictionaries(st.sampled_from(["a", "b", "c"]), JSON, max_size=3), st.lists(PATHS, min_size=1, max_size=3))
def test_no_default_changes_its_input(manifest: Any, paths: list[str]) -> None:
    before = copy.deepcopy(manifest)
    owned: set[int] = set()
    made = manifest
    for path in paths:
        made = apply_default(made, parse_default_path(path), lambda *_: {"a": {}}, owned)
    assert manifest == before


@given(st.dictionaries(st.sampled_from(["a", "b", "c"]), JSON, max_size=3), PATHS)
def test_a_default_applied_twice_is_applied_once(manifest: Any, path: str) -> None:
    parsed = parse_default_path(path)
    once = apply_default(manifest, parsed, lambda *_: 5, set())
    assert apply_default(once, parsed, lambda *_: 6, set()) == once


@given(st.dictionaries(st.sampled_from(["a", "b", "c"]), JSON, max_size=3), PATHS)
def test_a_default_sets_what_a_plain_walk_would_set(manifest: Any, path: str) -> None:
    assert apply_default(manifest, parse_default_path(path), lambda *_: 5, set()) == plainly_defaulted(copy.deepcopy(manifest), path)


def plainly_defaulted(manifest: Any, path: str) -> Any:
    """The oracle: every alternative written out, then a recursive walk that changes in place."""
    heads, _, rest = path.partition(".")
    names = heads.removesuffix("[*]").strip("{}").split(",")
    for name in names if isinstance(manifest, dict) else ():
        if not rest:
            if manifest.get(name) is None:
                manifest[name] = 5
            continue
        inner = manifest.get(name)
        for part in inner if heads.endswith("[*]") and isinstance(inner, list) else [inner]:
            if not heads.endswith("[*]") or isinstance(inner, list):
                plainly_defaulted(part, rest)
    return manifest


WRONG_PATHS = ["", ".", "a.", ".a", "a..b", "a[*]", "{a", "a}", "a[", "[*]", "{}", "{a,}", "{,}", "{ }.b", "a.{}"]


@rows("path", WRONG_PATHS)
def test_a_path_that_leads_nowhere_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="path"):
        parse_default_path(path)


@given(st.text("ab.*[]{}, 0", max_size=12))
def test_any_text_is_a_path_or_refused(text: str) -> None:
    with contextlib.suppress(ValueError):
        assert parse_default_path(text)
