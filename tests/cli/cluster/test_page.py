"""The page about commands that talk to a cluster: what it shows is what happens, one after another in one cluster in memory."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from ..running import ROOT
from .in_memory import Bench, Ended, config_map

PAGE = (ROOT / "docs" / "cluster-commands.md").read_text()
FILES = re.findall(r"^```yaml\n# (\S+\.yaml)\n((?:.*\n)*?)```$", PAGE, re.MULTILINE)
BLOCKS = re.findall(r"^```console\n((?:.*\n)*?)```$", PAGE, re.MULTILINE)


def carried_out(bench: Bench) -> str:
    """The page with what each of its commands prints now."""
    text = PAGE
    for block in BLOCKS:
        commands = re.findall(r"^\$ grove (.+)$", block, re.MULTILINE)
        shown = "".join(f"$ grove {command}\n{printed(bench.run(*shlex.split(command)))}" for command in commands)
        text = text.replace(f"```console\n{block}```", f"```console\n{shown}```", 1)
    return text


def printed(ended: Ended) -> str:
    return "".join(f"{line.rstrip()}\n" for line in (ended.out + ended.err).splitlines())


def test_the_commands_of_the_page_print_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(tmp_path)
    bench.define_ours()
    bench.cluster.seed(config_map("limits", rate="10"), manager="helm")
    for name, text in FILES:
        (tmp_path / name).write_text(text)
    for name in ("examples", "docs"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    assert carried_out(bench).splitlines() == PAGE.splitlines()


def test_the_page_shows_every_command() -> None:
    shown = {command.split()[0] for block in BLOCKS for command in re.findall(r"^\$ grove (.+)$", block, re.MULTILINE)}
    assert {"apply", "diff", "plan", "adopt", "get", "why", "delete"} <= shown
