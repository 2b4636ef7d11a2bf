"""Compiles comparisons, arithmetic, logic and conditional expressions."""

from __future__ import annotations

from typing import Any

from jinja2 import nodes

from grove_compiler.engine.expressions import types
from grove_compiler.engine.expressions.expression_syntax import ExpressionError
from grove_compiler.engine.expressions.node_compiler import NodeCompiler, depth_of
from grove_compiler.engine.expressions.scope import Code, Scope

_BINARY = {nodes.Add: "+", nodes.Sub: "-", nodes.Div: "/", nodes.FloorDiv: "//", nodes.Mod: "%"}
_COMPARE = {"eq": "==", "ne": "!=", "gt": ">", "gteq": ">=", "lt": "<", "lteq": "<="}


class Operators(NodeCompiler):
    """Compiles operators. Those that could run away (`*`, `**`) or format text (`%`) call the runtime, which checks the operands."""

    def _compare(self, node: nodes.Compare, scope: Scope) -> Code:
        left = self.compile(node.expr, scope)
        parts, codes = [], [left]
        for operand in node.ops:
            right = self.compile(operand.expr, scope)
            right = self._walked(right) if operand.op in ("in", "notin") else self._charged(right)
            codes.append(right)
            if operand.op not in ("in", "notin", "eq", "ne"):
                _check_alike(left, right, "compare", "with")
            if operand.op in ("in", "notin"):
                parts.append(f"{'not ' if operand.op == 'notin' else ''}contains({left.python}, {right.python})")
            else:
                parts.append(f"{left.python} {_COMPARE[operand.op]} {right.python}")
            left = right
        return Code("(" + " and ".join(parts) + ")", bool, depth_of(codes))

    def _arithmetic(self, node: nodes.BinExpr, scope: Scope) -> Code:
        left, right = self.compile(node.left, scope), self.compile(node.right, scope)
        if type(node) is nodes.Add or type(node) is nodes.Sub:
            _check_alike(left, right, "add" if type(node) is nodes.Add else "subtract", "and")
        kind = left.type if left.type is right.type and left.type in (int, str) and type(node) is not nodes.Div else Any
        if type(node) is nodes.Mod and left.type is not int:
            # A formatting operator on text would be a way around all checks.
            return Code(f"modulo({left.python}, {right.python})", Any, depth_of([left, right]))
        return self._charged(Code(f"({left.python} {_BINARY[type(node)]} {right.python})", kind, depth_of([left, right])))

    _add = _sub = _div = _floordiv = _mod = _arithmetic

    def _mul(self, node: nodes.Mul, scope: Scope) -> Code:
        left, right = self.compile(node.left, scope), self.compile(node.right, scope)
        kind = int if left.type is int and right.type is int else Any
        return Code(f"multiply({left.python}, {right.python})", kind, depth_of([left, right]))

    def _pow(self, node: nodes.Pow, scope: Scope) -> Code:
        left, right = self.compile(node.left, scope), self.compile(node.right, scope)
        return Code(f"power({left.python}, {right.python})", Any, depth_of([left, right]))

    def _logic(self, node: nodes.BinExpr, scope: Scope) -> Code:
        word = "and" if isinstance(node, nodes.And) else "or"
        left, right = self.compile_result(node.left, scope), self.compile_result(node.right, scope)
        if types.without_none(left.type) == types.without_none(right.type) and not right.may_omit:
            kind = right.type if word == "or" or types.is_optional(right.type) else left.type
        else:
            kind = types.without_none(left.type) if right.may_omit and word == "or" else Any
        return Code(f"({left.python} {word} {right.python})", kind, depth_of([left, right]), left.may_omit or right.may_omit)

    _and = _or = _logic

    def _not(self, node: nodes.Not, scope: Scope) -> Code:
        code = self.compile(node.node, scope)
        return Code(f"(not {code.python})", bool, code.depth)

    def _neg(self, node: nodes.Neg, scope: Scope) -> Code:
        code = self.compile(node.node, scope)
        return Code(f"(-{code.python})", code.type, code.depth)

    def _pos(self, node: nodes.Pos, scope: Scope) -> Code:
        return self.compile(node.node, scope)

    def _condexpr(self, node: nodes.CondExpr, scope: Scope) -> Code:
        if node.expr2 is None:
            raise ExpressionError("`a if b` needs an `else`; say `else omit` to leave the key out")
        yes, test, no = self.compile_result(node.expr1, scope), self.compile(node.test, scope), self.compile_result(node.expr2, scope)
        kind = yes.type if yes.type == no.type or no.may_omit else (no.type if yes.may_omit else Any)
        return Code(f"({yes.python} if {test.python} else {no.python})", kind, depth_of([yes, test, no]), yes.may_omit or no.may_omit)


def _check_alike(left: Code, right: Code, what: str, and_: str) -> None:
    """Raises `ExpressionError` for operands whose types certainly do not fit: Python would raise TypeError when the rule runs."""
    if types.conflict(left.type, right.type):
        raise ExpressionError(f"cannot {what} {types.type_name(left.type)} {and_} {types.type_name(right.type)}")
