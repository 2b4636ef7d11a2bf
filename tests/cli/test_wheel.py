"""A wheel brings its rules compiled; an editable installation does not, since they change."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from grove_cli import rulebook, warm_cache
from grove_compiler.compile import VOCABULARY
from grove_compiler.engine.runtime.program import Program

ROOT = Path(__file__).resolve().parents[2]
INTERFACE = "hatchling.builders.hooks.plugin.interface"


class Interface:
    """As much of hatchling's interface as the hook uses."""

    def __init__(self, target_name: str) -> None:
        self.root = str(ROOT)
        self.target_name = target_name


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The hook's class, without hatchling, which only builds have."""
    stand_in = ModuleType(INTERFACE)
    stand_in.BuildHookInterface = Interface  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, INTERFACE, stand_in)
    monkeypatch.setattr(sys, "path", list(sys.path))
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.WarmRules


@pytest.fixture
def included(hook: Any) -> Iterator[dict[str, str]]:
    """What the hook puts into a wheel: paths here, and there."""
    build_data: dict[str, Any] = {"force_include": {}}
    built = hook("wheel")
    built.initialize("standard", build_data)
    yield build_data["force_include"]
    built.finalize("standard", build_data, "")
    assert not [path for path in build_data["force_include"] if not path.startswith(str(ROOT)) and os.path.exists(path)]


def test_a_wheel_holds_the_rules_where_a_warm_start_looks_for_them(included: dict[str, str]) -> None:
    place = os.path.relpath(os.path.join(rulebook.WARM_FOLDER, rulebook.read().key), ROOT)
    assert place in included.values()


def test_a_wheel_holds_the_rules_and_templates_of_the_checkout(included: dict[str, str]) -> None:
    parts = {part: f"grove_compiler/{part}" for part in ("rules", "templates")}
    assert {os.path.relpath(path, ROOT): place for path, place in included.items() if path.startswith(str(ROOT))} == parts


def test_what_a_wheel_holds_are_the_rules_that_ship(included: dict[str, str]) -> None:
    payload = warm_cache.read_installed(next(path for path, place in included.items() if "_warm" in place))
    assert payload is not None
    shipped, built = Program.load(payload, VOCABULARY), rulebook.read().build(VOCABULARY)
    assert [rule.id for rule in shipped.rules] == [rule.id for rule in built.rules]


@pytest.mark.parametrize(("target", "version"), [("wheel", "editable"), ("sdist", "standard")])
def test_nothing_is_added_to_anything_else(hook: Any, target: str, version: str) -> None:
    build_data: dict[str, Any] = {"force_include": {}}
    built = hook(target)
    built.initialize(version, build_data)
    built.finalize(version, build_data, "")
    assert build_data["force_include"] == {}
