"""Nobody learns how many replicas a set has without a look, and nothing that was worked out with a look is remembered."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

import grove_compiler.model
from grove_compiler.model.lazy import lazy, look, mark
from tests.model.sets import clique, group, pcs
from tests.model.sets import expand as expanded

FOLDER = Path(grove_compiler.model.__file__).parent
SOURCES = {path.name: ast.parse(path.read_text()) for path in sorted(FOLDER.glob("*.py"))}
HIDDEN = {"_manifest", "_spec", "_replica_count", "_replicas"}


class Shelf:
    def __init__(self) -> None:
        self.counted = 0

    @property
    def length(self) -> int:
        look()
        return 3

    @lazy
    def plain(self) -> int:
        self.counted += 1
        return self.counted

    @lazy
    def nosy(self) -> int:
        self.counted += 1
        return self.counted + self.length

    @lazy
    def nosy_by_another(self) -> int:
        return self.nosy


def test_what_needs_no_look_is_worked_out_once() -> None:
    shelf = Shelf()
    assert (shelf.plain, shelf.plain) == (1, 1)


@pytest.mark.parametrize("name", ["nosy", "nosy_by_another"])
def test_what_needs_a_look_is_worked_out_each_time_and_leaves_a_mark(name: str) -> None:
    shelf = Shelf()
    first = getattr(shelf, name)
    before = mark()
    assert getattr(shelf, name) == first + 1
    assert mark() != before


def test_no_mark_returns() -> None:
    seen = set()
    for _ in range(1000):
        look()
        seen.add(mark())
    assert len(seen) == 1000


def of(names: list[str]) -> Any:
    found: Any = expanded(pcs([clique("a"), clique("b")], [group("g", ["b"])], replicas=2))
    for name in names:
        found = found[int(name)] if name.isdecimal() else getattr(found, name)
    return found


@pytest.mark.parametrize(
    "path", ["replica_count", "replicas", "spec", "manifest", "claims", "cliques 0 set spec", "replicas 1 set replicas"]
)
def test_every_way_to_the_number_leaves_a_mark_each_time(path: str) -> None:
    *way, name = path.split()
    holder = of(way)
    for _ in range(2):
        before = mark()
        getattr(holder, name)
        assert mark() != before


PLAIN = ["name", "ref", "namespace", "labels", "annotations", "template", "cliques", "groups", "scheduler", "template_hashes", "mnnvl"]


@pytest.mark.parametrize("name", [*PLAIN, "placement", "topology", "is_placed_anew", "update_strategy", "is_training", "max_restarts"])
def test_what_does_not_tell_the_number_leaves_no_mark(name: str) -> None:
    holder = of([])
    before = mark()
    getattr(holder, name)
    assert mark() == before


@pytest.mark.parametrize("name", ["cliques", "scaling_groups", "all_cliques", "base_gang", "scaled_gangs", "gangs", "domains"])
def test_the_parts_of_a_replica_leave_no_mark(name: str) -> None:
    replica = of(["replicas", "1"])
    before = mark()
    getattr(replica, name)
    assert mark() == before


def attributes(tree: ast.AST) -> list[ast.Attribute]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]


def test_hidden_attributes_are_used_by_their_own_classes_only() -> None:
    elsewhere = [
        f"{name}:{node.lineno}"
        for name, tree in SOURCES.items()
        for node in attributes(tree)
        if node.attr in HIDDEN
        and not (name in ("declared.py", "derived.py") and isinstance(node.value, ast.Name) and node.value.id == "self")
    ]
    assert elsewhere == []


def test_the_hidden_spec_is_asked_for_single_fields_that_are_not_the_number() -> None:
    asked = {}
    for tree in (SOURCES["declared.py"], SOURCES["derived.py"]):
        for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
            uses = [node for node in attributes(function) if node.attr == "_spec"]
            calls = [
                str(node.args[0].value)
                for node in ast.walk(function)
                if isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and isinstance(node.func.value, ast.Attribute)
                and node.func.value.attr == "_spec"
                and node.func.attr == "get"
                and isinstance(node.args[0], ast.Constant)
            ]
            if uses:
                asked[function.name] = calls if len(calls) == len(uses) else ["something else"]
    assert {name for name, fields in asked.items() if "something else" in fields} == {"spec"}
    assert {name for name, fields in asked.items() if "replicas" in fields} == {"_replica_count"}


@pytest.mark.parametrize(
    ("hidden", "users"),
    [("_replica_count", {"replica_count", "_replicas"}), ("_replicas", {"replicas"}), ("_manifest", {"manifest", "metadata", "_spec"})],
)
def test_only_these_read_what_is_hidden(hidden: str, users: set[str]) -> None:
    found = {
        function.name
        for tree in (SOURCES["declared.py"], SOURCES["derived.py"])
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef) and any(node.attr == hidden for node in attributes(function))
    }
    assert found == users


def test_those_who_show_what_is_hidden_look_first() -> None:
    for tree in (SOURCES["declared.py"], SOURCES["derived.py"]):
        for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
            if function.name in ("spec", "manifest", "replica_count", "replicas") and any(n.attr in HIDDEN for n in attributes(function)):
                body = [statement for statement in function.body if not _is_text(statement)]
                assert ast.unparse(body[0]) == "look()", function.name


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
