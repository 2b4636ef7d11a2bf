"""The page about `grove explain`: what it shows is what is printed."""

from __future__ import annotations

import re
import shlex

import pytest

from ..running import ROOT, run

PAGE = (ROOT / "docs" / "explain.md").read_text()
BLOCKS = re.findall(r"^```console\n\$ grove (.+)\n((?:.*\n)*?)```$", PAGE, re.MULTILINE)


def settled(text: str) -> list[str]:
    """Lines without what every edit of the shipped rules changes: their line numbers, and patches that have nothing to do here."""
    lines = re.sub(r"\b((?:rules|templates)/[a-z/-]+\.yaml):\d+", r"\1:#", text).splitlines()
    return [line for line in lines if not line.startswith("skipped ") and "did not apply" not in line]


@pytest.fixture(autouse=True)
def in_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize(("command", "output"), [block for block in BLOCKS if "|" not in block[0]], ids=lambda text: text[:60])
def test_a_command_prints_what_the_page_says(command: str, output: str) -> None:
    ended = run(*shlex.split(command))
    assert settled(ended.out + ended.err) == settled(output)


def test_the_list_of_rules_has_the_lines_that_the_page_shows() -> None:
    ((command, output),) = [block for block in BLOCKS if "|" in block[0]]
    words, _, pattern = command.partition(" | grep -E ")
    found = [line for line in run(*shlex.split(words)).out.splitlines() if re.search(rf"\[(?:{shlex.split(pattern)[0]})", line)]
    assert [line.split()[0] for line in found] == [line.split()[0] for line in output.splitlines()]


def test_the_page_shows_every_kind_of_answer() -> None:
    assert len(BLOCKS) >= 6
