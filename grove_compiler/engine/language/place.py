"""Where something is written: the file of a rule or a template, and the place of a part in it. Mistakes are reported there."""

from __future__ import annotations

from collections.abc import Callable

from grove_compiler.graph.field_path import FieldPath, render
from grove_compiler.record import record
from grove_compiler.source.document import Document

Report = Callable[[str, int, FieldPath, str, str], None]
"""Takes a mistake: file, line, path in the document, what is wrong, and the word that was probably meant."""


@record
class RuleFile:
    """One document of one file. `broken` says whether a mistake was reported since it was made.

    What stands in it is `metered` unless it ships with the program.
    """

    file: str
    document: Document | None
    report: Report
    metered: bool = False
    broken: bool = False

    def line(self, path: FieldPath) -> int:
        """The line of a path in the file; the first of a file without a document."""
        return self.document.place(path)[0] if self.document else 1

    def fail(self, path: FieldPath, message: str, suggestion: str = "") -> None:
        """Reports a mistake at a path."""
        self.broken = True
        self.report(self.file, self.line(path), path, message, suggestion)


@record
class Place:
    """A part of a document. `included` is the place that includes it, where it stands in a part of templates."""

    file: RuleFile
    path: FieldPath
    included: Place | None = None

    @property
    def position(self) -> tuple[str, int]:
        """File and line."""
        return self.file.file, self.file.line(self.path)

    @property
    def broken(self) -> bool:
        """Whether a mistake was reported for its document, or for one that includes it."""
        return self.file.broken or (self.included is not None and self.included.broken)

    @property
    def written(self) -> tuple[str, int, str]:
        """File, line and path."""
        return *self.position, render(self.path)

    def below(self, *steps: str | int) -> Place:
        """A part of this part."""
        return Place(self.file, (*self.path, *steps), self.included)

    def fail(self, message: str, suggestion: str = "") -> None:
        """Reports a mistake here; in a part, it names who includes it, since its names are only known there."""
        included, chain = self.included, ""
        while included:
            chain += f" (included by {included.position[0]}:{included.position[1]})"
            included.file.broken = True
            included = included.included
        self.file.fail(self.path, message + chain, suggestion)
