"""The command line `grove`. Each command is a module or package, and imported when it is called."""

from grove_cli.entry import main

__all__ = ["main"]
