"""The structural checker: each kind of schema with each fault, and what holds for any value."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.graph.diagnostic import MAX_FINDINGS, Diagnostic
from grove_compiler.graph.field_path import parse
from grove_compiler.kube.structure import DEEPEST, check, check_and_prune, fault_tree, original_path
from tests.suite.rows import rows

DEFINITIONS: dict[str, dict[str, Any]] = {
    "Clique": {
        "kind": "object",
        "fields": {"name": {"kind": "string"}, "spec": {"ref": "CliqueSpec"}, "labels": {"kind": "map", "values": {"kind": "string"}}},
        "required": ["name"],
    },
    "CliqueSpec": {
        "kind": "object",
        "fields": {
            "replicas": {"kind": "integer", "bits": 32, "minimum": 0},
            "startupType": {"kind": "string", "enum": ["AnyOrder", "InOrder", "Explicit"]},
            "podSpec": {"kind": "object", "fields": {"nodeName": {"kind": "string"}}, "unknown": "warning"},
            "startsAfter": {"kind": "list", "items": {"kind": "string"}, "set": True, "max_items": 3},
            "extra": {"kind": "object", "fields": {}, "unknown": "keep"},
        },
    },
    "Nested": {"kind": "object", "fields": {"below": {"ref": "Nested"}}},
}
CLIQUES = {"kind": "list", "items": {"ref": "Clique"}, "keys": ["name"], "min_items": 1}
PORTS = {
    "kind": "list",
    "items": {"kind": "object", "fields": {"port": {"kind": "integer"}, "protocol": {"kind": "string", "default": "TCP"}}},
    "keys": ["port", "protocol"],
}

RIGHT: list[tuple[dict[str, Any], Any]] = [
    ({"kind": "string"}, ""),
    ({"kind": "string", "pattern": "^a+$"}, "aa"),
    ({"kind": "string", "pattern": r"\$$"}, "a$"),
    ({"kind": "integer"}, 2**63 - 1),
    ({"kind": "integer"}, 8.0),
    ({"kind": "integer", "bits": 32}, -(2**31)),
    ({"kind": "number", "minimum": 0}, 0.5),
    ({"kind": "boolean"}, False),
    ({"kind": "quantity"}, "1.5Gi"),
    ({"kind": "duration"}, "1h30m"),
    ({"kind": "int-or-string"}, 80),
    ({"kind": "int-or-string"}, "http"),
    ({"kind": "time"}, "2026-01-31T09:30:00Z"),
    ({"kind": "time"}, "2026-01-31T09:30:00.123+05:30"),
    ({"kind": "any"}, {"a": [None, 1]}),
    ({"kind": "map"}, {"a": 1, "b": None}),
    ({"kind": "list", "items": {"kind": "any"}}, []),
    ({"ref": "Clique"}, {"name": "a", "spec": None, "labels": {"b": None}}),
    ({"ref": "CliqueSpec"}, {"extra": {"anything": 1}, "startsAfter": ["a", "b"]}),
    (CLIQUES, [{"name": "a"}, {"name": "b"}]),
    (PORTS, [{"port": 80}, {"port": 80, "protocol": "UDP"}]),
]

WRONG: list[tuple[dict[str, Any], Any, str, str]] = [  # schema, value, code, message
    ({"kind": "string"}, 5, "wrong-type", "must be a string, not the number 5"),
    ({"kind": "string"}, True, "wrong-type", "must be a string, not the boolean true"),
    ({"kind": "string", "pattern": "^a+$"}, "ab", "pattern", '"ab" does not match ^a+$'),
    ({"kind": "string", "pattern": "^a+$"}, "aa\n", "pattern", '"aa\\n" does not match ^a+$'),
    ({"kind": "string", "min_length": 1}, "", "too-short", "must not be empty"),
    ({"kind": "string", "min_length": 3}, "ab", "too-short", "needs at least 3 characters, has 2"),
    ({"kind": "string", "max_length": 3}, "abcd", "too-long", "has 4 characters, at most 3 are allowed"),
    ({"kind": "string", "enum": ["A", "B"]}, "C", "not-one-of", 'must be one of A, B, not "C"'),
    ({"kind": "integer"}, "3", "wrong-type", 'must be an integer, not the string "3"'),
    ({"kind": "integer"}, True, "wrong-type", "must be an integer, not the boolean true"),
    ({"kind": "integer"}, 1.5, "wrong-type", "must be an integer, not the number 1.5"),
    ({"kind": "integer"}, float("inf"), "wrong-type", "must be an integer, not the number Infinity"),
    ({"kind": "integer"}, 2**63, "out-of-range", "must be at most 9223372036854775807, not 9223372036854775808"),
    ({"kind": "integer", "bits": 32}, 2**31, "out-of-range", "must be at most 2147483647, not 2147483648"),
    ({"kind": "integer", "minimum": 1}, 0, "out-of-range", "must be at least 1, not 0"),
    ({"kind": "integer", "maximum": 9}, 1 << 300, "out-of-range", "must be at most 9, not of more than 256 bits"),
    ({"kind": "number"}, "0.5", "wrong-type", 'must be a number, not the string "0.5"'),
    ({"kind": "number", "maximum": 1}, 1.5, "out-of-range", "must be at most 1, not 1.5"),
    ({"kind": "boolean"}, "yes", "wrong-type", 'must be true or false, not the string "yes"'),
    ({"kind": "boolean"}, 1, "wrong-type", "must be true or false, not the number 1"),
    ({"kind": "quantity"}, "5gb", "quantity", '"5gb" has the unknown suffix "gb"; write "5G" or "5Gi"'),
    ({"kind": "quantity"}, False, "wrong-type", "must be a quantity such as 8, 500m or 2Gi, not the boolean false"),
    ({"kind": "duration"}, "4", "duration", '"4" lacks a unit after 4; use a value such as "30s", "10m" or "1h30m"'),
    ({"kind": "duration"}, 4, "wrong-type", "must be a duration such as 30s, 10m or 1h30m, not the number 4"),
    ({"kind": "int-or-string"}, [], "wrong-type", "must be an integer or a string, not a list"),
    ({"kind": "int-or-string"}, 2**31, "out-of-range", "must be at most 2147483647, not 2147483648"),
    ({"kind": "time"}, "yesterday", "time", '"yesterday" is not a time such as 2026-01-31T09:30:00Z (RFC 3339)'),
    ({"kind": "time"}, 0, "wrong-type", "must be a time such as 2026-01-31T09:30:00Z, not the number 0"),
    ({"kind": "map"}, [], "wrong-type", "must be an object, not a list"),
    ({"kind": "list", "items": {"kind": "any"}}, {}, "wrong-type", "must be a list, not an object"),
    ({"ref": "Clique"}, "a", "wrong-type", 'must be an object, not the string "a"'),
    (CLIQUES, [], "too-few", "needs at least 1 item, has 0"),
    ({"kind": "list", "items": {"kind": "any"}, "max_items": 1}, [1, 2], "too-many", "has 2 items, at most 1 are allowed"),
]


def only(findings: list[tuple[tuple[str | int, ...], Diagnostic]]) -> Diagnostic:
    assert len(findings) == 1, [diagnostic.message for _, diagnostic in findings]
    return findings[0][1]


def found(value: Any, schema: dict[str, Any]) -> Diagnostic:
    return only(check(value, schema, DEFINITIONS))


@rows(("schema", "value"), RIGHT)
def test_a_right_value_has_no_findings(schema: dict[str, Any], value: Any) -> None:
    assert check(value, schema, DEFINITIONS) == []


@rows(("schema", "value", "code", "message"), WRONG)
def test_a_wrong_value_is_named_with_what_would_be_right(schema: dict[str, Any], value: Any, code: str, message: str) -> None:
    finding = found(value, schema)
    assert (finding.code, finding.message, finding.severity) == (f"schema/{code}", message, "error")


@rows("word", ["Replicas", "replica", "REPLICAS", "repilcas", "re_plicas", "rep-licas", "replicass"])
def test_an_unknown_field_comes_with_the_field_that_was_meant(word: str) -> None:
    finding = found({word: 1}, {"ref": "CliqueSpec"})
    assert (finding.code, finding.nearest) == ("schema/unknown-field", "replicas")


def test_an_unknown_field_that_resembles_none_has_no_nearest() -> None:
    assert found({"colour": 1}, {"ref": "CliqueSpec"}).nearest == ""


def test_an_unknown_field_that_a_neighbour_has_is_shown_the_way_there() -> None:
    assert found({"name": "a", "replicas": 1}, {"ref": "Clique"}).hint == '"replicas" belongs under "spec"'


def test_an_unknown_field_is_a_warning_where_the_schema_says_so() -> None:
    assert found({"podSpec": {"nodename": "a"}}, {"ref": "CliqueSpec"}).severity == "warning"


def test_an_unknown_value_of_an_enum_that_crds_leave_out_is_an_error_as_well() -> None:
    assert found("D", {"kind": "string", "enum": ["A"], "open": True}).severity == "error"


def test_equal_keys_where_doubles_are_taken_are_a_warning() -> None:
    items = {"kind": "object", "fields": {"name": {"kind": "string"}}}
    finding = found([{"name": "A"}, {"name": "A"}], {"kind": "list", "items": items, "keys": ["name"], "doubles": True})
    assert (finding.severity, finding.message) == ("warning", 'name "A" is already used by [0]; the last one takes effect')


def test_a_quantity_with_a_fraction_is_a_warning_since_crds_take_none() -> None:
    finding = found(0.5, {"kind": "quantity"})
    assert (finding.severity, finding.message) == ("warning", 'is a number with a fraction, which CRDs do not accept; write "0.5"')


def test_a_value_outside_an_enum_comes_with_the_one_that_was_meant() -> None:
    assert found({"startupType": "in-order"}, {"ref": "CliqueSpec"}).nearest == "InOrder"


def test_a_missing_field_is_found_at_its_own_path() -> None:
    assert check({}, {"ref": "Clique"}, DEFINITIONS)[0][0] == ("name",)


def test_a_required_field_that_is_null_is_missing() -> None:
    assert found({"name": None}, {"ref": "Clique"}).message == '"name" is required; null counts as absent'


def test_an_item_that_is_null_is_wrong() -> None:
    assert found([{"name": "a"}, None], CLIQUES).message == "must be a list item with a value, not null"


def test_a_duplicate_names_its_key_and_the_first_item_that_has_it() -> None:
    finding = found([{"name": "a"}, {"name": "b"}, {"name": "a"}], CLIQUES)
    assert (finding.path, finding.message) == ("[2]", 'name "a" is already used by [0]; it must be unique in this list')


def test_items_without_their_key_are_no_duplicates() -> None:
    codes = [finding.code for _, finding in check([{}, {}], CLIQUES, DEFINITIONS)]
    assert codes == ["schema/required", "schema/required"]


def test_an_absent_key_counts_as_its_default() -> None:
    assert found([{"port": 80}, {"port": 80, "protocol": "TCP"}], PORTS).value == {"port": 80, "protocol": "TCP"}


def test_equal_items_of_a_set_are_duplicates() -> None:
    assert found({"startsAfter": ["a", "a"]}, {"ref": "CliqueSpec"}).message == '"a" is already in startsAfter[0]'


def test_a_duplicate_has_the_path_from_the_start_of_the_document() -> None:
    findings = check([{"name": "a"}, {"name": "a"}], CLIQUES, DEFINITIONS, ("spec", "cliques"))
    assert findings[0][0] == ("spec", "cliques", 1)


def test_all_faults_are_found_at_once_and_in_the_order_of_the_document() -> None:
    value = [{"name": 1, "spec": {"replicas": "2", "x": 0}}, {"labels": {"a": 1}}]
    paths = [finding.path for _, finding in check(value, CLIQUES, DEFINITIONS)]
    assert paths == ["[0].name", "[0].spec.replicas", "[0].spec.x", "[1].labels.a", "[1].name"]


def test_the_path_as_text_reads_back_as_the_path_as_value() -> None:
    path, finding = check({"labels": {"a.b/c": 1}, "name": "a"}, {"ref": "Clique"}, DEFINITIONS, ("spec", "cliques", 0))[0]
    assert (parse(finding.path), finding.path) == (path, "spec.cliques[0].labels[a.b/c]")


def test_a_key_that_is_no_string_is_a_finding() -> None:
    assert found({1: "a"}, {"kind": "map"}).message == "must be a string as key, not the number 1"


def test_nesting_without_end_is_a_finding_not_a_crash() -> None:
    value: dict[str, Any] = {}
    for _ in range(10 * DEEPEST):
        value = {"below": value}
    assert found(value, {"ref": "Nested"}).code == "schema/too-deep"


def test_nesting_counts_from_where_the_check_starts() -> None:
    start = tuple(["a"] * 2 * DEEPEST)
    assert check({"below": {}}, {"ref": "Nested"}, DEFINITIONS, start) == []


def test_of_thousands_of_unknown_fields_the_first_are_found_and_not_all_have_a_suggestion() -> None:
    findings = check({f"replicas{index}": 0 for index in range(3000)}, {"ref": "CliqueSpec"}, DEFINITIONS)
    assert (len(findings), findings[0][1].nearest, findings[-2][1].nearest) == (MAX_FINDINGS + 1, "replicas", "")
    assert (findings[-1][0], findings[-1][1].code) == ((), "limit/findings")


def test_a_quoted_number_is_told_to_lose_its_quotes() -> None:
    assert found("3", {"kind": "integer"}).hint == "remove the quotes"


def test_a_bare_number_is_told_to_get_quotes() -> None:
    assert found(8080, {"kind": "string"}).hint == "put it in quotes"


@pytest.mark.parametrize(("word", "meant"), [("yes", "true"), ("False", "false"), ("maybe", "")])
def test_a_quoted_truth_value_is_told_how_to_be_written(word: str, meant: str) -> None:
    assert found(word, {"kind": "boolean"}).hint == (f"write {meant} without quotes" if meant else "")


PRUNED: list[tuple[dict[str, Any], Any, Any]] = [
    ({"ref": "Clique"}, {"name": 1, "labels": {"a": "b", "c": 1}}, {"labels": {"a": "b"}}),
    ({"ref": "Clique"}, {"name": "a", "unknown": 1}, {"name": "a"}),
    ({"ref": "CliqueSpec"}, {"podSpec": {"unknown": 1}}, {"podSpec": {"unknown": 1}}),
    ({"ref": "Clique"}, "a", None),
    (CLIQUES, [{"name": "a"}, 5, {"name": "a"}, {"name": "b"}, None], [{"name": "a"}, {"name": "b"}]),
    ({"kind": "map"}, {1: "a", "b": "c"}, {"b": "c"}),
    ({"ref": "Clique"}, {"spec": {"replicas": -1}}, {"spec": {}}),
]


@rows(("schema", "value", "rest"), PRUNED)
def test_pruning_leaves_exactly_what_has_no_errors(schema: dict[str, Any], value: Any, rest: Any) -> None:
    assert check_and_prune(value, schema, DEFINITIONS)[1] == rest


def test_a_value_without_errors_is_handed_back_itself() -> None:
    value = {"podSpec": {"unknown": 1}}
    assert check_and_prune(value, {"ref": "CliqueSpec"}, DEFINITIONS)[1] is value


def test_pruning_does_not_touch_the_value() -> None:
    value = [{"name": 1}, {"name": "a", "labels": {"b": 2}}]
    before = copy.deepcopy(value)
    check_and_prune(value, CLIQUES, DEFINITIONS)
    assert value == before


def test_pruning_shares_what_has_no_errors() -> None:
    value = [{"name": "a"}, 5]
    assert check_and_prune(value, CLIQUES, DEFINITIONS)[1][0] is value[0]


def test_pruning_a_part_of_a_document_goes_by_the_paths_of_the_whole() -> None:
    rest = check_and_prune({"name": 1, "labels": {}}, {"ref": "Clique"}, DEFINITIONS, ("spec", "cliques", 0))[1]
    assert rest == {"labels": {}}


def test_a_pruned_item_s_followers_can_be_traced_to_where_they_stood() -> None:
    value = [1, {"name": "a"}, 2, {"name": "b", "spec": {"startsAfter": [0, "c"]}}]
    findings = check(value, CLIQUES, DEFINITIONS, ("cliques",))
    traced = original_path(("cliques", 1, "spec", "startsAfter", 0), fault_tree(findings))
    assert traced == ("cliques", 3, "spec", "startsAfter", 1)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.sampled_from(["name", "spec", "replicas", "x"]) | st.text(), below),
    max_leaves=20,
)
schemas = st.sampled_from([schema for schema, *_ in RIGHT])


@given(json_values, schemas)
def test_any_value_gets_findings_rather_than_an_exception(value: Any, schema: dict[str, Any]) -> None:
    assert all(finding.code.startswith("schema/") and finding.message for _, finding in check(value, schema, DEFINITIONS))


@given(json_values, schemas)
def test_what_pruning_leaves_lacks_nothing_but_required_fields_and_items(value: Any, schema: dict[str, Any]) -> None:
    _, rest = check_and_prune(value, schema, DEFINITIONS)
    codes = {finding.code for _, finding in check(rest, schema, DEFINITIONS) if finding.severity == "error"}
    assert rest is None or codes <= {"schema/required", "schema/too-few"}


@given(json_values, schemas)
def test_checking_twice_finds_the_same(value: Any, schema: dict[str, Any]) -> None:
    first, second = check(value, schema, DEFINITIONS), check(value, schema, DEFINITIONS)
    assert [(path, finding.message) for path, finding in first] == [(path, finding.message) for path, finding in second]
