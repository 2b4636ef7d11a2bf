"""Puts a fault into this process: new code into functions, or another text for a file of rules."""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from grove_cli import rulebook
from grove_compiler.compile import VOCABULARY
from grove_compiler.engine.sources import InvalidRules
from tests.benchmarks.mutation.code import LiveFunctions, NoEffect, all_objects
from tests.benchmarks.mutation.mutant import Mutant

OURS = ("applier", "grove_cli", "grove_compiler", "grove_operator", "kube_objects", "tests")


class Stillborn(Exception):
    """Reports that the rules with the fault are none."""


class Faults:
    """What can be changed in this process. Made before it is forked, since it looks at all objects that there are."""

    def __init__(self, root: Path, mutants: Sequence[Mutant]) -> None:
        self._root, self._mutants = root, mutants
        modules = {mutant.file: module_of(mutant.file) for mutant in mutants if not mutant.is_rule}
        for name, module in modules.items():
            if Path(module.__file__ or "") != root / name:
                raise RuntimeError(f"{name} was imported from {module.__file__}, not from {root}")
        self._sources = {mutant.file: (root / mutant.file).read_bytes() for mutant in mutants}
        self._live = LiveFunctions(str(root / name) for name in modules)
        self._remembered = [one for one in all_objects() if _is_cache(one)]
        self._program = rulebook.read().program(VOCABULARY).dump() if any(mutant.is_rule for mutant in mutants) else b""

    def forget(self) -> None:
        """Forgets what functions have remembered while tests were collected."""
        for one in self._remembered:
            one.cache_clear()

    def put(self, mutant: Mutant) -> None:
        """Puts a fault into this process. Raises `NoEffect` where it would not be seen, `Stillborn` where there is no program."""
        if mutant.is_rule:
            self._put_rule(mutant)
        else:
            self._live.patch(str(self._root / mutant.file), self._sources[mutant.file], mutant)

    def instrument(self) -> None:
        """Has all functions with mutants tell which statement is reached."""
        for file in sorted({mutant.file for mutant in self._mutants if not mutant.is_rule}):
            mine = {number: mutant for number, mutant in enumerate(self._mutants) if mutant.file == file}
            self._live.instrument(str(self._root / file), self._sources[file], mine)

    def _put_rule(self, mutant: Mutant) -> None:
        """Has the file read with the fault. The program is compiled at once, and the tests find it in this process' own cache."""
        mine, data, read = str(self._root / mutant.file), mutant.apply(self._sources[mutant.file]), rulebook._data

        def changed(path: str) -> bytes:
            return data if path == mine else read(path)

        rulebook._data = changed
        try:
            program = rulebook.read().program(VOCABULARY)
        except InvalidRules as error:
            raise Stillborn(str(error).splitlines()[0]) from None
        if program.dump() == self._program:
            raise NoEffect("the compiled rules are the same")


def module_of(file: str) -> ModuleType:
    """Imports the module of a file."""
    name = file.removesuffix(".py").replace("/", ".")
    importlib.import_module(name)
    return sys.modules[name]  # a package may have a function of the same name


def _is_cache(one: Any) -> bool:
    return isinstance(one, functools._lru_cache_wrapper) and str(one.__module__).split(".")[0] in OURS
