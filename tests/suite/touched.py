"""Chooses the tests that a change can touch: `pytest --touched[=REVISION]`, against the last commit by default.

A test can be touched by what its module imports, however indirectly: grimp, on which import-linter stands, knows that. What is not imported
but read or run is told by its name in the text of a module: a folder (`docs`), a file, a program (`"grove_cli"`). Where nothing has
changed since the revision, the last commit itself is taken for the change. A change of what holds for all tests touches all of them.

The tests nearest to the change come first: those that import it themselves before those that import what imports it.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

import grimp
import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("applier", "grove_cli", "grove_compiler", "grove_operator", "kube_objects", "preflight_images", "tests", "tools")
COMMANDS, ENTRY, PROGRAM = "grove_cli.", "grove_cli.entry", '"grove_cli"'
RULEBOOK = "grove_cli.rulebook"
READ_BY = {"rules": RULEBOOK, "templates": RULEBOOK}
"""Folders at the top that a module reads for all others."""
FOR_ALL = ("pyproject.toml", "tests/conftest.py", "tests/suite")
GRAPH_CACHE = ROOT / ".import_linter_cache"
TOUCHED = pytest.StashKey[dict[str, int] | None]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option."""
    text = "run only tests that can be touched by what has changed since REVISION, by default the last commit"
    parser.getgroup("touched").addoption("--touched", nargs="?", const="HEAD", metavar="REVISION", help=text)


def pytest_configure(config: pytest.Config) -> None:
    """Finds out what the change can touch, once for all workers."""
    if hasattr(config, "workerinput"):
        config.stash[TOUCHED] = config.workerinput["touched"]
    else:
        revision = config.getoption("--touched")
        config.stash[TOUCHED] = touched_by(changed(revision) or changed(f"{revision}~1")) if revision else None


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Passes it on to each worker of xdist."""
    node.workerinput["touched"] = node.config.stash[TOUCHED]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects what the change cannot touch, and sorts the others by how far they are from it."""
    if (modules := config.stash[TOUCHED]) is None:
        return
    touched = {ROOT / f"{name.replace('.', '/')}.py": distance for name, distance in modules.items()}
    left_out = [item for item in items if item.path not in touched]
    config.hook.pytest_deselected(items=left_out)
    items[:] = sorted((item for item in items if item.path in touched), key=lambda item: touched[item.path])


def changed(revision: str) -> list[str]:
    """Returns the files that differ from a revision, new ones included, as paths from the root. Raises `pytest.UsageError` without one."""
    return [*_git("diff", "--name-only", revision, "--"), *_git("ls-files", "--others", "--exclude-standard")]


def _git(*words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise pytest.UsageError(f"--touched: {done.stderr.strip()}")
    return done.stdout.splitlines()


def touched_by(files: Sequence[str]) -> dict[str, int] | None:
    """Returns the modules that a change of these files touches (see `touched_modules`); nothing where that is all of them."""
    return None if any(name.startswith(FOR_ALL) for name in files) else touched_modules(files)


@cache
def _graph() -> tuple[Any, dict[str, str]]:
    """Returns which module imports which, and the texts of all."""
    graph = grimp.build_graph(*PACKAGES, cache_dir=str(GRAPH_CACHE))
    texts = {name: text for name in graph.modules if (text := _text(name)) is not None}
    _add_commands(graph, texts)
    return graph, texts


def touched_modules(files: Iterable[str]) -> dict[str, int]:
    """Returns the modules that these files are, that read them, and that import one of those, with the number of imports in between."""
    graph, texts = _graph()
    found = dict[str, int]()
    nearest = {module for file in files for module in _seeds(file, texts)} & graph.modules
    while nearest:
        distance = max(found.values(), default=-1) + 1
        found |= dict.fromkeys(sorted(nearest), distance)
        nearest = {importer for module in nearest for importer in graph.find_modules_that_directly_import(module)} - found.keys()
    return found


def _text(module: str) -> str | None:
    path = ROOT / module.replace(".", "/")
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.exists():
            return file.read_text("utf-8")
    return None


def _add_commands(graph: grimp.ImportGraph, texts: dict[str, str]) -> None:
    """Adds what no import says: the command line loads its commands by name, and tests run it as a program."""
    for module, text in texts.items():
        if module.startswith(COMMANDS):
            graph.add_import(importer=ENTRY, imported=module)
        elif module.startswith("tests.") and PROGRAM in text:
            graph.add_import(importer=module, imported=ENTRY)


def _seeds(file: str, texts: dict[str, str]) -> Iterator[str]:
    """Yields the module that a file is, or those that read it."""
    path = PurePosixPath(file)
    if path.suffix == ".py":
        yield ".".join(path.with_suffix("").parts).removesuffix(".__init__")
        return
    top = path.parts[0]
    if top in READ_BY:
        yield READ_BY[top]
    if top == "tests":  # data of the tests beside it
        yield from (name for name in texts if name.startswith(f"{'.'.join(path.parts[:2])}."))
    names = (f'"{top}"', f'"{top}/', f"/{top}/", f'"{path.name}"')
    yield from (name for name, text in texts.items() if any(one in text for one in names))
