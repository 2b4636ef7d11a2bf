"""The rules in `examples/rules`: small, tested by their own cases, and changing nothing but what they say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from grove_cli import rulebook
from grove_cli.entry import run
from grove_cli.golden.differences import Mismatch, compare_objects
from grove_compiler.compile import VOCABULARY, Inputs
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.graph.diagnostic import has_errors
from grove_compiler.graph.node import Manifest
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.source.document import Document
from grove_compiler.source.reader import read_text
from tests.suite.rows import rows

from .test_examples import ROOT, YamlFile

RULES = ROOT / "examples" / "rules"
FOLDERS = sorted(path for path in RULES.iterdir() if path.is_dir())
MAX_LINES = 10
WITH_KAI = {"kai-queue"}
LONGER = {"house-style"}
"""It shows three things at once: a rule replaced, rules disabled, a template replaced."""


def documents(*names: str) -> list[Document]:
    return [document for name in names for document in read_text((ROOT / "examples" / name).read_text(), name)[0]]


def compiled(inputs: tuple[str, ...], folder: Path | None = None) -> list[Manifest]:
    program = rulebook.read([str(folder)] if folder else []).program(VOCABULARY)
    result = compile_inputs(Inputs(documents(*inputs), settings=Settings(pods=True)), program)
    assert not has_errors(result.diagnostics), result.diagnostics
    return [node.object for node in result.graph.nodes]


def told(difference: Mismatch) -> dict[str, Any]:
    """A difference as a document: what was there is `without`, what is there now is `with`."""
    values = {"without": difference.expected, "with": difference.found}
    left_out = {"missing": "with", "unexpected": "without"}.get(difference.change, "")
    return {"object": difference.subject, "path": difference.path} | {key: value for key, value in values.items() if key != left_out}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_rules_change_what_they_say_and_nothing_else(folder: Path, snapshot: SnapshotAssertion) -> None:
    inputs = ("kai-queue.yaml", "operator-configuration.yaml") if folder.name in WITH_KAI else ("multi-node-aggregated.yaml",)
    differences = compare_objects(compiled(inputs), compiled(inputs, folder))
    text = yaml.safe_dump_all(json.loads(json.dumps([told(one) for one in differences])), sort_keys=False, width=140)
    assert text == snapshot(extension_class=YamlFile)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_cases_of_the_rules_pass(folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    code = run(["test", str(folder.relative_to(ROOT))])
    assert (code, capfd.readouterr().err) == (0, "")


@rows("folder", FOLDERS, ids=lambda folder: folder.name)
def test_rules_are_at_most_ten_lines_of_yaml_and_no_code(folder: Path) -> None:
    files = [path for path in folder.rglob("*") if path.is_file() and "tests" not in path.relative_to(folder).parts]
    lines = [
        line for path in files for line in path.read_text().splitlines() if line.strip() not in ("", "---") and not line.startswith("#")
    ]
    assert {path.suffix for path in files} == {".yaml"}
    assert len(lines) <= MAX_LINES or folder.name in LONGER


def test_the_page_lists_every_folder() -> None:
    listed = [line.split("`")[1] for line in (RULES / "README.md").read_text().splitlines() if line.startswith("| `")]
    assert sorted(listed) == [folder.name for folder in FOLDERS]


def test_all_rules_work_together(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    folders = [part for folder in FOLDERS for part in ("--rules", str(folder))]
    assert run(["compile", "examples/multi-node-aggregated.yaml", *folders, "--pods", "-o", "name"]) == 0
    names = capfd.readouterr().out.split()
    kinds = {name.partition("/")[0].lower().partition(".")[0] for name in names}
    assert {"networkpolicy", "podmonitor", "service"} <= kinds
    assert "role" not in kinds
