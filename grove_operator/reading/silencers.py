"""Silences warnings of the user's choice, each with a reason: by a comment on the line, or by an option.

    replicas: 1  # grove:ignore validate/some-rule: one is enough for a test
    # grove:ignore validate/some-rule, validate/another: a comment alone in its line is about the next line

An entry of a list is `CODE: reason`, or `CODE@PATH: reason` for one field path alone.

Warnings are all that can be silenced. An error says that the result would be wrong or that the server would refuse it: what is to
pass nevertheless is a rule to be replaced or disabled (`--rules`), which everybody can see, and not a line in an input. What silences
nothing is told, so that no silencer outlives its reason; but for those in rules, which need not do something in every input.
`grove rules check` asks more of rules than compiling does: there a field that is not known is an error, and yet may only be newer than
what we know.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence

from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.record import record
from grove_operator.reading.files import InputFile

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

    def means(self, finding: Diagnostic) -> bool:
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

    `files` are named as findings do; so are `rules`, those in force. `errors` are codes that can be silenced although they are errors.
    """
    problems: list[Diagnostic] = []
    in_rules = _in_files(rules or {}, [])  # `grove rules check` says what is wrong with them
    silencers = [*_in_list(entries, problems), *_in_files(files, problems), *in_rules]
    remaining: list[Diagnostic] = []
    silenced: list[Silenced] = []
    for finding in findings:
        meant = [one for one in silencers if one.means(finding)]
        for one in meant:
            one.is_used = True
        if meant and (finding.severity == "warning" or finding.code in errors):
            silenced.append(Silenced(finding, meant[0].reason, is_in_source=bool(meant[0].line)))
            continue
        remaining.append(finding)
        if meant:
            message = f"{finding.code!r} is an error here, and only warnings can be silenced; mend it, or replace the rule"
            problems.append(_problem("silence/error", message, meant[0]))
    problems += [
        _problem("silence/unused", f"there is no {one.code!r} here to be silenced; take it out", one)
        for one in silencers
        if not one.is_used and one not in in_rules
    ]
    return remaining + problems, silenced


def _in_list(entries: Sequence[str], problems: list[Diagnostic]) -> list[Silencer]:
    result = []
    for entry in entries:
        parsed = _ENTRY.fullmatch(entry)
        if parsed is None:
            message = f"{entry!r} silences nothing: it is `CODE: reason`, or `CODE@PATH: reason`"
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
            message = f"this silences nothing: it is `# {MARK} CODE: reason`"
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
