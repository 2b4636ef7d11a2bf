"""Formats findings as text and JSON."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from grove_cli.errors import Reported
from grove_cli.exit_codes import EXIT_FINDINGS
from grove_cli.reading.files import InputFile
from grove_cli.terminal import Terminal, terminal_of, visible
from grove_compiler.graph.diagnostic import Diagnostic, has_errors
from grove_compiler.source.reader import encoding_of
from grove_operator.wording import short_value, wording
from kube_objects.words import counted

if TYPE_CHECKING:
    from grove_compiler.source.secrets import SecretParts

SAME_CAUSE = 3
"""Findings that say the same, from which on they are told as one with its places."""
MAX_SHOWN = 1000
"""Findings that are printed; further ones are counted."""


FindFile = Callable[[str], InputFile | None]
"""Returns the file of a diagnostic by its name, with its path."""


def count(findings: Sequence[Diagnostic]) -> tuple[int, int]:
    """Returns the numbers of errors and of warnings."""
    errors = sum(finding.severity == "error" for finding in findings)
    return errors, len(findings) - errors


def summary(findings: Sequence[Diagnostic]) -> str:
    """Returns `3 errors, 1 warning`."""
    words = zip(count(findings), ("error", "warning"), strict=True)
    return ", ".join(counted(number, word) for number, word in words if number)


def write(findings: Sequence[Diagnostic], *files: FindFile, stream: TextIO | None = None) -> None:
    """Writes each finding with its place, path, line and hint, followed by the counts: to standard error without another `stream`.

    The first of `files` that knows the file of a finding has its lines.
    """
    stream = stream or sys.stderr
    terminal = terminal_of(stream)
    excerpts = _Excerpts(files)
    for finding, others in _by_cause(findings[:MAX_SHOWN]):
        stream.write("\n".join([*_lines(finding, excerpts, terminal), *_also_at(others, excerpts, terminal)]) + "\n")
    if findings:
        more = f", the first {MAX_SHOWN} of which are shown" if len(findings) > MAX_SHOWN else ""
        stream.write(terminal.paint(summary(findings) + more, "1") + "\n")


def report(findings: list[Diagnostic], *files: FindFile, code: int = EXIT_FINDINGS) -> None:
    """Writes findings to standard error. Raises `Reported` with an exit code if there are errors among them."""
    write(findings, *files)
    if has_errors(findings):
        raise Reported(code)


def _by_cause(findings: Sequence[Diagnostic]) -> Iterable[tuple[Diagnostic, list[Diagnostic]]]:
    """Yields each finding with the others of the same cause: the same rule says the same of them, and has the same hint."""
    alike: dict[tuple[str, ...], list[Diagnostic]] = {}
    for finding in findings:
        alike.setdefault((finding.severity, finding.code, finding.message, finding.hint, finding.nearest), []).append(finding)
    for finding, *others in alike.values():
        if finding.hint and len(others) + 1 >= SAME_CAUSE:
            yield finding, others
        else:
            yield from ((one, []) for one in (finding, *others))


def _also_at(others: Sequence[Diagnostic], excerpts: _Excerpts, terminal: Terminal) -> Iterable[str]:
    if not others:
        return
    yield f"    {'reported' if others[0].severity == 'warning' else 'wrong'} at {len(others)} more places for the same reason:"
    for finding in others:
        text = excerpts.file(finding.file)
        place, value = visible(_place(finding, text.name if text else finding.file)), ""
        if finding.value is not None:
            value = f" ({visible(short_value(finding.value))})"
        yield "      " + f"{place}: " * bool(place) + terminal.paint(visible(finding.path), "36") + value


def as_manifest(findings: Iterable[Diagnostic]) -> list[dict[str, Any]]:
    """Returns findings as JSON without empty fields."""
    return [{key: value for key, value in _fields(finding) if key in ("message", "value") or value} for finding in findings]


def _fields(finding: Diagnostic) -> Iterable[tuple[str, Any]]:
    for key in ("severity", "code", "message", "path", "file", "line", "column", "type", "nearest", "hint"):
        yield key, getattr(finding, key)
    if finding.value is not None:
        yield "value", finding.value


def _lines(finding: Diagnostic, excerpts: _Excerpts, terminal: Terminal) -> Iterable[str]:
    text = excerpts.file(finding.file)
    colour = "31" if finding.severity == "error" else "33"
    place = visible(_place(finding, text.name if text else finding.file))
    start = f"{place}: {finding.severity}: " if place else f"{finding.severity}: "
    end = f"  [{finding.code}]" if finding.code else ""
    first, *rest = terminal.wrapped(start + visible(wording(finding)) + visible(end), hanging=4)
    if terminal.colours and first.startswith(start):
        painted = terminal.paint(place, "1") + ": " if place else ""
        first = painted + terminal.paint(f"{finding.severity}:", "1", colour) + first[len(start) - 1 :]
    yield first
    yield from rest
    if finding.path:
        yield "    " + terminal.paint(visible(finding.path), "36")
    yield from excerpts.around(finding, terminal, colour)
    if finding.nearest:
        yield from terminal.wrapped(f'    did you mean "{visible(finding.nearest)}"?', hanging=4)
    if finding.hint:
        yield from terminal.wrapped(f"    hint: {visible(finding.hint)}", hanging=4)


def _place(finding: Diagnostic, name: str) -> str:
    return ":".join(str(part) for part in (name, finding.line, finding.column if finding.line else 0) if part)


class _Excerpts:
    """Looks up the lines of findings."""

    def __init__(self, files: Sequence[FindFile]) -> None:
        self._find_files = files
        self._files: dict[str, InputFile | None] = {}
        self._texts: dict[str, _Lines] = {}
        self._secrets: dict[str, SecretParts] = {}

    def file(self, file: str) -> InputFile | None:
        if file not in self._files:
            found = (find(file) for find in self._find_files) if file else ()
            self._files[file] = next(filter(None, found), None)
        return self._files[file]

    def around(self, finding: Diagnostic, terminal: Terminal, colour: str) -> Iterable[str]:
        """Yields the line of a finding with a caret below the column, truncated to the width of the terminal."""
        line = self._line(finding)
        if line is None:
            return
        number = f"{finding.line:5d} | "
        if self._is_secret(finding):
            yield terminal.paint(f"{number}(not shown: it may be a line of a Secret)", "2")
            return
        space = terminal.width - len(number)
        column = min(max(finding.column - 1, 0), len(line))
        cut = max(0, min(column - space * 2 // 3, len(line) - space))
        shown = line[cut : cut + space]
        yield terminal.paint(number, "2") + visible(shown)
        if finding.column:
            yield terminal.paint("      | ", "2") + " " * len(visible(shown[: column - cut])) + terminal.paint("^", "1", colour)

    def _is_secret(self, finding: Diagnostic) -> bool:
        """Returns whether the line that was looked up last may belong to a Secret."""
        from grove_compiler.source.secrets import SecretParts  # only when something is wrong

        lines = self._texts[finding.file]
        if finding.file not in self._secrets:
            self._secrets[finding.file] = SecretParts(lines.text)
        return self._secrets[finding.file].hide(lines.start)

    def _line(self, finding: Diagnostic) -> str | None:
        text = self.file(finding.file)
        if text is None or not finding.line:
            return None
        if finding.file not in self._texts:
            decoded = text.data.decode(encoding_of(text.data), "replace")
            self._texts[finding.file] = _Lines(decoded.replace("\r\n", "\n").replace("\r", "\n"))
        line = self._texts[finding.file].line(finding.line)
        return None if line is None else line.replace("\t", " ")


class _Lines:
    """The lines of a text; `start` is the offset of the last line that was looked up.

    It is walked and not split: findings come nearly in the order of its lines, which may be millions.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._number, self.start = 1, 0

    def line(self, number: int) -> str | None:
        """Returns a line by its number from 1; none after the end."""
        if number < self._number:
            self._number, self.start = 1, 0
        while self._number < number:
            end = self.text.find("\n", self.start)
            if end < 0:
                return None
            self._number, self.start = self._number + 1, end + 1
        end = self.text.find("\n", self.start)
        return self.text[self.start : end if end >= 0 else None]
