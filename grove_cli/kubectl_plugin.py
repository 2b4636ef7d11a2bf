"""Runs `grove` as a plugin of kubectl: `kubectl grove`, and its completion."""

from __future__ import annotations

import re
import sys
from typing import NoReturn

NAME = "kubectl grove"
FILES, NO_FILES = 0, 4
"""Directives of a completion, as cobra defines them: whether the shell also offers files where there are no values."""


def main() -> NoReturn:
    """Runs `kubectl grove`, whose help texts and examples call it so."""
    import click

    from grove_cli import entry

    class Formatter(click.HelpFormatter):
        """Writes help texts with the plugin's name in examples."""

        def getvalue(self) -> str:
            return re.sub(r"^( +)grove ", rf"\1{NAME} ", super().getvalue(), flags=re.MULTILINE)

    click.Context.formatter_class = Formatter
    entry.main(NAME)


def complete() -> None:
    """Prints the completions of a command line, the last word of which is incomplete, and a directive, as kubectl expects them."""
    from click.shell_completion import ShellComplete

    from grove_cli.commands import grove

    *words, incomplete = sys.argv[1:] or [""]
    found = ShellComplete(grove, {}, NAME, "").get_completions(words, incomplete)
    values = [item for item in found if item.type == "plain"]
    for item in values:
        print(f"{item.value}\t{item.help}" if item.help else item.value)
    print(f":{FILES if len(values) < len(found) else NO_FILES}")
