"""Finds the code of functions, and puts other code into functions that live."""

from __future__ import annotations

import ast
import contextlib
import gc
from collections import defaultdict
from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType
from typing import Any

from tests.benchmarks.mutation.mutant import Mutant
from tests.benchmarks.mutation.python_mutants import Function, functions

REACHED = "__mutant_reached__"
"""The built-in function that instrumented code calls with the number of a mutant."""

Place = tuple[str, int]
"""The qualified name of a function, and its first line: properties have several functions of a name."""


class NoEffect(Exception):
    """Reports that a fault would not be seen, with the reason."""


def code_of(module: CodeType, mutant: Mutant) -> CodeType | None:
    """Returns the code of the function with the mutant, out of that of its module."""
    place = mutant.function, mutant.function_line
    return next((code for code in _nested(module) if (code.co_qualname, code.co_firstlineno) == place), None)


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)


def does_the_same(one: CodeType, other: CodeType) -> bool:
    """Returns whether two functions differ in the columns of their text at most."""
    if (one.co_code, one.co_names, one.co_varnames) != (other.co_code, other.co_names, other.co_varnames):
        return False
    return len(one.co_consts) == len(other.co_consts) and all(map(_is_same_constant, one.co_consts, other.co_consts))


def _is_same_constant(one: object, other: object) -> bool:
    if isinstance(one, CodeType) and isinstance(other, CodeType):
        return does_the_same(one, other)
    return type(one) is type(other) and repr(one) == repr(other)  # 1 is equal to True and to 1.0, also in a tuple


def all_objects() -> list[Any]:
    """Returns what the garbage collector knows, also what it is spared: the suite freezes what its collection has made."""
    gc.unfreeze()
    known = gc.get_objects()
    gc.freeze()
    return known


class LiveFunctions:
    """The functions of some files that this process has: methods, getters and what decorators have wrapped are among them."""

    def __init__(self, files: Iterable[str]) -> None:
        wanted = set(files)
        self._by_file = defaultdict[str, dict[Place, list[FunctionType]]](lambda: defaultdict(list))
        for one in all_objects():
            if isinstance(one, FunctionType) and one.__code__.co_filename in wanted:
                code = one.__code__
                self._by_file[code.co_filename][code.co_qualname, code.co_firstlineno].append(one)

    def patch(self, path: str, source: bytes, mutant: Mutant) -> None:
        """Puts the fault into the function. Raises `NoEffect` unless it is there afterwards."""
        self._replace(path, code_of(compile(mutant.apply(source), path, "exec", dont_inherit=True), mutant))

    def instrument(self, path: str, source: bytes, mutants: dict[int, Mutant]) -> None:
        """Has the functions with these mutants tell when one's statement is reached."""
        tree = ast.parse(source)
        by_place = {(mutant.function, mutant.function_line) for mutant in mutants.values()}
        for _, function in functions(tree):
            _Probes(function, mutants).insert()
        module = compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)
        codes = {(code.co_qualname, code.co_firstlineno): code for code in _nested(module)}
        for place in sorted(by_place):
            with contextlib.suppress(NoEffect):  # a mutant of this function will not have an effect either, and say so
                self._replace(path, codes.get(place))

    def _replace(self, path: str, new: CodeType | None) -> None:
        if new is None:
            raise NoEffect("the function is not in the changed source")
        live = self._by_file[path]
        if not live.get((new.co_qualname, new.co_firstlineno)):
            raise NoEffect("no such function is in the imported module")
        for code in _nested(new):
            for function in live.get((code.co_qualname, code.co_firstlineno), ()):
                if code is new and does_the_same(function.__code__, code):
                    raise NoEffect("the code is the same")
                if function.__code__.co_freevars == code.co_freevars:  # lambdas of one line have the same place
                    function.__code__ = code
                elif code is new:
                    raise NoEffect("the function needs other variables from around it")


class _Probes(ast.NodeTransformer):
    """Puts a call before each statement of a function that has a mutant."""

    def __init__(self, function: Function, mutants: dict[int, Mutant]) -> None:
        first = min([function.lineno, *(one.lineno for one in function.decorator_list)])
        self._function = function
        self._by_line = defaultdict[int, list[int]](list)
        for number, mutant in mutants.items():
            if mutant.function_line == first:
                self._by_line[mutant.statement].append(number)

    def insert(self) -> None:
        """Changes the function."""
        if self._by_line:
            self._function.body = [new for node in self._function.body for new in self._with_probes(node)]

    def _with_probes(self, node: ast.stmt) -> list[ast.stmt]:
        numbers = self._by_line.pop(node.lineno, [])
        self.generic_visit(node)
        return [*(ast.copy_location(_probe(number), node) for number in numbers), node]

    def visit(self, node: ast.AST) -> ast.AST | list[ast.stmt]:
        """Visits a node; a statement comes back with what is put before it."""
        return list(self._with_probes(node)) if isinstance(node, ast.stmt) else self.generic_visit(node)


def _probe(number: int) -> ast.stmt:
    return ast.Expr(ast.Call(ast.Name(REACHED, ast.Load()), [ast.Constant(number)], []))
