"""Defines the errors of input that cannot be used, and words those of the operating system. Every command may need it."""

from __future__ import annotations

from collections.abc import Sequence

from grove_cli.exit_codes import EXIT_FINDINGS


def os_reason(error: OSError) -> str:
    """Returns why a file cannot be read or written, as messages have it: `permission denied`."""
    return (error.strerror or type(error).__name__).lower()


class UnreadableInput(Exception):
    """Input that cannot be read. `problems` has a line for each error."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = list(problems)
        super().__init__("; ".join(self.problems))


class Reported(Exception):
    """Input whose findings have been printed. `code` is the exit code of a command that only reads files."""

    def __init__(self, code: int = EXIT_FINDINGS) -> None:
        self.code = code
        super().__init__()
