"""The syntax of names: each rule with what it lets through and what it says otherwise."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.kube import names
from tests.suite.rows import rows

ALL = [
    names.dns1123_label,
    names.dns1123_subdomain,
    names.label_value,
    names.qualified_name,
    names.annotation_key,
    names.environment_variable_name,
    names.relaxed_environment_variable_name,
]

RIGHT = [
    (names.dns1123_label, ["a", "0", "a-b", "1a", "a" * 63]),
    (names.dns1123_subdomain, ["a", "a.b", "1.2.3", "a-b.c-d", ("a" * 63 + ".") * 3 + "a" * 61]),
    (names.label_value, ["", "A", "1", "A_b.c-D", "a" * 63]),
    (names.qualified_name, ["gpu", "nvidia.com/gpu", "A_b.c", "a.b/C"]),
    (names.annotation_key, ["Nvidia.COM/Gpu", "grove.io/mnnvl-group"]),
    (names.environment_variable_name, ["A", "_A", "a.b-c_D1", "-a", ".a"]),
    (names.relaxed_environment_variable_name, ["A B", "1", "..", "%()"]),
]

WRONG = [
    (names.dns1123_label, "", "must not be empty"),
    (names.dns1123_label, "a" * 64, "has 64 characters, at most 63 are allowed"),
    (names.dns1123_label, "My_Clique", "must consist of lower-case letters, digits and \"-\", and has 'M', '_', 'C'; write \"my-clique\""),
    (names.dns1123_label, "_", "must consist of lower-case letters, digits and \"-\", and has '_'"),
    (names.dns1123_label, "-a", "must begin and end with a letter or digit"),
    (names.dns1123_label, "a\n", "must consist of lower-case letters, digits and \"-\", and has '\\n'"),
    (names.dns1123_label, "a.b", "must consist of lower-case letters, digits and \"-\", and has '.'; write \"a-b\""),
    (names.dns1123_subdomain, "a..b", 'must begin and end with a letter or digit on both sides of every "."'),
    (names.dns1123_subdomain, "a.-b", 'must begin and end with a letter or digit on both sides of every "."'),
    (names.dns1123_subdomain, "a" * 254, "has 254 characters, at most 253 are allowed"),
    (names.label_value, "a b", 'must consist of letters, digits, "-", "_" and ".", and has a space'),
    (names.label_value, "\u200b", 'must consist of letters, digits, "-", "_" and ".", and has \'\\u200b\''),
    (names.label_value, "é", "must consist of letters, digits, \"-\", \"_\" and \".\", and has 'é' (U+00E9)"),
    (names.label_value, "a-", "must begin and end with a letter or digit"),
    (names.label_value, "a" * 64, "has 64 characters, at most 63 are allowed"),
    (names.qualified_name, "", "must not be empty"),
    (names.qualified_name, "a/", 'must have a name after "/"'),
    (names.qualified_name, "/a", 'has a prefix, the part before "/", that must not be empty'),
    (names.environment_variable_name, "", "must not be empty"),
    (names.environment_variable_name, "1A", 'must not begin with a digit such as "1"'),
    (names.environment_variable_name, "A=B", "must consist of letters, digits, \"-\", \"_\" and \".\", and has '='"),
    (names.environment_variable_name, ".", 'must not be "." and not begin with ".."'),
    (names.environment_variable_name, "..a", 'must not be "." and not begin with ".."'),
    (names.relaxed_environment_variable_name, "", "must not be empty"),
    (names.relaxed_environment_variable_name, "A=B", "must consist of printable ASCII characters other than \"=\", and has '='"),
]  # fmt: skip


@rows(("rule", "values"), RIGHT, ids=[rule.__name__ for rule, _ in RIGHT])
def test_a_valid_name_has_no_explanation(rule: Callable[[str], str], values: list[str]) -> None:
    assert {value: rule(value) for value in values} == dict.fromkeys(values, "")


@rows(("rule", "value", "explanation"), WRONG)
def test_an_invalid_name_is_explained(rule: Callable[[str], str], value: str, explanation: str) -> None:
    assert rule(value) == explanation


def test_the_explanation_names_three_strange_characters_at_most() -> None:
    assert names.label_value("!$%&").endswith("has '!', '$', '%'")


def test_the_prefix_of_an_annotation_may_have_capitals_but_that_of_a_label_may_not() -> None:
    assert names.annotation_key("Grove.io/a") == ""
    assert names.qualified_name("Grove.io/a").startswith('has a prefix, the part before "/", that must consist of lower-case letters')


@pytest.mark.parametrize("rule", ALL, ids=[rule.__name__ for rule in ALL])
@given(value=st.text())
def test_any_text_gets_an_answer(rule: Callable[[str], str], value: str) -> None:
    assert isinstance(rule(value), str)


@given(st.from_regex(r"\A[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\Z"))
def test_whatever_matches_the_published_label_pattern_is_a_label_a_subdomain_and_a_label_value(value: str) -> None:
    assert [names.dns1123_label(value), names.dns1123_subdomain(value), names.label_value(value)] == ["", "", ""]


@given(st.text(alphabet="aA1-._ ", max_size=8))
def test_a_label_value_is_right_exactly_when_it_matches_the_published_pattern(value: str) -> None:
    import re

    published = r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?"
    assert (names.label_value(value) == "") == (re.fullmatch(published, value) is not None)


@given(st.text(alphabet="aA1-._=", max_size=6))
def test_a_variable_name_is_right_exactly_when_the_shipped_webhook_takes_it(value: str) -> None:
    import re

    taken = re.fullmatch(r"[-._a-zA-Z][-._a-zA-Z0-9]*", value) is not None and value != "." and not value.startswith("..")
    assert (names.environment_variable_name(value) == "") == taken


@given(st.text(alphabet="aB_-.", min_size=1, max_size=12))
def test_the_name_suggested_instead_is_right(value: str) -> None:
    explanation = names.dns1123_subdomain(value)
    if "; write " in explanation:
        assert names.dns1123_subdomain(explanation.rpartition("; write ")[2].strip('"')) == ""
