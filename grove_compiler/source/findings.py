"""How much input a reader accepts, and what it finds in one file; lines and columns are worked out once, at the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from grove_compiler.graph.diagnostic import Diagnostic, Severity
from grove_compiler.graph.field_path import FieldPath, render
from grove_compiler.source.document import Place, nearest, position


@dataclass(slots=True, eq=False)
class Limits:
    """Bounds on one input file; what goes beyond them is an error, never a slow or an exhausted process.

    `size` is in characters, also after aliases are expanded. `nodes` counts mapping entries and list items over the whole
    file, aliases expanded, as well as the parser's events. `documents` counts those of one file. `depth` counts containers inside
    one another, the root included.
    `findings` is how many diagnostics one file may collect before reading stops.
    """

    size: int = 64 * 1024 * 1024
    nodes: int = 5_000_000
    documents: int = 100_000
    depth: int = 100
    findings: int = 1000


DEFAULT_LIMITS = Limits()


class Refused(Exception):
    """A limit is exceeded: reading stops here. The finding that says so is already collected."""


class Finding(NamedTuple):
    """A diagnostic with offsets instead of lines; `first` is the offset whose line replaces `{line}` in the message."""

    offset: int
    code: str
    severity: Severity
    message: str
    path: FieldPath = ()
    first: int | None = None


def _remedy(path: FieldPath) -> str:
    is_new_manifest = path in (("apiVersion",), ("kind",))
    return "put a line '---' between two manifests" if is_new_manifest else "keep one of them"


class Findings:
    """The findings of one file. `base` is added to every offset: it is where the text that is being parsed begins."""

    def __init__(self, text: str, file: str, limit: int) -> None:
        self.text = text
        self.file = file
        self.limit = limit
        self.base = 0
        self.collected: list[Finding] = []
        self.duplicates: list[tuple[FieldPath, int]] = []

    @property
    def end(self) -> int:
        """The offset of the end of the text, seen from `base`."""
        return len(self.text) - self.base

    def error(self, code: str, message: str, offset: int) -> None:
        """Adds an error. Raises `Refused` when the file has too many of them."""
        self.add(Finding(self.base + offset, code, "error", message))

    def warning(self, code: str, message: str, offset: int) -> None:
        """Adds a warning. Raises `Refused` when the file has too many findings."""
        self.add(Finding(self.base + offset, code, "warning", message))

    def add(self, finding: Finding) -> None:
        """Adds a finding whose offset counts from the beginning of the file."""
        self.collected.append(finding)
        self._count(finding.offset)

    def duplicate(self, path: FieldPath, offset: int) -> None:
        """Notes a key that its mapping has already; `settle_duplicates` finds out where it stood first."""
        self.duplicates.append((path, self.base + offset))
        self._count(self.base + offset)

    def _count(self, offset: int) -> None:
        if len(self.collected) + len(self.duplicates) >= self.limit:
            self.collected.append(Finding(offset, "source/too-many-findings", "error", f"stopped after {self.limit} findings"))
            raise Refused

    def settle_duplicates(self, code: str, start: int, end: int, scan: Callable[[str], Place]) -> None:
        """Turns the duplicates of the document at `text[start:end]` into findings that name both lines."""
        if not self.duplicates:
            return
        # Where a key stands first is known before it stands there again.
        root = scan(self.text[start : min(end, max(offset for _, offset in self.duplicates))])
        for path, offset in self.duplicates:
            message = f"the key {path[-1]!r} is given twice, first in line {{line}}; {_remedy(path)}"
            self.collected.append(Finding(offset, code, "error", message, path, start + nearest(root, path).key))
        self.duplicates.clear()

    def diagnostics(self) -> list[Diagnostic]:
        """Returns all findings in the order of the text."""
        self.collected.sort(key=lambda finding: finding.offset)
        places = self._positions({offset for finding in self.collected for offset in (finding.offset, finding.first or 0)})
        return [self._diagnostic(finding, places) for finding in self.collected]

    def _positions(self, offsets: set[int]) -> dict[int, tuple[int, int]]:
        """Returns line and column of each offset, in one pass over the text."""
        places: dict[int, tuple[int, int]] = {}
        start, first_line = 0, 1
        for offset in sorted(offsets):
            line, column = position(self.text, start, offset)
            first_line += line - 1
            start = offset - column + 1
            places[offset] = first_line, column
        return places

    def _diagnostic(self, finding: Finding, places: dict[int, tuple[int, int]]) -> Diagnostic:
        line, column = places[finding.offset]
        message = finding.message
        if finding.first is not None:
            message = message.replace("{line}", str(places[finding.first][0]))
        kind = "Duplicate value" if finding.path else ""
        return Diagnostic(
            finding.code,
            finding.severity,
            message,
            path=render(finding.path),
            file=self.file,
            line=line,
            column=column,
            type=kind,
        )
