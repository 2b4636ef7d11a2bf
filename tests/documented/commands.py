"""Every command that the README, a page or a help text prints, with the output that is shown beneath it.

A command is a line of a fenced block that begins with `$ `, a line of a block without such lines that begins with one of `PROGRAMS`,
a pipe in running text, or a line under "Examples:" of a help text. What stands behind two spaces and a `#` (in a help text behind two
spaces) is a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import click

from grove_cli.commands import COMMANDS, grove

from ..docs.pages import DOCS

ROOT = DOCS.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md"))]
PROGRAMS = ("grove", "kubectl", "helm", "kustomize")
_BLOCK = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_FOR_SHELLS = {"console", "sh", "text", ""}
_INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_STARTS = re.compile(rf"(?:{'|'.join(PROGRAMS)}) ")
ELISION = "…"


class Command(NamedTuple):
    """A command line for a shell; `shown` is what the page says that it prints, empty where it says nothing."""

    page: str
    line: str
    shown: str = ""

    @property
    def is_pipe(self) -> bool:
        return " | " in self.line


def commands_of_pages() -> list[Command]:
    """Those of the README and the pages, in their order."""
    return [one for page in PAGES for one in _commands_in(page.name, page.read_text("utf-8"))]


def commands_of_help() -> list[Command]:
    """The examples of all help texts."""
    context = click.Context(grove)
    helps = [("grove", grove), *((name, grove.get_command(context, name)) for name in COMMANDS)]
    return [
        Command(f"grove {name} --help", _without_comment(line, "  "))
        for name, command in helps
        for line in re.findall(r"^  (?=\S)(.+)$", _examples(command), re.MULTILINE)
    ]


def _examples(command: click.Command | None) -> str:
    return (getattr(command, "epilog", None) or "").partition("Examples:\n")[2].partition("\n\n")[0]


def _commands_in(page: str, text: str) -> Iterator[Command]:
    for block in (content for language, content in _BLOCK.findall(text) if language in _FOR_SHELLS):
        yield from _of_block(page, block.replace("|\n", "| "))
    for words in _INLINE.findall(_BLOCK.sub("", text)):
        line = words.replace("\\|", "|").strip()
        if _STARTS.match(line) and " | " in line:
            yield Command(page, line)


def _of_block(page: str, block: str) -> Iterator[Command]:
    if re.match(r"\$ ", block):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, shown = part.partition("\n")
            yield Command(page, _without_comment(line), shown)
    else:
        yield from (Command(page, _without_comment(line)) for line in block.splitlines() if _STARTS.match(line))


def _without_comment(line: str, mark: str = "  #") -> str:
    return line.partition(mark)[0].strip() if mark == "  " else re.split(r"\s{2,}# | # ", line, maxsplit=1)[0].strip()
