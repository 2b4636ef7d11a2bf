"""Describes one small fault: where it is, what it changes, and what became of it."""

from __future__ import annotations

from typing import NamedTuple

FOUND, NEVER_ENDS, SURVIVED, SPENT, STILLBORN, ERROR = "found", "found: never ends", "survived", "budget spent", "stillborn", "error"
"""What becomes of a mutant. A stillborn one is no program at all, such as a rule that refers to a dropped one: it does not count."""

Identity = tuple[str, int, int, str]


class Mutant(NamedTuple):
    """A fault: the bytes `start` to `end` of a file are replaced by `text`. Python's are inside of the function at `function_line`."""

    area: str
    file: str
    line: int
    column: int
    kind: str
    start: int
    end: int
    text: str
    change: str
    function: str = ""
    function_line: int = 0
    statement: int = 0

    @property
    def identity(self) -> Identity:
        """What tells it from others, in this run and in another one of the same product."""
        return self.file, self.line, self.column, self.kind

    @property
    def place(self) -> str:
        """Where it is, as editors read it."""
        return f"{self.file}:{self.line}:{self.column + 1}"

    @property
    def is_rule(self) -> bool:
        """Whether it is one of a rule."""
        return not self.file.endswith(".py")

    def apply(self, source: bytes) -> bytes:
        """Returns the source with the fault."""
        return source[: self.start] + self.text.encode() + source[self.end :]


class Result(NamedTuple):
    """What became of a mutant: the outcome, the test that found it or what else is to be said, seconds of CPU, and tests that ran."""

    mutant: Mutant
    outcome: str
    by: str = ""
    seconds: float = 0.0
    tests: int = 0

    @property
    def is_found(self) -> bool:
        """Whether a test found it, by a failure or because it did not end."""
        return self.outcome in (FOUND, NEVER_ENDS)
