"""Start-up is a feature: what a compilation imports is what it needs, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from grove_cli.commands import COMMANDS
from tests.suite.rows import rows

from .running import run

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = str(ROOT / "tests" / "cli" / "manifests" / "one-clique.yaml")

TOO_SLOW = [
    "aiohttp", "asyncio", "difflib", "graphlib", "hashlib", "httptools", "importlib.metadata", "jinja2", "json", "kubernetes", "logging",
    "networkx", "pathlib", "pydantic", "rich", "shutil", "subprocess", "tempfile", "urllib",
]  # fmt: skip

REPORT = """
import os, sys
from grove_cli.entry import run
code = run(sys.argv[1:])
with open(os.environ["REPORT"], "w") as stream:
    stream.write("\\n".join([str(code), *sys.modules]))
"""


def modules_after(tmp_path: Path, *arguments: str) -> tuple[int, set[str]]:
    """Exit code and loaded modules of a second, warm start, with a cache of its own: from that of the session others drive entries out."""
    report = tmp_path / "report"
    environment = {**os.environ, "REPORT": str(report), "PYTHONPATH": str(ROOT), "GROVE_CACHE_DIR": str(tmp_path / "cache")}
    for _ in range(2):
        subprocess.run([sys.executable, "-c", REPORT, *arguments], env=environment, capture_output=True, check=True)
    code, *modules = report.read_text().split("\n")
    return int(code), set(modules)


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    code, modules = modules_after(tmp_path_factory.mktemp("warm"), "compile", EXAMPLE)
    assert code == 0
    return modules


def test_the_check_sees_what_was_imported(warm: set[str]) -> None:
    assert {"click", "yaml", "grove_compiler.compile", "grove_compiler.engine.runtime.program"} <= warm


@rows("name", TOO_SLOW)
def test_a_warm_compilation_does_not_import(name: str, warm: set[str]) -> None:
    assert name not in warm


def test_a_warm_compilation_does_not_load_the_rules_compiler(warm: set[str]) -> None:
    assert not warm & {
        "grove_compiler.engine.codegen.build",
        "grove_compiler.engine.expressions.expression",
        "grove_compiler.engine.language.load",
    }


def test_a_warm_explanation_does_not_load_the_rules_compiler(tmp_path: Path) -> None:
    code, modules = modules_after(tmp_path, "explain", "-f", EXAMPLE, "pcs/hello", "spec.replicas")
    assert (code, "grove_compiler.explain.explainer" in modules) == (0, True)
    assert not modules & {"jinja2", "grove_compiler.engine.codegen.build", "grove_compiler.engine.language.load"}


def test_a_warm_compilation_does_not_load_other_commands(warm: set[str]) -> None:
    commands = {f"grove_cli.{module}" for module in COMMANDS.values()}
    rarely = {"grove_cli.findings", "grove_cli.compile.summary"}
    assert warm & (commands | rarely) == {"grove_cli.compile.command"}


def test_the_list_of_commands_loads_none_of_them(tmp_path: Path) -> None:
    code, modules = modules_after(tmp_path, "--help")
    assert (code, modules & {f"grove_cli.{module}" for module in COMMANDS.values()}) == (0, set())


def test_each_command_takes_one_line_of_the_list() -> None:
    lines = [line for line in run("--help").out.splitlines() if line.startswith("  ") and line.split()[0] in COMMANDS]
    assert [line.split()[0] for line in lines] == list(COMMANDS)
    assert max(map(len, lines)) <= 80


def test_no_command_but_crds_imports_pydantic(tmp_path: Path) -> None:
    code, modules = modules_after(tmp_path, "lint", EXAMPLE)
    assert (code, "pydantic" in modules) == (0, False)


def test_the_version_needs_no_compiler(tmp_path: Path) -> None:
    _, modules = modules_after(tmp_path, "--version")
    assert not {name for name in modules if name.startswith("grove_compiler.")} - {"grove_compiler.version"}
