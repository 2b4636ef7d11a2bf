"""What a finding looks like in a terminal, in a file, and to a program."""

from __future__ import annotations

import io
import json
import os
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_cli import findings, terminal
from grove_cli.reading.files import InputFile
from grove_compiler.graph.diagnostic import Diagnostic
from tests.suite.rows import rows

MANIFEST = b"""kind: PodCliqueSet
spec:
  replcas: 2
"""


def finding(message: str = "something is wrong", **more: Any) -> Diagnostic:
    return Diagnostic(**{"code": "some/code", "severity": "error", "message": message, **more})


def texts(**files: bytes) -> findings.FindFile:
    named = {f"{name}.yaml": data for name, data in files.items()}
    return lambda name: InputFile(name, named[name]) if name in named else None


def shown(*found: Diagnostic, find_file: findings.FindFile = lambda _: None) -> list[str]:
    stream = io.StringIO()
    findings.write(found, find_file, stream=stream)
    return stream.getvalue().splitlines()


class FakeTerminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return 1


@pytest.fixture
def tty(monkeypatch: pytest.MonkeyPatch) -> FakeTerminal:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((60, 24)))
    return FakeTerminal()


class TestTheLines:
    def test_a_finding_with_everything(self) -> None:
        wrong = finding(
            "unknown field", code="schema/unknown-field", path="spec.replcas", file="a.yaml", line=3, column=3, nearest="replicas",
            hint="see `kubectl explain`",
        )  # fmt: skip
        assert shown(wrong, find_file=texts(a=MANIFEST)) == [
            "a.yaml:3:3: error: unknown field  [schema/unknown-field]",
            "    spec.replcas",
            "    3 |   replcas: 2",
            "      |   ^",
            '    did you mean "replicas"?',
            "    hint: see `kubectl explain`",
            "1 error",
        ]

    def test_a_finding_about_nothing_in_particular(self) -> None:
        assert shown(finding()) == ["error: something is wrong  [some/code]", "1 error"]

    def test_a_finding_about_a_whole_file(self) -> None:
        assert shown(finding(file="a.yaml"))[0] == "a.yaml: error: something is wrong  [some/code]"

    def test_a_warning_says_so(self) -> None:
        assert shown(finding(severity="warning"))[0].startswith("warning: ")

    def test_admissions_words_and_the_value_come_before_the_message(self) -> None:
        wrong = finding("must be at most 3", type="Invalid value", value=5)
        assert shown(wrong)[0] == "error: Invalid value: 5: must be at most 3  [some/code]"

    def test_a_type_without_a_value_stands_alone(self) -> None:
        assert shown(finding("name is missing", type="Required value"))[0] == "error: Required value: name is missing  [some/code]"

    def test_a_long_value_is_cut_short(self) -> None:
        line = shown(finding("too long", type="Invalid value", value="x" * 1000))[0]
        assert len(line) < 140
        assert "x…: too long" in line

    def test_a_value_that_is_no_json_is_shown_all_the_same(self) -> None:
        assert "{1, 2}" in shown(finding(type="Invalid value", value={1, 2}))[0]

    @pytest.mark.parametrize(
        ("errors", "warnings", "expected"),
        [(1, 0, "1 error"), (0, 1, "1 warning"), (2, 1, "2 errors, 1 warning"), (3, 2, "3 errors, 2 warnings")],
    )
    def test_the_last_line_counts(self, errors: int, warnings: int, expected: str) -> None:
        found = [finding()] * errors + [finding(severity="warning")] * warnings
        assert shown(*found)[-1] == expected

    def test_nothing_is_said_about_nothing(self) -> None:
        assert shown() == []


class TestTheExcerpt:
    def excerpt(self, data: bytes, **more: Any) -> list[str]:
        return shown(finding(file="a.yaml", **more), find_file=texts(a=data))[1:-1]

    def test_without_a_column_there_is_no_caret(self) -> None:
        assert self.excerpt(MANIFEST, line=1) == ["    1 | kind: PodCliqueSet"]

    def test_a_tab_counts_as_one_column(self) -> None:
        assert self.excerpt(b"a:\tb", line=1, column=4) == ["    1 | a: b", "      |    ^"]

    def test_a_line_end_of_windows_is_not_shown(self) -> None:
        assert self.excerpt(b"a: b\r\nc: d\r\n", line=1) == ["    1 | a: b"]

    @pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
    def test_lines_are_found_in_any_encoding_that_the_reader_knows(self, encoding: str) -> None:
        assert self.excerpt("a: b\nc: größer\n".encode(encoding), line=2) == ["    2 | c: größer"]

    def test_a_line_end_of_old_macs_ends_a_line(self) -> None:
        assert self.excerpt(b"a: b\rc: d\r", line=2) == ["    2 | c: d"]

    def test_a_line_that_is_not_there_is_not_shown(self) -> None:
        assert self.excerpt(MANIFEST, line=99, column=1) == []

    def test_a_column_past_the_end_points_at_the_end(self) -> None:
        assert self.excerpt(b"ab", line=1, column=50) == ["    1 | ab", "      |   ^"]

    def test_a_long_line_is_shown_around_the_column(self) -> None:
        line, caret = self.excerpt(b"x" * 5000 + b"!" + b"y" * 5000, line=1, column=5001)
        assert len(line) <= terminal.WIDTH_OF_A_FILE
        assert line[caret.index("^")] == "!"

    def test_bytes_that_are_no_text_are_shown_as_such(self) -> None:
        assert self.excerpt(b"a: \xff", line=1) == ["    1 | a: \ufffd"]

    def test_the_file_is_called_what_people_call_it(self) -> None:
        wrong = finding(file="rules/things.yaml", line=1)
        lines = shown(wrong, find_file=lambda _: InputFile("/home/me/things.yaml", b"rule: x"))
        assert lines[0].startswith("/home/me/things.yaml:1: error:")


class TestInATerminal:
    def test_there_are_colours(self, tty: FakeTerminal) -> None:
        findings.write([finding()], lambda _: None, stream=tty)
        assert "\x1b[1;31merror:\x1b[0m" in tty.getvalue()

    @pytest.mark.parametrize(("variable", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
    def test_there_are_no_colours_for_those_who_want_none(
        self, tty: FakeTerminal, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
    ) -> None:
        monkeypatch.setenv(variable, value)
        findings.write([finding(file="a.yaml", line=1, path="spec")], texts(a=MANIFEST), stream=tty)
        assert "\x1b" not in tty.getvalue()

    def test_a_file_gets_no_colours(self) -> None:
        assert "\x1b" not in "".join(shown(finding(path="spec")))

    def test_long_messages_are_wrapped_to_its_width(self, tty: FakeTerminal, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("NO_COLOR", "1")
        findings.write([finding("words " * 40, hint="more " * 40)], lambda _: None, stream=tty)
        assert max(len(line) for line in tty.getvalue().splitlines()) <= 60

    def test_in_a_file_each_message_stays_on_its_line(self) -> None:
        assert len(shown(finding("words " * 40))) == 2


ESCAPES = ["\x1b[2J", "\x07", "\r", "\n", "\x9b31m", "\u202e", "\x00", "\x7f"]


@rows("escape", ESCAPES, ids=[ascii(escape) for escape in ESCAPES])
@rows("field", ["message", "path", "file", "code", "nearest", "hint"])
def test_no_text_of_an_input_can_steer_the_terminal(escape: str, field: str) -> None:
    lines = shown(finding(**{field: f"a{escape}b"}))
    assert escape not in "".join(lines)
    assert len(lines) <= 3


def test_a_line_of_a_file_cannot_steer_the_terminal() -> None:
    lines = shown(finding(file="a.yaml", line=1, column=5), find_file=texts(a=b"a: \x1b[31mred"))
    assert lines[1] == "    1 | a: \\x1b[31mred"


def test_the_caret_stands_below_its_character_after_an_escape() -> None:
    _, line, caret, _ = shown(finding(file="a.yaml", line=1, column=4), find_file=texts(a=b"\x1b: !"))
    assert line[caret.index("^")] == "!"


ANY_FINDING = st.builds(
    Diagnostic,
    code=st.text(),
    severity=st.sampled_from(["error", "warning"]),
    message=st.text(),
    path=st.text(),
    file=st.sampled_from(["a.yaml", "b"]),
    line=st.integers(0, 5),
    column=st.integers(0, 500),
    nearest=st.text(),
    type=st.text(),
    value=st.none() | st.text() | st.integers(),
    hint=st.text(),
)


@given(ANY_FINDING, st.binary())
def test_any_finding_about_any_bytes_can_be_shown(found: Diagnostic, data: bytes) -> None:
    lines = shown(found, find_file=texts(a=data))
    assert 2 <= len(lines) <= 7


class TestForPrograms:
    def test_what_is_known_is_given(self) -> None:
        wrong = finding("too big", path="spec.x", file="a.yaml", line=1, column=2, type="Invalid value", value=5, nearest="3")
        assert findings.as_manifest([wrong]) == [
            {
                "severity": "error",
                "code": "some/code",
                "message": "too big",
                "path": "spec.x",
                "file": "a.yaml",
                "line": 1,
                "column": 2,
                "type": "Invalid value",
                "nearest": "3",
                "value": 5,
            }
        ]

    def test_what_is_not_known_is_left_out(self) -> None:
        assert findings.as_manifest([finding()]) == [{"severity": "error", "code": "some/code", "message": "something is wrong"}]

    @pytest.mark.parametrize("value", [0, False, "", [], {}])
    def test_a_value_that_counts_as_nothing_is_given(self, value: Any) -> None:
        assert json.loads(json.dumps(findings.as_manifest([finding(value=value)])))[0]["value"] == value


def test_of_very_many_findings_the_first_are_shown_and_all_are_counted() -> None:
    stream = io.StringIO()
    findings.write([finding()] * (findings.MAX_SHOWN + 5), texts(), stream=stream)
    *shown, last = stream.getvalue().splitlines()
    assert (len(shown), last) == (findings.MAX_SHOWN, f"1005 errors, the first {findings.MAX_SHOWN} of which are shown")


def test_lines_are_shown_in_whatever_order_findings_come() -> None:
    stream = io.StringIO()
    found = [finding(file="a.yaml", line=line, column=1) for line in (3, 1, 2, 9, 3)]
    findings.write(found, texts(a=b"one\r\ntwo\nthree"), stream=stream)
    assert [line[8:] for line in stream.getvalue().splitlines() if line[5:7] == " |" and line[:5].strip()] == [
        "three",
        "one",
        "two",
        "three",
    ]


def same(count: int, **changes: str) -> list[Diagnostic]:
    fields: dict[str, Any] = {"message": "is off", "hint": "turn it on", **changes}
    return [finding(path=f"spec.a[{number}]", value=number, **fields) for number in range(count)]


def test_findings_of_one_cause_are_one_with_its_places() -> None:
    lines = shown(*same(4))
    assert sum("is off" in line for line in lines) == 1
    assert lines[-5:] == [
        "    wrong at 3 more places for the same reason:",
        "      spec.a[1] (1)",
        "      spec.a[2] (2)",
        "      spec.a[3] (3)",
        "4 errors",
    ]


OTHERS = {"two": same(2), "no hint": same(4, hint=""), "two and two": [*same(2), *same(2, message="is on")]}


@pytest.mark.parametrize("found", OTHERS.values(), ids=OTHERS.keys())
def test_other_findings_are_told_one_by_one(found: list[Diagnostic]) -> None:
    assert sum("error: " in line for line in shown(*found)) == len(found)
