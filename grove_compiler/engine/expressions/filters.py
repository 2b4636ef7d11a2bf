"""Compiles filters (`x | filter`) and tests (`x is test`)."""

from __future__ import annotations

from typing import Any

from jinja2 import nodes

from grove_compiler.engine.expressions import model_types, types
from grove_compiler.engine.expressions.accesses import Accesses
from grove_compiler.engine.expressions.call_checks import KEYED_FILTERS, check_attribute_only, check_call, check_pattern, constant, keywords
from grove_compiler.engine.expressions.expression_syntax import ExpressionError
from grove_compiler.engine.expressions.scope import Code, Scope
from grove_compiler.engine.runtime import builtins
from grove_compiler.graph.nearest import nearest

_ITEM_FILTERS = {"first", "last", "min", "max"}
_AT_ONCE = {"default", "d", "length", "first"}
_SAME_LIST_FILTERS = {"select", "reject", "selectattr", "rejectattr", "sort", "unique", "duplicates", "list"}


class Filters(Accesses):
    """Compiles filters and tests. One that looks at each item takes a lambda over it, whose type follows from that of the list."""

    def _filter(self, node: nodes.Filter, scope: Scope) -> Code:
        if node.name not in self.filters:
            raise ExpressionError(f"unknown filter {node.name!r}", nearest(node.name, self.filters))
        if node.node is None:
            raise ExpressionError(f"the filter {node.name!r} needs something to its left")
        base = self.compile(node.node, scope)
        base = self._charged(base) if node.name in _AT_ONCE else self._walked(base)
        if node.name in ("map", "select", "reject", "selectattr", "rejectattr"):
            return self._each_filter(node, base, scope)
        if node.name in KEYED_FILTERS:
            return self._keyed_filter(node, base)
        check_call(node.name, self.filters[node.name], len(node.args) + 1, keywords(node), self.words)
        if node.name in ("default", "d"):
            fallback = self.compile_result(node.args[0], scope) if node.args else self.compile_result(keywords(node)[0].value, scope)
            python, depth = f"filter_default({base.python}, {fallback.python})", max(base.depth, fallback.depth)
            return Code(python, types.without_none(base.type) if fallback.may_omit else Any, depth, fallback.may_omit)
        arguments, depth = self._arguments(node.args, keywords(node), scope, self.filters[node.name])
        python = f"filter_{node.name}({base.python}{', ' if arguments else ''}{arguments})"
        return Code(python, self._result(node.name, base), max(base.depth, depth))

    def _keyed_filter(self, node: nodes.Filter, base: Code) -> Code:
        """Compiles `sort`, `unique`, `repeats`, `sum`, `min` and `max`, which take an attribute or nothing."""
        check_attribute_only(node)
        kind = self._result(node.name, base)
        if not keywords(node):
            return Code(f"filter_{node.name}({base.python})", kind, base.depth)
        item = Code("item", types.item_type(base.type), base.depth)
        key = self._path(item, constant(keywords(node)[0].value, "attribute"))
        return Code(f"filter_{node.name}({base.python}, lambda item: {key.python})", kind, base.depth)

    def _each_filter(self, node: nodes.Filter, base: Code, scope: Scope) -> Code:
        item = Code("item", types.item_type(base.type), 0)
        check_attribute_only(node, *node.args)
        if keywords(node):
            key, rest = self._path(item, constant(keywords(node)[0].value, "attribute")), node.args
        elif node.name.endswith("attr") and node.args:
            key, rest = self._path(item, constant(node.args[0], "the attribute")), node.args[1:]
        elif node.args:
            key, rest = item, node.args
        else:
            raise ExpressionError(f"{node.name!r} needs an attribute or a name")
        if rest:
            key = self._applied(node.name, constant(rest[0], "the name of a filter or test"), key, rest[1:], scope)
        kind = list[key.type] if node.name == "map" else list[item.type]  # type: ignore[name-defined]
        return Code(f"filter_{node.name}({base.python}, lambda item: {key.python})", kind, max(base.depth, key.depth))

    def _applied(self, name: str, word: str, key: Code, given: list[nodes.Expr], scope: Scope) -> Code:
        """Compiles the named filter of `map('lower')`, or the named test of `select('none')`, applied to `key`."""
        table, prefix = (self.filters, "filter") if name == "map" else (builtins.TESTS, "test")
        if word not in table:
            raise ExpressionError(f"unknown {prefix} {word!r}", nearest(word, table))
        check_call(word, table[word], len(given) + 1, [], self.words)
        if prefix == "test":
            word = self._tested(word, given)
        if given and name == "map" and word in KEYED_FILTERS:
            raise ExpressionError(f"{word!r} takes nothing here")
        arguments, depth = self._arguments(given, [], scope, builtins.TESTS.get(word))
        kind = self._result(word, key) if name == "map" else bool
        return self._charged(Code(f"{prefix}_{word}({key.python}{', ' if arguments else ''}{arguments})", kind, max(key.depth, depth)))

    def _result(self, name: str, base: Code) -> Any:
        if name in builtins.RESULTS:
            return builtins.RESULTS[name]
        if name in _ITEM_FILTERS:
            return types.or_none(types.item_type(base.type))
        if name in _SAME_LIST_FILTERS:
            return list[types.item_type(base.type)]  # type: ignore[misc]
        if name in builtins.FILTERS:
            return Any
        return model_types.result(self.filters[name])

    def _test(self, node: nodes.Test, scope: Scope) -> Code:
        if node.name not in builtins.TESTS:
            raise ExpressionError(f"unknown test {node.name!r}", nearest(node.name, builtins.TESTS))
        base = self.compile(node.node, scope)
        if node.name in ("none", "defined") and not node.args:
            return Code(f"({base.python} is {'not ' if node.name == 'defined' else ''}None)", bool, base.depth)
        check_call(node.name, builtins.TESTS[node.name], len(node.args) + 1, keywords(node), self.words)
        name = self._tested(node.name, node.args)
        arguments, depth = self._arguments(node.args, keywords(node), scope, builtins.TESTS[node.name])
        return Code(f"test_{name}({base.python}{', ' if arguments else ''}{arguments})", bool, max(base.depth, depth))

    def _tested(self, name: str, given: list[nodes.Expr]) -> str:
        """Returns the name of the test to call: patterns of users are matched in linear time. Raises `ExpressionError` for a wrong one."""
        if name != "match":
            return name
        if given:
            check_pattern(given[0], builtins.matches_in_linear_time if self.metered else builtins.matches)
        return "linear_match" if self.metered else "match"
