"""The generator of the field table, on a small set of Go types."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "generate_pod_template_fields.py"

TYPES: dict[str, list[dict[str, Any]]] = {
    "v1.PodTemplateSpec": [{"name": "Spec", "type": "v1.PodSpec", "kind": "struct", "json": "spec"}],
    "v1.PodSpec": [
        {"name": "Volumes", "type": "[]v1.Volume", "kind": "slice", "elem": "struct", "json": "volumes"},
        {"name": "Grace", "type": "*int64", "kind": "ptr", "elem": "int64", "json": "grace"},
        {"name": "Overhead", "type": "v1.ResourceList", "kind": "map", "elem": "struct", "json": "overhead"},
        {"name": "Policy", "type": "v1.Policy", "kind": "string", "json": "policy"},
        {"name": "Started", "type": "*v1.Time", "kind": "ptr", "elem": "struct", "json": "started"},
    ],
    "v1.Volume": [{"name": "VolumeSource", "type": "v1.VolumeSource", "kind": "struct", "inline": True}],
    "v1.VolumeSource": [{"name": "Labels", "type": "map[string]string", "kind": "map", "elem": "string", "json": "labels"}],
    "v1.Time": [{"name": "Time", "type": "time.Time", "kind": "struct", "inline": True}],
    "v1.Unreached": [{"name": "Name", "type": "string", "kind": "string", "json": "name"}],
    "resource.Quantity": [],
}

LINES = {
    "v1.PodSpec": [
        "volumes Volumes:([]v1.Volume) []v1.Volume",
        "grace Grace:(*int64) *int64",
        "overhead Overhead:(v1.ResourceList) {}resource.Quantity",
        "policy Policy:(v1.Policy) string",
        "started Started:(*v1.Time) *v1.Time",
    ],
    "v1.PodTemplateSpec": ["spec Spec:(v1.PodSpec) v1.PodSpec"],
    "v1.Volume": ["- VolumeSource:(v1.VolumeSource) v1.VolumeSource"],
    "v1.VolumeSource": ["labels Labels:(map[string]string) {}string"],
}


@pytest.fixture
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_pod_template_fields", TOOL)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_only_structs_below_the_pod_template_are_in_the_table(tool: ModuleType) -> None:
    assert tool.reachable(TYPES) == sorted(LINES)


@pytest.mark.parametrize("struct", LINES)
def test_each_field_is_written_in_the_table_s_notation(tool: ModuleType, struct: str) -> None:
    assert [tool.line(field) for field in TYPES[struct]] == LINES[struct]


def test_the_file_it_writes_holds_the_table(tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    types = tmp_path / "types.json"
    types.write_text(json.dumps(TYPES), encoding="utf-8")
    monkeypatch.setattr(tool, "TABLE", tmp_path / "fields.json")
    assert tool.main([str(types)]) == 0
    assert json.loads(tool.TABLE.read_text(encoding="utf-8")) == {struct: "; ".join(lines) for struct, lines in LINES.items()}


def test_without_arguments_it_says_how_it_is_called(tool: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert tool.main([]) == 2
    assert "TYPES.json" in capsys.readouterr().err
