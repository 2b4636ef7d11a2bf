"""The command line, `grove`. Each command is a module or a room of its own and is imported when it is called."""

from grove_operator.cli.entry import main

__all__ = ["main"]
