"""Every case file: exactly the findings that it expects, at the lines that it names."""

from __future__ import annotations

from pathlib import Path

from grove_compiler.engine.runtime.program import Program
from tests.suite.rows import rows

from .case_files import FILES, name_of, read_case


@rows("path", FILES, ids=name_of)
def test_a_case_has_exactly_the_findings_that_it_expects(path: Path, program: Program) -> None:
    case = read_case(path)
    findings = case.findings(program)
    expected = {(entry["rule"], entry["path"]): entry for entry in case.expected}
    found = [case.described(finding, expected.get((finding.code, finding.path), {})) for finding in findings]
    assert sorted(found, key=_order) == sorted(case.expected, key=_order)


@rows("path", FILES, ids=name_of)
def test_the_line_that_a_case_expects_is_in_its_input_once(path: Path) -> None:
    case = read_case(path)
    lines = [case.text_of(number) for number in range(case.documents[0].line, len(case.lines) + 1)]
    assert {entry["at"]: lines.count(entry["at"]) for entry in case.expected} == {entry["at"]: 1 for entry in case.expected}


def test_every_validation_of_these_topics_is_seen_to_find_something(program: Program) -> None:
    files = {f"rules/validation/{path.parent.name}.yaml" for path in FILES}
    seen = {entry["rule"] for path in FILES for entry in read_case(path).expected}
    assert {rule.id for rule in program.rules if rule.verb == "validate" and rule.file in files} - seen == set()


def test_every_topic_has_a_case_that_is_accepted() -> None:
    accepted = {path.parent.name for path in FILES if not read_case(path).expected}
    assert {path.parent.name for path in FILES} - accepted == set()


def _order(entry: dict[str, str]) -> list[tuple[str, str]]:
    return sorted(entry.items())
