"""JSON pointers are read and written as RFC 6901 has it."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kube_objects.json_pointer import at, is_index, join, split
from tests.suite.rows import rows

# The document and the rows of RFC 6901, section 5, whose values are not null.
DOCUMENT: dict[str, Any] = {"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, 'k"l': 6, " ": 7, "m~n": 8}
VALUES = [
    ("", DOCUMENT), ("/foo", ["bar", "baz"]), ("/foo/0", "bar"), ("/", 0), ("/a~1b", 1), ("/c%d", 2), ("/e^f", 3), ("/g|h", 4),
    ("/i\\j", 5), ('/k"l', 6), ("/ ", 7), ("/m~0n", 8),
]  # fmt: skip


@rows(("pointer", "value"), VALUES)
def test_the_examples_of_the_rfc_are_found(pointer: str, value: Any) -> None:
    assert at(DOCUMENT, pointer) == value


@rows("pointer", ["/bar", "/foo/2", "/foo/00", "/foo/-", "/foo/bar", "/a~1b/c"])
def test_what_does_not_exist_is_the_default(pointer: str) -> None:
    assert at(DOCUMENT, pointer, "none") == "none"


@given(st.lists(st.text()))
def test_what_is_joined_is_split_into_the_same_steps(steps: list[str]) -> None:
    assert split(join(steps)) == tuple(steps)


def test_a_pointer_is_continued() -> None:
    assert join(("example.com/team", 0), "/metadata/labels") == "/metadata/labels/example.com~1team/0"


@rows(("step", "expected"), [("0", True), ("10", True), ("01", False), ("-", False), ("", False), ("٣", False)])
def test_an_index_has_digits_and_no_leading_zero(step: str, expected: bool) -> None:
    assert is_index(step) is expected
