"""Compiles nodes of Jinja2's syntax tree to Python: dispatches them, and handles literals, names and displays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jinja2 import nodes

from grove_compiler.engine.expressions import types
from grove_compiler.engine.expressions.expression_syntax import ExpressionError
from grove_compiler.engine.expressions.scope import Code, Scope
from grove_compiler.engine.runtime import builtins
from grove_compiler.engine.sources import Vocabulary
from grove_compiler.graph.nearest import nearest

_SCALARS = (int, bool, float, str, type(None))


class NodeCompiler:
    """Compiles one node after another by the name of its class: `nodes.Const` by `_const`. Other kinds of nodes are added by subclasses.

    With `metered`, what expressions make and go through is charged by size, otherwise the lists that they go through (see `cost_budget`).
    """

    def __init__(self, vocabulary: Vocabulary, metered: bool = False) -> None:
        self.metered = metered
        self.decisions = vocabulary.decisions
        self.words = vocabulary.words
        self.functions = {**builtins.FUNCTIONS, **vocabulary.functions, **vocabulary.decisions}
        self.filters = {**builtins.FILTERS, **vocabulary.functions}

    def compile(self, node: nodes.Node, scope: Scope) -> Code:
        """Compiles a node that is part of a larger expression. Raises `ExpressionError` where its value may be `omit`."""
        code = self.compile_result(node, scope)
        if code.may_omit:
            raise ExpressionError("`omit` can be what a whole expression gives, as in `x or omit`, not part of another value")
        return code

    def compile_result(self, node: nodes.Node, scope: Scope) -> Code:
        """Compiles a node that is a whole expression, so that its value may be `omit`. Raises `ExpressionError`."""
        method: Callable[[Any, Scope], Code] | None = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise ExpressionError(f"{type(node).__name__} is not part of the rules language")
        return method(node, scope)

    def _charged(self, code: Code) -> Code:
        """Wraps the code in `charge(…)` where rules are metered and the value may be large."""
        kind = types.without_none(code.type)
        if not self.metered or (kind in _SCALARS and kind is not str) or types.is_model(kind):
            return code
        return Code(f"charge({code.python})", code.type, code.depth, code.may_omit)

    def _walked(self, code: Code) -> Code:
        """Wraps the code in `walk(…)`, or in `charge(…)` where rules are metered, if the value may be a list that is gone through."""
        if self.metered:
            return self._charged(code)
        kind = types.without_none(code.type)
        is_list = kind is Any or (kind not in _SCALARS and not types.is_mapping(kind) and not types.is_model(kind))
        return Code(f"walk({code.python})", code.type, code.depth, code.may_omit) if is_list else code

    def _concatenate(self, codes: list[Code]) -> Code:
        if self.metered and codes:
            return Code(f"concat({', '.join(code.python for code in codes)})", str, depth_of(codes))
        parts = [code.python if code.type is str else f"as_text({code.python})" for code in codes]
        python = "(" + " + ".join(parts) + ")" if parts else "''"
        return Code(python, str, depth_of(codes))

    def _const(self, node: nodes.Const, _: Scope) -> Code:
        if node.value in (float("inf"), float("-inf")):
            raise ExpressionError("a number that is too large")
        if isinstance(node.value, str) and not node.value.isascii():
            _check_characters(node.value)
        return Code(repr(node.value), type(node.value))

    def _templatedata(self, node: nodes.TemplateData, _: Scope) -> Code:
        return Code(repr(node.data), str)

    def _name(self, node: nodes.Name, scope: Scope) -> Code:
        if node.name == "omit":
            return Code("OMIT", Any, 0, True)
        name = scope.names.get(node.name)
        if name is None and node.name == "now":
            raise ExpressionError("`now` is for rules about what runs; what is desired must not depend on the time")
        if name is None:
            suggestion = nearest(node.name, scope.names)
            raise ExpressionError(f"unknown name {node.name!r}; in scope are {', '.join(sorted(scope.names))}", suggestion)
        return name

    def _concat(self, node: nodes.Concat, scope: Scope) -> Code:
        return self._concatenate([self.compile(part, scope) for part in node.nodes])

    def _list(self, node: nodes.List, scope: Scope) -> Code:
        codes = [self.compile(item, scope) for item in node.items]
        item = codes[0].type if codes and all(code.type == codes[0].type for code in codes) else Any
        kind = list[item]  # type: ignore[valid-type]
        return Code("[" + ", ".join(code.python for code in codes) + "]", kind, depth_of(codes))

    def _tuple(self, node: nodes.Tuple, scope: Scope) -> Code:
        return self._list(nodes.List(node.items), scope)

    def _dict(self, node: nodes.Dict, scope: Scope) -> Code:
        pairs = [(self.compile(pair.key, scope), self.compile(pair.value, scope)) for pair in node.items]
        codes = [code for pair in pairs for code in pair]
        return Code("{" + ", ".join(f"{key.python}: {value.python}" for key, value in pairs) + "}", dict[str, Any], depth_of(codes))


def depth_of(codes: list[Code]) -> int:
    """Returns the greatest depth of several expressions, which is that of whatever combines them."""
    return max((code.depth for code in codes), default=0)


def _check_characters(text: str) -> None:
    """Raises `ExpressionError` for halves of surrogate pairs, which no output can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ExpressionError("text with half of a surrogate pair; write the character itself") from None
