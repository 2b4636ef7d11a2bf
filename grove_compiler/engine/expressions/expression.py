"""Expressions: parsed by Jinja2, checked against the names in scope, turned into Python."""

from __future__ import annotations

from collections.abc import Callable

from jinja2 import nodes

from grove_compiler.engine.expressions.expression_syntax import ExpressionError, parse_expression, parse_text
from grove_compiler.engine.expressions.filters import Filters
from grove_compiler.engine.expressions.operators import Operators
from grove_compiler.engine.expressions.scope import Code, Scope


class ExpressionCompiler(Filters, Operators):
    """Compiles Jinja2 expressions to Python for one vocabulary. Stateless, so that one compiler serves all rules."""

    def expression(self, text: str, scope: Scope) -> Code:
        """Compiles a bare expression, whose value may be `omit`. Raises `ExpressionError`."""
        return self._bounded(parse_expression(text), scope, self.compile_result)

    def value(self, text: str, scope: Scope) -> Code:
        """Compiles a bare expression that must not be `omit`. Raises `ExpressionError`."""
        return self._bounded(parse_expression(text), scope, self.compile)

    def text(self, text: str, scope: Scope) -> Code:
        """Compiles text with `{{ }}`: a single expression keeps its type, anything else is concatenated. Raises `ExpressionError`."""
        parts = parse_text(text)
        if len(parts) == 1 and not isinstance(parts[0], nodes.TemplateData):
            return self._bounded(parts[0], scope, self.compile_result)
        return self._concatenate([self._bounded(part, scope, self.compile) for part in parts])

    def _bounded(self, node: nodes.Node, scope: Scope, translate: Callable[[nodes.Node, Scope], Code]) -> Code:
        """Compiles a node, and raises `ExpressionError` for code that Python's own parser rejects.

        Without this check one expression that is too deep would fail its rule without a line.
        """
        try:
            code = self._charged(translate(node, scope))
            if len(code.python) > 100:
                compile(code.python, "expression", "eval")
        except (SyntaxError, RecursionError, MemoryError, ValueError):
            raise ExpressionError("the expression is too large or nested too deeply") from None
        return code
