"""Silences warnings of the user's choice, each with a reason: by a comment on the line, or by an option.

    replicas: 1  # grove:ignore validate/some-rule: one is enough for a test
    # grove:ignore validate/some-rule, validate/another: a comment on a line of its own applies to the next line

An entry of an option is `CODE: reason`, or `CODE@PATH: reason` for one field path only.

Only warnings can be silenced. An error means that the result would be wrong or that the server would reject it: to accept it nevertheless,
replace or disable its rule (`--rules`), which is visible to everybody, unlike a line in an input. Unused silencers are reported, so that
none outlives its reason, except for those in rules, which need not apply to every input. `grove rules check` is stricter with rules than
the compiler: there, an unknown field is an error that can be silenced, as it may only be newer than our schemas.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence

from grove_cli.reading.files import InputFile
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.record import record

MARK = "grove:ignore"
_COMMENT = re.compile(rf"^(?P<before>.*?)#\s*{MARK}\b(?P<entry>.*)$")
_ENTRY = re.compile(r"\s*(?P<codes>[a-z0-9/-]+(\s*,\s*[a-z0-9/-]+)*)\s*(@(?P<path>\S+?))?\s*:\s*(?P<reason>.*\S)\s*")


@record
class Silencer:
    """A silenced code. `line` is the line that a comment applies to, 0 for an option; `own_line` is that of the comment."""

    code: str
    reason: str
    path: str = ""
    file: str = ""
    line: int = 0
    own_line: int = 0
    is_used: bool = False

    def matches(self, finding: Diagnostic) -> bool:
        """Returns whether a finding is silenced."""
        at_line = not self.line or (finding.file == self.file and finding.line == self.line)
        return finding.code == self.code and at_line and self.path in ("", finding.path)


@record
class Silenced:
    """A silenced warning, and the reason."""

    finding: Diagnostic
    reason: str
    is_in_source: bool


def silence(
    findings: Sequence[Diagnostic],
    files: Mapping[str, InputFile],
    entries: Sequence[str] = (),
    *,
    rules: Mapping[str, InputFile] | None = None,
    errors: Container[str] = (),
) -> tuple[list[Diagnostic], list[Silenced]]:
    """Returns the findings that remain, including errors of silencers, and the silenced ones.

    `files` and `rules`, those that are loaded, have the names that findings use. `errors` are codes of errors that can be silenced.
    """
    problems: list[Diagnostic] = []
    in_rules = _in_files(rules or {}, [])  # their errors are reported by `grove rules check`
    silencers = [*_in_list(entries, problems), *_in_files(files, problems), *in_rules]
    remaining: list[Diagnostic] = []
    silenced: list[Silenced] = []
    for finding in findings:
        matching = [silencer for silencer in silencers if silencer.matches(finding)]
        for silencer in matching:
            silencer.is_used = True
        if matching and (finding.severity == "warning" or finding.code in errors):
            silenced.append(Silenced(finding, matching[0].reason, is_in_source=bool(matching[0].line)))
            continue
        remaining.append(finding)
        if matching:
            message = f"{finding.code!r} is an error here, and only warnings can be silenced; fix it, or replace the rule"
            problems.append(_problem("silence/error", message, matching[0]))
    problems += [
        _problem("silence/unused", f"there is no {silencer.code!r} here to silence; remove the entry", silencer)
        for silencer in silencers
        if not silencer.is_used and silencer not in in_rules
    ]
    return remaining + problems, silenced


def _in_list(entries: Sequence[str], problems: list[Diagnostic]) -> list[Silencer]:
    result = []
    for entry in entries:
        parsed = _ENTRY.fullmatch(entry)
        if parsed is None:
            message = f"{entry!r} silences nothing: expected `CODE: reason`, or `CODE@PATH: reason`"
            problems.append(Diagnostic("silence/form", "warning", message))
            continue
        result += [Silencer(code.strip(), parsed["reason"], parsed["path"] or "") for code in parsed["codes"].split(",")]
    return result


def _in_files(files: Mapping[str, InputFile], problems: list[Diagnostic]) -> list[Silencer]:
    marked = ((name, file.data) for name, file in files.items() if MARK.encode() in file.data)
    return [silencer for name, data in marked for silencer in _in_file(name, data, problems)]


def _in_file(file: str, data: bytes, problems: list[Diagnostic]) -> list[Silencer]:
    result = []
    lines = re.split("\r\n|\r|\n", data.decode("utf-8", "replace"))
    for number, line in enumerate(lines, 1):
        comment = _COMMENT.match(line) if MARK in line else None
        if comment is None:
            continue
        parsed = _ENTRY.fullmatch(comment["entry"])
        if parsed is None:
            message = f"this silences nothing: expected `#  {MARK} CODE: reason`"
            problems.append(Diagnostic("silence/form", "warning", message, file=file, line=number))
            continue
        about = number if comment["before"].strip() else _next_line(lines, number)
        codes = parsed["codes"].split(",")
        result += [Silencer(code.strip(), parsed["reason"], parsed["path"] or "", file, about, number) for code in codes]
    return result


def _next_line(lines: Sequence[str], number: int) -> int:
    """Returns the next line that is not a comment, so that several silencers may precede a line."""
    following = range(number + 1, len(lines) + 1)
    return next((other for other in following if lines[other - 1].strip() and not lines[other - 1].lstrip().startswith("#")), number)


def _problem(code: str, message: str, silencer: Silencer) -> Diagnostic:
    return Diagnostic(code, "warning", message, silencer.path, silencer.file, silencer.own_line)
