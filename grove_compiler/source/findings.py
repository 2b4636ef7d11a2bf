"""Defines the limits of input, and collects the findings of one file."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import TYPE_CHECKING

from grove_compiler.graph.diagnostic import Diagnostic, Severity
from grove_compiler.graph.field_path import FieldPath, render
from grove_compiler.record import record
from grove_compiler.source.document import PlaceNode, line_starts, nearest

if TYPE_CHECKING:
    from grove_compiler.source.secrets import SecretParts


@record
class Limits:
    """Bounds one input file; exceeding a limit is an error, never a slow or an exhausted process.

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
_TOO_MANY = "source/too-many-findings"


class LimitExceeded(Exception):
    """Stops reading because a limit is exceeded. The finding about it is already collected."""


class Findings:
    """Collects the findings of one file. `base` is added to every offset: it is where the text that is being parsed begins."""

    def __init__(self, text: str, file: str, limit: int) -> None:
        self.text = text
        self.file = file
        self.limit = limit
        self.base = 0
        self.collected: list[Diagnostic] = []
        self.duplicates: list[tuple[FieldPath, int]] = []
        self._line_starts: list[int] = []
        self._secrets: SecretParts | None = None

    @property
    def end(self) -> int:
        """The offset of the end of the text, relative to `base`."""
        return len(self.text) - self.base

    def error(self, code: str, message: str, offset: int, severity: Severity = "error") -> None:
        """Adds an error, or a warning. Raises `LimitExceeded` when the file has too many findings."""
        self._add(code, message, self.base + offset, severity)
        self._check_limit(self.base + offset)

    def duplicate(self, path: FieldPath, offset: int) -> None:
        """Records a duplicate key; `settle_duplicates` finds its first place."""
        self.duplicates.append((path, self.base + offset))
        self._check_limit(self.base + offset)

    def _check_limit(self, offset: int) -> None:
        if len(self.collected) + len(self.duplicates) >= self.limit:
            self._add(_TOO_MANY, f"stopped after {self.limit} findings", offset)
            raise LimitExceeded

    def settle_duplicates(self, code: str, start: int, end: int, scan: Callable[[str], PlaceNode]) -> None:
        """Turns the duplicates of the document at `text[start:end]` into findings that name both lines."""
        if not self.duplicates:
            return
        # The first place of a key is before its last duplicate, so scanning up to there is enough.
        root = scan(self.text[start : min(end, max(offset for _, offset in self.duplicates))])
        for path, offset in self.duplicates:
            first, _ = self.position(start + nearest(root, path).offset)
            is_new_manifest = code.startswith("yaml") and path in (("apiVersion",), ("kind",))
            remedy = "put a line '---' between two manifests" if is_new_manifest else "keep one of them"
            self._add(code, f"the key {path[-1]!r} is given twice, first in line {first}; {remedy}", offset, path=path)
        self.duplicates.clear()

    def position(self, offset: int) -> tuple[int, int]:
        """Returns line and column of an offset in the file."""
        # One table serves all findings: counting line breaks up to each of a thousand findings in 64 MB would take a minute.
        self._line_starts = self._line_starts or line_starts(self.text)
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def diagnostics(self) -> list[Diagnostic]:
        """Returns all findings in the order of the text; at the same place, the one about the limit comes last."""
        return sorted(self.collected, key=lambda finding: (finding.line, finding.column, finding.code == _TOO_MANY))

    def _add(self, code: str, message: str, offset: int, severity: Severity = "error", path: FieldPath = ()) -> None:
        line, column = self.position(offset)
        from grove_compiler.source.secrets import SecretParts, without_values  # only when something is wrong

        self._secrets = self._secrets or SecretParts(self.text)
        if self._secrets.hide(offset):
            message = without_values(code, message)
        kind = "Duplicate value" if path else ""
        self.collected.append(Diagnostic(code, severity, message, render(path), self.file, line, column, type=kind))
