"""Loads the rules of a command."""

from __future__ import annotations

from collections.abc import Sequence

from grove_cli import rulebook
from grove_cli.errors import Reported
from grove_cli.exit_codes import EXIT_FINDINGS
from grove_cli.reading.files import InputFile
from grove_compiler.compile import VOCABULARY
from grove_compiler.engine.runtime.program import Program
from grove_compiler.engine.sources import BUILT_IN, InvalidRules


class LoadedRules:
    """The built-in rules and those of folders. Raises `UnreadableInput` for folders that cannot be read."""

    def __init__(self, folders: Sequence[str], *, may_be_empty: bool = False) -> None:
        self.book = rulebook.read(folders, may_be_empty=may_be_empty)

    def program(self, code: int = EXIT_FINDINGS) -> Program:
        """Returns the compiled rules. Raises `Reported` with an exit code after printing findings about invalid ones."""
        try:
            return self.book.program(VOCABULARY)
        except InvalidRules as error:
            from grove_cli import findings  # only when something is wrong

            findings.write(error.diagnostics, self.find_file)
            raise Reported(code) from None

    @property
    def own_files(self) -> dict[str, InputFile]:
        """The user's rules and templates, by their names in findings."""
        return {file.name: InputFile(file.path, file.data) for file in self.book.files if file.origin != BUILT_IN}

    def find_file(self, name: str) -> InputFile | None:
        """Returns the file of a finding, with its path."""
        file = self.book.find(name)
        return None if file is None else InputFile(file.path, file.data)
