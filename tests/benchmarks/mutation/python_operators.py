"""Says by what a Python expression may be replaced, to make a small fault."""

from __future__ import annotations

import ast
from collections.abc import Iterator

Change = tuple[ast.expr | ast.AugAssign, str, str]
"""What is replaced, the kind of the fault, and the new text."""

NEGATED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
MOVED: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
SWAPPED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult, ast.Mod: ast.FloorDiv,
}  # fmt: skip
EMPTY = {ast.List: "[]", ast.ListComp: "[]", ast.Dict: "{}", ast.DictComp: "{}", ast.Tuple: "()", ast.Set: "set()", ast.SetComp: "set()"}
TEXT = (ast.Constant, ast.JoinedStr, ast.List, ast.Tuple, ast.ListComp)
"""What `+` joins rather than adds, if it is at one of its sides: the other operator would be a type error, which anything finds."""


def alternatives(node: ast.AST) -> Iterator[Change]:
    """Yields the changes of a node itself; not of what is below it, but for the condition and the value of a statement."""
    match node:
        case ast.Compare(ops=[operator]):
            yield node, "comparison negated", _with_operator(node, NEGATED[type(operator)])
            if type(operator) in MOVED:
                yield node, "boundary moved", _with_operator(node, MOVED[type(operator)])
        case ast.BoolOp(op=operator, values=values):
            other = ast.Or() if isinstance(operator, ast.And) else ast.And()
            yield node, "and/or swapped", ast.unparse(ast.BoolOp(other, values))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield node, "not dropped", ast.unparse(operand)
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in SWAPPED:
            if not (isinstance(operator, ast.Add | ast.Mod) and any(_is_text(side) for side in (left, right))):
                yield node, "arithmetic swapped", ast.unparse(ast.BinOp(left, SWAPPED[type(operator)](), right))
        case ast.AugAssign(target=target, op=ast.Add() | ast.Sub() as operator, value=value) if not _is_text(value):
            if node.lineno == node.end_lineno:
                yield node, "arithmetic swapped", ast.unparse(ast.AugAssign(target, SWAPPED[type(operator)](), value))
        case ast.Constant(value=value):
            yield from _constant(node, value)
        case ast.If(test=test) | ast.IfExp(test=test):
            yield from _condition(test)
            yield test, "condition forced true", "True"
            yield test, "condition forced false", "False"
        case ast.While(test=test):
            yield from _condition(test)
        case ast.comprehension(ifs=tests):
            yield from ((test, "condition forced true", "True") for test in tests)
        case ast.Return(value=ast.expr() as value) if not (isinstance(value, ast.Constant) and value.value in (None, False, "")):
            new = EMPTY.get(type(value), "None")
            if ast.unparse(value) != new:
                yield value, "value not returned", new
        case ast.Expr(value=ast.Call() | ast.Await() as call):
            yield call, "call dropped", "None"
        case _:
            pass


def _with_operator(node: ast.Compare, operator: type[ast.cmpop]) -> str:
    return ast.unparse(ast.Compare(node.left, [operator()], node.comparators))


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, TEXT) and not (isinstance(node, ast.Constant) and not isinstance(node.value, str | bytes))


def _condition(test: ast.expr) -> Iterator[Change]:
    """Yields the negation of a condition, unless that is what another change makes of it."""
    if not isinstance(test, ast.Compare) and not (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)):
        yield test, "not added", ast.unparse(ast.UnaryOp(ast.Not(), test))


def _constant(node: ast.Constant, value: object) -> Iterator[Change]:
    if isinstance(value, bool):
        yield node, "constant flipped", repr(not value)
    elif isinstance(value, int | float):
        yield node, "constant +1", repr(value + 1)
        yield node, "constant -1", repr(value - 1)
    elif isinstance(value, str) and value:
        yield node, "text emptied", "''"
