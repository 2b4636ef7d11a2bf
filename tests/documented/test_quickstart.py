"""The quickstart without a cluster: its commands run in one shell as they are printed, and print what is shown."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from applier.testing import assets

from ..docs.pages import DOCS
from .commands import ELISION, ROOT, Command, _of_block

PAGE = (DOCS / "quickstart.md").read_text("utf-8").partition("\n## With a cluster")[0]
BLOCKS = [list(_of_block("quickstart.md", block)) for block in re.findall(r"^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)]
MARK = "=== the next command"
WAITS = re.compile(r"grove why")
"""Commands that end with 1 when they have something to say."""


def program(path: Path, line: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(line)
    path.chmod(0o755)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A clone in which `make demo` was run, of somebody whose machine has no kubectl. Ends the cluster of a test that failed."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    program(tmp_path / ".venv" / "bin" / "grove", f"#!{sys.executable}\nfrom grove_cli import main\nmain()\n")
    yield tmp_path
    shell(tmp_path, [".venv/bin/grove dev down"])


def shell(home: Path, lines: list[str]) -> list[str]:
    """Runs lines in one shell, with a mark after each, and gives what each has printed."""
    environment = {name: value for name, value in os.environ.items() if name not in ("KUBECONFIG", "XDG_STATE_HOME")}
    environment |= {
        "HOME": str(home),
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": str(ROOT),
        assets.CACHE_VARIABLE: str(assets.cache_root()),
        "COLUMNS": "80",
    }
    script = "".join(f"{line} || echo 'exit code' $?\necho '{MARK}'\n" for line in lines)
    command = ["bash", "-c", f"exec 2>&1\n{script}"]
    done = subprocess.run(
        command, cwd=home, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, timeout=240
    )
    return done.stdout.split(f"{MARK}\n")[:-1]


def shows(shown: str) -> re.Pattern[str]:
    """What a page shows, as a pattern: `…` in a line is the rest of it, as a line of its own any further lines."""
    lines = [r"(?:.*\n)*" if line == ELISION else re.escape(line).replace(ELISION, ".*") + r" *\n" for line in shown.splitlines()]
    return re.compile("".join(lines))


def run(home: Path, commands: list[Command]) -> None:
    printed = shell(home, [command.line for command in commands])
    for command, text in zip(commands, printed, strict=True):
        assert WAITS.search(command.line) or "exit code" not in text, f"{command.line}:\n{text}"
        if command.shown:
            assert shows(command.shown).fullmatch(text), f"{command.line}:\n{text}"


@pytest.mark.cluster("kube-controller-manager", "kube-scheduler", "kwok")
def test_a_set_runs_on_a_machine_without_a_cluster(home: Path) -> None:
    run(home, [command for block in BLOCKS for command in block if not command.line.startswith("make ")])


def test_ten_commands_lead_from_an_empty_machine_to_a_set_that_runs() -> None:
    assert [len(block) for block in BLOCKS] == [10, 5]


def test_the_readme_leads_here_before_anywhere_else() -> None:
    links = re.findall(r"\]\(((?!http)[^)]+)\)", (ROOT / "README.md").read_text("utf-8"))
    assert links[0] == "docs/quickstart.md"
