"""The README leads everywhere: to every page, every command, every flag; and no page leads nowhere."""

from __future__ import annotations

import re
from pathlib import Path

import click

from grove_cli.commands import COMMANDS, grove
from tests.suite.rows import rows

from .pages import DOCS

ROOT = DOCS.parent
README = (ROOT / "README.md").read_text()
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md")), ROOT / "examples" / "rules" / "README.md"]
COMPILING = ("compile", "lint", "explain", "impact", "graph", "fit")
FLAGS = re.findall(r"^\| (`-.+?) \| ([\w, ]+) \| (.+) \|$", README, re.MULTILINE)
OUR_PATH = re.compile(r"`((?:docs|examples|grove_compiler|grove_operator|kube_objects|tests)/[\w./-]+)`")


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@rows("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_the_readme_leads_to_every_page(page: Path) -> None:
    assert f"(docs/{page.name})" in README


@rows("page", PAGES, ids=name_of)
def test_links_lead_to_files_that_exist(page: Path) -> None:
    links = [link for link in re.findall(r"\]\(([^)#\s]+)", page.read_text()) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []


@rows("page", PAGES, ids=name_of)
def test_files_of_ours_that_are_named_exist(page: Path) -> None:
    assert [path for path in OUR_PATH.findall(page.read_text()) if not (ROOT / path).exists()] == []


def test_the_readme_names_every_command() -> None:
    table = README.split("| command | does |")[1].split("\n\n")[0]
    assert set(re.findall(r"`grove (\w+)", table)) == set(COMMANDS)


def commands_of(words: str) -> list[str]:
    return [name for word in words.split(", ") for name in (COMPILING if word == "all" else (word,))]


@rows(("flags", "commands", "_"), FLAGS, ids=[f"{flags} of {commands}" for flags, commands, _ in FLAGS])
def test_the_commands_have_the_flags_that_the_readme_says(flags: str, commands: str, _: str) -> None:
    wanted = {re.split(r"[ [=]", flag)[0] for flag in re.findall(r"`([^`]+)`", flags)}
    found = {name: {option for one in params(name) for option in one.opts} for name in commands_of(commands)}
    assert {name: wanted - options for name, options in found.items()} == {name: set() for name in found}


def test_the_formats_of_commands_are_those_that_the_readme_says() -> None:
    said = {name: set(re.findall(r"`(\w+)`", meaning)) for flags, names, meaning in FLAGS if flags == "`-o`" for name in commands_of(names)}
    has = {name: {*one.type.choices} for name in said for one in params(name) if "-o" in one.opts and isinstance(one.type, click.Choice)}
    assert said == has


def test_flags_are_told() -> None:
    assert len(FLAGS) > 10


def params(name: str) -> list[click.Parameter]:
    """The options of a command."""
    command = grove.get_command(click.Context(grove), name)
    assert command is not None
    return command.params
