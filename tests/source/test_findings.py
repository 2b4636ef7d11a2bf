"""The findings of one file: order, lines worked out at the end, and the bound on their number."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.source.document import PlaceNode, position
from grove_compiler.source.findings import Findings, LimitExceeded


def test_findings_are_put_in_the_order_of_the_text() -> None:
    findings = Findings("a\nb\nc", "f", 10)
    findings.error("x", "third", 4)
    findings.error("x", "first", 0, "warning")
    findings.error("x", "second", 2)
    assert [(found.message, found.line, found.severity) for found in findings.diagnostics()] == [
        ("first", 1, "warning"),
        ("second", 2, "error"),
        ("third", 3, "error"),
    ]


def test_offsets_count_from_the_base() -> None:
    findings = Findings("a\nb\nc", "f", 10)
    findings.base = 2
    findings.error("x", "here", 2)
    assert (findings.diagnostics()[0].line, findings.end) == (3, 3)


def test_a_message_with_braces_is_left_alone() -> None:
    findings = Findings("a", "f", 10)
    findings.error("x", "{line} {0} {", 0)
    assert findings.diagnostics()[0].message == "{line} {0} {"


def test_more_findings_than_the_limit_are_refused_and_it_is_said() -> None:
    findings = Findings("a", "f", 2)
    findings.error("x", "one", 0)
    with pytest.raises(LimitExceeded):
        findings.error("x", "two", 0)
    assert [found.code for found in findings.diagnostics()] == ["x", "x", "source/too-many-findings"]


def test_duplicates_are_searched_for_only_when_there_are_some() -> None:
    def scan(text: str) -> PlaceNode:
        raise AssertionError("nothing to look for")

    Findings("a", "f", 10).settle_duplicates("x", 0, 1, scan)


@given(st.text(alphabet="ab\n\r", max_size=30), st.data())
def test_the_lines_of_many_findings_are_those_of_each(text: str, data: st.DataObject) -> None:
    places = st.integers(0, len(text)).filter(lambda offset: text[max(offset - 1, 0) : offset + 1] != "\r\n")
    offsets = sorted(data.draw(st.sets(places, max_size=5)))
    findings = Findings(text, "f", 100)
    for offset in offsets:
        findings.error("x", "", offset)
    assert [(found.line, found.column) for found in findings.diagnostics()] == [position(text, 0, offset) for offset in offsets]
