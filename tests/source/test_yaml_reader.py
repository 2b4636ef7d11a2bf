"""Reading YAML: documents, keys, aliases, merge keys, tags, and what is reported where."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.source.findings import Limits
from grove_compiler.source.yaml_reader import SYNTAX_ERRORS, TAG_DIRECTIVES, read_yaml
from tests.suite.effort import runs
from tests.suite.rows import rows


def values(text: str) -> list[Any]:
    documents, diagnostics = read_yaml(text, "set.yaml")
    assert diagnostics == []
    return [document.value for document in documents]


def findings(text: str, limits: Limits | None = None) -> list[Diagnostic]:
    return read_yaml(text, "set.yaml", limits or Limits())[1]


def only_finding(text: str, limits: Limits | None = None) -> Diagnostic:
    (finding,) = findings(text, limits)
    return finding


# Documents

DOCUMENTS: list[tuple[str, list[Any]]] = [
    ("", []),
    ("\n\n", []),
    ("# only a comment", []),
    ("---", []),
    ("---\n---\n---\n", []),
    ("null", []),
    ("a: 1", [{"a": 1}]),
    ("---\na: 1\n", [{"a": 1}]),
    ("a: 1\n---\nb: 2\n", [{"a": 1}, {"b": 2}]),
    ("a: 1\n...\n---\nb: 2\n", [{"a": 1}, {"b": 2}]),
    ("a: 1\n---\n# nothing\n---\nb: 2\n", [{"a": 1}, {"b": 2}]),
    ("%YAML 1.1\n---\na: 1\n", [{"a": 1}]),
    ("\ufeffa: 1", [{"a": 1}]),
    ("a: 1\n---\n\ufeffa: 2", [{"a": 1}, {"a": 2}]),
    ("a: 1\r\n--- # b\r\n\ufeffa: 2", [{"a": 1}, {"a": 2}]),
    ("a: 1\n\ufeff---\na: 2", [{"a": 1}, {"a": 2}]),
    ("a: 1\r\nb:\r\n- 2\r\n", [{"a": 1, "b": [2]}]),
    ("- a\n- - b\n  - c\n- d: e\n  f: g\n", [["a", ["b", "c"], {"d": "e", "f": "g"}]]),
    ("{a: [1, 2], b: {c: d}}", [{"a": [1, 2], "b": {"c": "d"}}]),
    ("text", ["text"]),
    ("a: |\n  one\n  two\nb: >-\n  one\n  two\n", [{"a": "one\ntwo\n", "b": "one two"}]),
    ("a:\nb: ''\n", [{"a": None, "b": ""}]),
    ("- 'yes'\n- \"1\"\n- yes\n- 1\n", [["yes", "1", True, 1]]),
    ("? a\n? b\n", [{"a": None, "b": None}]),
    ("a:\t1", [{"a": 1}]),
    ("! '12'", [12]),
]


@rows(("text", "expected"), DOCUMENTS)
def test_documents_are_read(text: str, expected: list[Any]) -> None:
    assert values(text) == expected


def test_documents_are_numbered_without_the_empty_ones() -> None:
    documents, _ = read_yaml("---\na: 1\n---\n---\nb: 2\n", "set.yaml")
    assert [(document.index, document.line) for document in documents] == [(0, 2), (1, 5)]


def test_a_document_knows_its_file() -> None:
    assert read_yaml("a: 1", "set.yaml")[0][0].file == "set.yaml"


def test_the_order_of_keys_is_kept() -> None:
    assert list(values("z: 1\na: 2\nm: 3\n")[0]) == ["z", "a", "m"]


# Keys

KEYS: list[tuple[str, str]] = [
    ("1: a", "1"),
    ("+1: a", "1"),
    ("0x10: a", "16"),
    ("1.5: a", "1.5"),
    ("1e3: a", "1000"),
    ("true: a", "true"),
    ("'y': a", "y"),
    ("2024-01-01: a", "2024-01-01"),
    ("'<<': a", "<<"),
    ("!!str 1: a", "1"),
    ("!!binary aGk=: a", "hi"),
]


@rows(("text", "key"), KEYS)
def test_keys_become_text_as_kubectl_makes_them(text: str, key: str) -> None:
    assert values(text) == [{key: "a"}]


@pytest.mark.parametrize(("key", "what"), [("null", "null"), ("~", "null"), ("? [a]\n", "a list"), ("? {a: b}\n", "a mapping")])
def test_what_cannot_be_a_key_is_reported(key: str, what: str) -> None:
    finding = only_finding(f"{key}: b")
    assert (finding.code, f"this one is {what}" in finding.message) == ("yaml/key", True)


def test_an_impossible_key_leaves_the_other_entries_alone() -> None:
    documents, _ = read_yaml("a: 1\n? [x]\n: {y: 2}\nb: 3\n", "set.yaml")
    assert documents[0].value == {"a": 1, "b": 3}


def test_a_duplicate_key_is_reported_with_both_lines() -> None:
    finding = only_finding("spec:\n  replicas: 1\n  other: 2\n  replicas: 3\n")
    assert (finding.code, finding.line, finding.column, finding.path, finding.type) == (
        "yaml/duplicate-key",
        4,
        3,
        "spec.replicas",
        "Duplicate value",
    )
    assert "first in line 2" in finding.message


def test_every_duplicate_key_of_every_document_is_reported() -> None:
    text = "a: 1\na: 2\nb:\n- c: 1\n  c: 2\n  c: 3\n---\nd: {e: 1, e: 2}\n"
    assert [(finding.line, finding.path) for finding in findings(text)] == [
        (2, "a"),
        (5, "b[0].c"),
        (6, "b[0].c"),
        (8, "d.e"),
    ]


@pytest.mark.parametrize("text", ["1: a\n'1': b", "{a: 1, 'a': 2}", "'a b': 1\n\"a\\x20b\": 2"])
def test_keys_that_are_written_differently_but_read_alike_are_duplicates(text: str) -> None:
    assert only_finding(text).code == "yaml/duplicate-key"


def test_the_first_of_duplicate_keys_is_kept() -> None:
    assert read_yaml("a: 1\na: 2", "")[0][0].value == {"a": 1}


def test_a_duplicate_key_before_a_syntax_error_is_still_reported() -> None:
    assert [finding.code for finding in findings("a: 1\na: 2\nb: [\n")] == ["yaml/duplicate-key", "yaml/syntax"]


def test_a_duplicate_inside_a_value_that_never_ends_names_its_first_line() -> None:
    assert "first in line 2" in findings("a:\n  b: {c: 1,\n c: 2, [\n")[0].message


# Aliases

ALIASES: list[tuple[str, Any]] = [
    ("a: &x [1]\nb: *x\n", {"a": [1], "b": [1]}),
    ("a: &x\nb: *x\n", {"a": None, "b": None}),
    ("&x a: *x\n", {"a": "a"}),
    ("a: &x 1\nb: &x 2\nc: *x\n", {"a": 1, "b": 2, "c": 2}),
    ("a: &x {b: &y [1]}\nc: [*x, *y]\n", {"a": {"b": [1]}, "c": [{"b": [1]}, [1]]}),
    ("a: &x k\n*x : 1\n", {"a": "k", "k": 1}),
]


@rows(("text", "expected"), ALIASES)
def test_an_alias_repeats_its_anchor(text: str, expected: Any) -> None:
    assert values(text) == [expected]


def test_what_an_alias_repeats_is_the_same_object() -> None:
    (value,) = values("a: &x [1]\nb: *x\n")
    assert value["a"] is value["b"]


@pytest.mark.parametrize("text", ["&a [*a]", "a: &a {b: *a}", "a: &a\n- b:\n  - c: *a\n", "&a {<<: *a}"])
def test_an_alias_inside_its_own_anchor_is_refused(text: str) -> None:
    assert "yaml/cyclic-alias" in [finding.code for finding in findings(text)]


@pytest.mark.parametrize("text", ["*x", "a: *x", "a: &x 1\n---\nb: *x\n", "[*x, &x 1]"])
def test_an_alias_without_an_anchor_before_it_in_the_document_is_reported(text: str) -> None:
    assert only_finding(text).code == "yaml/unknown-alias"


# Merge keys

MERGES: list[tuple[str, Any]] = [
    ("{<<: {a: 1}, b: 2}", {"a": 1, "b": 2}),
    ("{<<: {a: 1}, a: 2}", {"a": 2}),
    ("{<<: [{a: 1}, {a: 2, b: 3}]}", {"a": 1, "b": 3}),
    ("{<<: [{a: 1}], <<: {b: 2}}", {"a": 1, "b": 2}),
    ("{<<: {}}", {}),
    ("{!!merge <<: {a: 1}}", {"a": 1}),
    ("x: &x {p: 1, q: 2}\nz: {<<: *x, p: 5}\n", {"x": {"p": 1, "q": 2}, "z": {"p": 5, "q": 2}}),
    ("x: &x {p: 1}\nz: &z {<<: *x}\nw: {<<: *z, r: 1}\n", {"x": {"p": 1}, "z": {"p": 1}, "w": {"p": 1, "r": 1}}),
    ("a: <<\n", {"a": "<<"}),
    ("- <<\n", ["<<"]),
]


@rows(("text", "expected"), MERGES)
def test_merge_keys_bring_entries(text: str, expected: Any) -> None:
    assert values(text) == [expected]


def test_a_merge_leaves_its_source_alone() -> None:
    assert values("x: &x {p: 1}\nz: {<<: *x, q: 2}\n")[0]["x"] == {"p": 1}


@rows("value", ["3", "null", "[3]", "[[{a: 1}]]", "text", "[{a: 1}, null]"])
def test_only_mappings_can_be_merged(value: str) -> None:
    assert only_finding(f"{{<<: {value}}}").code == "yaml/merge"


def test_a_merge_key_below_an_entry_that_it_replaces_for_kubectl_is_a_warning() -> None:
    documents, (finding,) = read_yaml("x: &x {p: 1}\nz: {p: 5, <<: *x}\n", "")
    assert (finding.severity, finding.code, finding.line, documents[0].value["z"]) == ("warning", "yaml/merge-order", 2, {"p": 1})


# Tags

TAGS: list[tuple[str, Any]] = [
    ("!!str 12", "12"),
    ("!!str null", "null"),
    ("!!str", ""),
    ("!!int '12'", 12),
    ("!!int 0x1e", 30),
    ("!!int -0x1e", -30),
    ("!!float 1", 1),
    ("!!float '1.5'", 1.5),
    ("!!bool 'yes'", True),
    ("!!null ''", None),
    ("!!binary aGk=", "hi"),
    ("!!binary |\n aG\n k=\n", "hi"),
    ("!!timestamp 2024-01-01", "2024-01-01"),
    ("!!map {a: 1}", {"a": 1}),
    ("!!seq [1]", [1]),
    ("!<tag:yaml.org,2002:str> 12", "12"),
    ("! [1]", [1]),
]


@rows(("text", "expected"), TAGS)
def test_standard_tags_are_honoured(text: str, expected: Any) -> None:
    assert values(f"v: {text}") == [{"v": expected}]


WRONG_TAGS = ["!!int x", "!!int 1.0", "!!int 12.5", "!!int 1e3", "!!bool x", "!!bool 1", "!!null x", "!!float x", "!!timestamp x"]
WRONG_TAGS += ["!!binary '*'", "!!binary /w==", "!!map 1", "!!seq x", "!!map [1]", "!!seq {a: 1}", "!!str [1]", "!!int {a: 1}"]


@rows("text", WRONG_TAGS)
def test_a_tag_that_does_not_fit_its_value_is_reported(text: str) -> None:
    assert only_finding(f"v: {text}").code == "yaml/tag"


UNKNOWN_TAGS = {
    "!foo 1": "!foo",
    "!foo [1]": "!foo",
    "!foo {a: 1}": "!foo",
    "!!set {a}": "!!set",
    "!!python/object:x {}": "!!python/object:x",
}


@pytest.mark.parametrize(("text", "tag"), UNKNOWN_TAGS.items())
def test_an_unknown_tag_is_reported_by_its_name(text: str, tag: str) -> None:
    finding = only_finding(f"v: {text}")
    assert (finding.code, f"the tag {tag} is unknown" in finding.message) == ("yaml/tag", True)


def test_a_tagged_number_that_json_cannot_hold_is_reported() -> None:
    assert only_finding("v: !!float .inf").code == "yaml/number"


def test_every_use_of_an_unreadable_number_is_reported() -> None:
    assert [(finding.code, finding.line) for finding in findings("a: .inf\nb: 1\nc: .inf\n")] == [("yaml/number", 1), ("yaml/number", 3)]


# Errors and what is read in spite of them


def test_the_documents_before_and_after_a_syntax_error_are_read() -> None:
    documents, (finding,) = read_yaml("a: 1\n---\nb: [1\n---\nc: 3\n", "set.yaml")
    assert [(document.value, document.index, document.line) for document in documents] == [({"a": 1}, 0, 1), ({"c": 3}, 1, 5)]
    assert finding.code == "yaml/syntax"


def test_a_place_after_a_syntax_error_counts_from_the_beginning_of_the_file() -> None:
    documents, _ = read_yaml("a: }\n---\nb:\n  c: 3\n", "set.yaml")
    assert documents[0].place(("b", "c")) == (4, 3)


def test_a_finding_after_a_syntax_error_counts_from_the_beginning_of_the_file() -> None:
    assert [finding.line for finding in findings("a: }\n---\nb: 1\nb: 2\n")] == [1, 4]


def test_the_rest_of_a_file_with_very_many_syntax_errors_is_left_unread() -> None:
    assert len(findings("a: ]\n---\n" * 100)) == SYNTAX_ERRORS


def test_findings_come_in_the_order_of_the_text() -> None:
    text = "a: *x\nb: {c: 1, c: 2}\nd: !foo 1\ne: .nan\n---\nf: *g\n"
    assert [finding.line for finding in findings(text)] == [1, 2, 3, 4, 6]


@pytest.mark.parametrize(("text", "remedy"), [("kind: A\nkind: B\n", "put a line '---' between"), ("a: {kind: A, kind: B}\n", "keep one")])
def test_a_second_kind_is_a_second_manifest_without_its_line_of_hyphens(text: str, remedy: str) -> None:
    assert remedy in only_finding(text).message


def test_a_finding_names_file_line_and_column() -> None:
    assert only_finding("a:\n  b: *x\n").place == "set.yaml:2:6"


def test_a_document_with_an_error_that_is_not_of_syntax_is_there_for_further_checks() -> None:
    assert read_yaml("a: *x\nb: 2\n", "")[0][0].value == {"a": None, "b": 2}


# Limits

AT_THE_LIMIT: list[tuple[str, Limits]] = [
    ("[" * 5 + "]" * 5, Limits(depth=5)),
    ("a: {b: [{c: {}}]}", Limits(depth=5)),
    ("a: &a [[]]\nb: [[*a]]", Limits(depth=5)),
    ("a: 12345", Limits(size=8)),
    ("[1, 2, 3]", Limits(nodes=8)),
]
BEYOND_THE_LIMIT: list[tuple[str, Limits, str]] = [
    ("[" * 6 + "]" * 6, Limits(depth=5), "yaml/too-deep"),
    ("a: {b: [{c: {d: {}}}]}", Limits(depth=5), "yaml/too-deep"),
    ("a: &a [[]]\nb: [[[*a]]]", Limits(depth=5), "yaml/too-deep"),
    ("a: 123456", Limits(size=8), "yaml/too-large"),
    ("[1, 2, 3, 4, 5, 6, 7, 8, 9]", Limits(nodes=8), "yaml/too-large"),
    ("- &a [1, 2, 3, 4]\n- *a\n- *a\n- *a\n- *a\n", Limits(nodes=18), "yaml/too-large"),
    ("- &a xxxxxxxxxx\n- [*a, *a, *a, *a, *a]\n", Limits(size=40), "yaml/too-large"),
    ("- &a {k: xxxxxxxxxx}\n- [*a, *a, *a, *a, *a]\n", Limits(size=60), "yaml/too-large"),
    ("%TAG !a! tag:x\n" * (TAG_DIRECTIVES + 1), Limits(), "yaml/too-large"),
    ("--- a\n" * 4, Limits(documents=3), "yaml/too-large"),
]


@pytest.mark.parametrize(("text", "limits"), AT_THE_LIMIT)
def test_what_just_keeps_a_limit_is_read(text: str, limits: Limits) -> None:
    assert findings(text, limits) == []


@rows(("text", "limits", "code"), BEYOND_THE_LIMIT)
def test_what_exceeds_a_limit_is_refused(text: str, limits: Limits, code: str) -> None:
    assert only_finding(text, limits).code == code


def test_documents_before_the_one_that_exceeds_a_limit_are_read() -> None:
    documents, _ = read_yaml("a: 1\n---\n[[[]]]\n---\nb: 2\n", "", Limits(depth=2))
    assert [document.value for document in documents] == [{"a": 1}]


@pytest.mark.parametrize("line", ["k: 1\n", "? []\n: 1\n"])
def test_reading_stops_after_too_many_findings(line: str) -> None:
    found = findings(line * 50, Limits(findings=10))
    assert (len(found), {finding.code for finding in found} > {"source/too-many-findings"}) == (11, True)


# Any text


@given(st.text())
def test_any_text_is_read_or_reported(text: str) -> None:
    read_yaml(text, "any.yaml")


@settings(max_examples=runs(500))
@given(st.text(alphabet=" \n\t\r:-#'\"ab|>1\\\x85\ufeff{}[],&*!%?~<.\0\ud800", max_size=40))
def test_any_text_of_yaml_s_own_characters_is_read_or_reported(text: str) -> None:
    documents, diagnostics = read_yaml(text, "any.yaml")
    assert all(finding.line >= 1 and finding.column >= 1 for finding in diagnostics)
    assert all(document.value is not None for document in documents)


TREES = st.recursive(
    st.sampled_from(["1", "a", "'b c'", "*x", "&x 1", "!foo", "~"]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        st.lists(inner, max_size=3).map(lambda items: f"&x [{', '.join(items)}]"),
        st.lists(st.tuples(st.sampled_from(["a", "b", "<<", "1"]), inner), max_size=3).map(
            lambda entries: "{" + ", ".join(f"{key}: {value}" for key, value in entries) + "}"
        ),
    ),
    max_leaves=12,
)


@given(TREES)
def test_any_nest_of_anchors_aliases_and_merge_keys_is_read_or_reported(text: str) -> None:
    documents, diagnostics = read_yaml(text, "any.yaml")
    assert documents or diagnostics or text == "~"
