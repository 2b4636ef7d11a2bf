"""Makes the mutants of a Python module: one changed expression in the body of a function for each.

Each replacement is an expression in parentheses with as many lines as what it replaces, so that all other code keeps its place, by which
functions are found again. Left out is what no test should depend on: docstrings, annotations, log lines, messages of errors, `__repr__`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import accumulate

from tests.benchmarks.mutation.mutant import Mutant
from tests.benchmarks.mutation.python_operators import alternatives

LOGS = {"log", "logger", "logging", "_log", "warnings"}
LEVELS = {"debug", "info", "warning", "error", "exception", "critical"}
UNTOLD = {"__repr__", "__str__", "__rich__"}
Function = ast.FunctionDef | ast.AsyncFunctionDef


def python_mutants(area: str, file: str, source: str) -> Iterator[Mutant]:
    """Yields all mutants of a module, in the order of its text."""
    data = source.encode()
    lines = [0, *accumulate(len(line) for line in data.splitlines(keepends=True))]
    for qualname, function in functions(ast.parse(source)):
        first = min([function.lineno, *(one.lineno for one in function.decorator_list)])
        for node, statement, kind, new in _Finder().of(function):
            assert node.end_lineno is not None and node.end_col_offset is not None
            start, end = lines[node.lineno - 1] + node.col_offset, lines[node.end_lineno - 1] + node.end_col_offset
            padding = "\n" * (node.end_lineno - node.lineno)
            text = f"({new}{padding})" if isinstance(node, ast.expr) else new
            old = " ".join(data[start:end].decode().split())
            change = f"{old} -> {new}"
            yield Mutant(area, file, node.lineno, node.col_offset, kind, start, end, text, change, qualname, first, statement)


def functions(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    """Yields the functions of a module and of its classes, by qualified name; not those in functions."""

    def below(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, Function]]:
        for node in body:
            if isinstance(node, Function):
                if node.name not in UNTOLD and not _is_declared_only(node):
                    yield prefix + node.name, node
            elif isinstance(node, ast.ClassDef):
                yield from below(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.unparse(node.test):
                yield from below(node.body + node.orelse, prefix)
            elif isinstance(node, ast.Try):
                yield from below(node.body + node.orelse + node.finalbody, prefix)

    yield from below(tree.body, "")


def _is_declared_only(function: Function) -> bool:
    """Returns whether a function has no code of its own: an overload, or a method of a protocol."""
    return all(isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) for node in function.body)


Found = tuple[ast.expr | ast.AugAssign, int, str, str]
"""What is replaced, the line of its statement, the kind of the fault, and the new text."""


class _Finder(ast.NodeVisitor):
    """Collects what may be changed in a function."""

    def of(self, function: Function) -> list[Found]:
        """Returns all changes of a function's body."""
        self._found = list[Found]()
        self._statement = 0
        self._body(function.body)
        return sorted(self._found, key=lambda found: (found[0].lineno, found[0].col_offset, found[2]))

    def _body(self, body: list[ast.stmt]) -> None:
        for number, node in enumerate(body):
            if not (number == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
                self.visit(node)

    def visit(self, node: ast.AST) -> None:
        """Visits a node and what is below it, but for what is told to people or to type checkers."""
        call = node.value if isinstance(node, ast.Expr) else node
        if isinstance(node, ast.JoinedStr | ast.Raise | ast.Assert | ast.arguments) or (isinstance(call, ast.Call) and _is_untold(call)):
            return  # Python 3.11 does not know where the parts of an f-string are
        outer = self._statement
        if isinstance(node, ast.stmt):
            self._statement = node.lineno
        if isinstance(node, ast.expr | ast.AugAssign | ast.stmt | ast.comprehension):
            self._found += [(old, self._statement, kind, new) for old, kind, new in alternatives(node)]
        if isinstance(node, Function):
            self._body(node.body)
        elif isinstance(node, ast.AnnAssign):
            if node.value is not None:
                self.visit(node.value)
        else:
            self.generic_visit(node)
        self._statement = outer


def _is_untold(call: ast.Call) -> bool:
    """Returns whether a call only logs, or says something about types."""
    function = call.func
    if isinstance(function, ast.Attribute):
        names = {part.id if isinstance(part, ast.Name) else getattr(part, "attr", "") for part in ast.walk(function.value)}
        return function.attr in LEVELS and bool(LOGS & {name.lower() for name in names})
    return isinstance(function, ast.Name) and function.id in {"cast", "TypeVar", "warn"}
