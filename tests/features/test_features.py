"""One folder a case: what goes in, and everything that comes out. `pytest --snapshot-update` is the only way an expectation changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from grove_compiler.graph.diagnostic import has_errors
from tests.graph.dependencies import with_dependencies
from tests.suite.rows import rows

from .compiling import as_text, compile_folder

CASES = sorted((Path(__file__).parent / "cases").iterdir())


class YamlFile(SingleFileSnapshotExtension):
    """A file a case that people and diff tools read like any other manifest."""

    file_extension = "yaml"
    _write_mode = WriteMode.TEXT


@pytest.mark.parametrize("folder", CASES, ids=[folder.name for folder in CASES])
def test_a_feature_compiles_to_what_is_expected(folder: Path, snapshot: SnapshotAssertion) -> None:
    result = compile_folder(folder)
    assert not has_errors(result.diagnostics), as_text(result)
    assert as_text(result) == snapshot(extension_class=YamlFile)


@rows("folder", CASES, ids=[folder.name for folder in CASES])
def test_objects_stand_after_all_that_they_wait_for(folder: Path) -> None:
    graph = compile_folder(folder).graph
    place = {node.id: number for number, node in enumerate(graph.nodes)}
    pairs = ((node, before) for node, dependencies in with_dependencies(graph) for before in dependencies)
    assert [(node.id, before.id) for node, before in pairs if place[before.id] >= place[node.id]] == []


def test_every_case_says_what_it_shows() -> None:
    silent = [folder.name for folder in CASES if not (folder / "input.yaml").read_text().startswith("# ")]
    assert silent == []
