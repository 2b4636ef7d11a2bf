"""The rules that a command runs, or what is wrong with them."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from grove_compiler.engine.program import Program
from grove_compiler.engine.sources import InvalidRules
from grove_compiler.model.vocabulary import VOCABULARY
from grove_operator import rulebook
from grove_operator.cli.files import UnreadableInput
from grove_operator.cli.findings import Text


def load_program(folders: Sequence[str]) -> Program | None:
    """The shipped rules and those of the folders. None after the findings about wrong ones have been printed."""
    try:
        book = rulebook.read(folders)
        return book.program(VOCABULARY)
    except rulebook.UnreadableRules as error:
        raise UnreadableInput([str(error)]) from None
    except InvalidRules as error:
        from grove_operator.cli import findings  # only when something is wrong

        findings.write(error.diagnostics, lambda name: _text(book, name), sys.stderr)
        return None


def _text(book: rulebook.Rulebook, name: str) -> Text | None:
    file = book.find(name)
    return None if file is None else Text(file.path, file.data)
