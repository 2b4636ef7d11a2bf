"""A public class name of the product means one thing: a search for it has one result, and no file needs an alias to import two."""

from __future__ import annotations

import ast
from collections import defaultdict

from .pages import DOCS

ROOT = DOCS.parent
PRODUCT = ("grove_compiler", "applier", "grove_cli", "grove_operator", "kube_objects", "preflight_images")


def test_no_two_modules_define_public_classes_of_one_name() -> None:
    modules: dict[str, list[str]] = defaultdict(list)
    for path in sorted(path for package in PRODUCT for path in (ROOT / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                modules[node.name].append(path.relative_to(ROOT).as_posix())
    assert modules["CompileResult"] == ["grove_compiler/compile.py"]
    assert {name: paths for name, paths in modules.items() if len(paths) > 1} == {}
