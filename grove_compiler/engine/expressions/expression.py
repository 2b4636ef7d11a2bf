"""Expressions: parsed by Jinja2, checked against the names in scope, turned into Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jinja2 import nodes

from grove_compiler.engine.expressions import types
from grove_compiler.engine.expressions.call_checks import KEYED_FILTERS, check_attribute_only, check_call, check_pattern, constant, keywords
from grove_compiler.engine.expressions.expression_syntax import Code, ExpressionError, parse_expression, parse_text
from grove_compiler.engine.expressions.scope import Name, Scope
from grove_compiler.engine.runtime import builtins
from grove_compiler.engine.sources import Vocabulary
from grove_compiler.graph.nearest import nearest

_BINARY = {nodes.Add: "+", nodes.Sub: "-", nodes.Div: "/", nodes.FloorDiv: "//", nodes.Mod: "%"}
_COMPARE = {"eq": "==", "ne": "!=", "gt": ">", "gteq": ">=", "lt": "<", "lteq": "<="}
_ITEM_FILTERS = {"first", "last", "min", "max"}
_SAME_LIST_FILTERS = {"select", "reject", "selectattr", "rejectattr", "sort", "unique", "duplicates", "list"}


class ExpressionCompiler:
    """Turns Jinja2 expressions into Python for one vocabulary. Without state of its own, so one serves all rules.

    With `metered`, what expressions make and go through is paid for (see `effort`).
    """

    def __init__(self, vocabulary: Vocabulary, metered: bool = False) -> None:
        self.metered = metered
        self.functions = {**builtins.FUNCTIONS, **vocabulary.functions}
        self.filters = {**builtins.FILTERS, **vocabulary.functions}

    def expression(self, text: str, scope: Scope) -> Code:
        """A bare expression. Raises `ExpressionError`."""
        return self._bounded(parse_expression(text), scope, self.compile_result)

    def value(self, text: str, scope: Scope) -> Code:
        """A bare expression that cannot be `omit`. Raises `ExpressionError`."""
        return self._bounded(parse_expression(text), scope, self.compile)

    def text(self, text: str, scope: Scope) -> Code:
        """Text with `{{ }}`: one expression alone keeps its type, anything else is text. Raises `ExpressionError`."""
        parts = parse_text(text)
        if len(parts) == 1 and not isinstance(parts[0], nodes.TemplateData):
            return self._bounded(parts[0], scope, self.compile_result)
        return self._concatenate([self._bounded(part, scope, self.compile) for part in parts])

    def _bounded(self, node: nodes.Node, scope: Scope, translate: Callable[[nodes.Node, Scope], Code]) -> Code:
        """Raises `ExpressionError` for what Python's own parser would refuse, so that one rule cannot spoil the others' module."""
        try:
            code = self._paid(translate(node, scope))
            if len(code.python) > 100:
                compile(code.python, "expression", "eval")
        except (SyntaxError, RecursionError, MemoryError, ValueError):
            raise ExpressionError("the expression is too large or nested too deeply") from None
        return code

    def compile(self, node: nodes.Node, scope: Scope) -> Code:
        """One node of Jinja2's syntax tree, as a value that is there. Raises `ExpressionError` where it may be `omit`."""
        code = self.compile_result(node, scope)
        if code.may_omit:
            raise ExpressionError("`omit` can be what a whole expression gives, as in `x or omit`, not part of another value")
        return code

    def compile_result(self, node: nodes.Node, scope: Scope) -> Code:
        """One node of Jinja2's syntax tree; what it gives may be `omit`."""
        method: Callable[[Any, Scope], Code] | None = getattr(self, f"_{type(node).__name__.lower()}", None)
        if isinstance(node, nodes.BinExpr) and type(node) in _BINARY:
            return self._arithmetic(node, scope)
        if method is None:
            raise ExpressionError(f"{type(node).__name__} is not part of the rules language")
        return method(node, scope)

    def _paid(self, code: Code) -> Code:
        """The same value, paid for where rules are metered and where it may be large."""
        kind = types.without_none(code.type)
        if not self.metered or kind in (int, bool, float, type(None)) or types.is_model(kind):
            return code
        return Code(f"pay({code.python})", code.type, code.depth, code.may_omit)

    def _concatenate(self, codes: list[Code]) -> Code:
        if self.metered and codes:
            return Code(f"concat({', '.join(code.python for code in codes)})", str, _depth(codes))
        parts = [code.python if code.type is str else f"as_text({code.python})" for code in codes]
        python = "(" + " + ".join(parts) + ")" if parts else "''"
        return Code(python, str, _depth(codes))

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
        if name is None:
            suggestion = nearest(node.name, scope.names)
            raise ExpressionError(f"unknown name {node.name!r}; in scope are {', '.join(sorted(scope.names))}", suggestion)
        return Code(name.python, name.type, name.depth, name.may_omit)

    def _getattr(self, node: nodes.Getattr, scope: Scope) -> Code:
        return self._attribute(self.compile(node.node, scope), node.attr)

    def _attribute(self, base: Code, name: str) -> Code:
        owner = types.without_none(base.type)
        if name.startswith("_"):
            raise ExpressionError(f"{name!r} begins with an underscore; an entry of a map of that name is read as `x['{name}']`")
        if types.is_model(owner):
            return self._model_attribute(base, owner, name)
        if types.is_mapping(owner):
            value = types.or_none(types.value_type(owner))
            if types.is_optional(base.type):
                return Code(f"get_field({base.python}, {name!r})", value, base.depth)
            return Code(f"{base.python}.get({name!r})", value, base.depth)
        if owner is not Any:
            raise ExpressionError(f"{_type_name(owner)} has no field {name!r}")
        return Code(f"get_field({base.python}, {name!r})", Any, base.depth)

    def _model_attribute(self, base: Code, owner: type, name: str) -> Code:
        try:
            kind = types.attribute_type(owner, name)
        except AttributeError:
            suggestion = nearest(name, types.public_names(owner))
            raise ExpressionError(f"{owner.__name__} has no attribute {name!r}", suggestion) from None
        if types.is_optional(base.type):
            return Code(f"get_field({base.python}, {name!r})", types.or_none(kind), base.depth)
        return Code(f"{base.python}.{name}", kind, base.depth)

    def _path(self, base: Code, path: str) -> Code:
        for name in path.split("."):
            base = self._attribute(base, name)
        return base

    def _getitem(self, node: nodes.Getitem, scope: Scope) -> Code:
        base = self.compile(node.node, scope)
        if isinstance(node.arg, nodes.Slice):
            base = self._paid(base)
            bounds = [self.compile(bound, scope) if bound else None for bound in (node.arg.start, node.arg.stop, node.arg.step)]
            parts = ", ".join(bound.python if bound else "None" for bound in bounds)
            return Code(f"get_item({base.python}, slice({parts}))", base.type, _depth([base, *(b for b in bounds if b)]))
        if isinstance(node.arg, nodes.Const) and isinstance(node.arg.value, str) and types.is_model(types.without_none(base.type)):
            return self._attribute(base, node.arg.value)
        key = self.compile(node.arg, scope)
        owner = types.without_none(base.type)
        kind = types.value_type(owner) if types.is_mapping(owner) else types.item_type(owner)
        return Code(f"get_item({base.python}, {key.python})", types.or_none(kind), _depth([base, key]))

    def _call(self, node: nodes.Call, scope: Scope) -> Code:
        if node.dyn_args or node.dyn_kwargs:
            raise ExpressionError("* and ** arguments are not part of the rules language")
        arguments, depth = self._arguments(node.args, node.kwargs, scope)
        if isinstance(node.node, nodes.Name):
            name = node.node.name
            if name not in self.functions:
                raise ExpressionError(f"unknown function {name!r}", nearest(name, self.functions))
            check_call(name, self.functions[name], len(node.args), node.kwargs)
            return Code(f"fn_{name}({arguments})", types.result_type(self.functions[name]), depth)
        if isinstance(node.node, nodes.Getattr):
            base = self.compile(node.node.node, scope)
            if types.is_model(base.type):
                kind = self._method(base.type, node.node.attr, node)
                return Code(f"{base.python}.{node.node.attr}({arguments})", kind, max(base.depth, depth))
            if types.is_model(types.without_none(base.type)):
                raise ExpressionError(f"what `{node.node.attr}` is called on may be none; guard it with a `when` and a `let`")
        raise ExpressionError("only registered functions and methods of the model can be called; filters are written `x | name`")

    def _method(self, owner: type, name: str, call: nodes.Call) -> Any:
        """What a method of a model class returns. Raises `ExpressionError` when there is none, or when it is called wrongly."""
        try:
            kind = types.method_type(owner, name)
        except AttributeError:
            raise ExpressionError(f"{owner.__name__} has no method {name!r}", nearest(name, types.public_names(owner))) from None
        check_call(name, getattr(owner, name), len(call.args) + 1, call.kwargs)
        return kind

    def _arguments(self, args: list[nodes.Expr], kwargs: list[nodes.Keyword], scope: Scope) -> tuple[str, int]:
        positional = [self.compile(argument, scope) for argument in args]
        named = [(keyword.key, self.compile(keyword.value, scope)) for keyword in kwargs]
        text = ", ".join([code.python for code in positional] + [f"{key}={code.python}" for key, code in named])
        return text, _depth([*positional, *(code for _, code in named)])

    def _filter(self, node: nodes.Filter, scope: Scope) -> Code:
        if node.name not in self.filters:
            raise ExpressionError(f"unknown filter {node.name!r}", nearest(node.name, self.filters))
        if node.node is None:
            raise ExpressionError(f"the filter {node.name!r} needs something to its left")
        base = self._paid(self.compile(node.node, scope))
        if node.name in ("map", "select", "reject", "selectattr", "rejectattr"):
            return self._each_filter(node, base, scope)
        if node.name in KEYED_FILTERS:
            return self._keyed_filter(node, base)
        check_call(node.name, self.filters[node.name], len(node.args) + 1, keywords(node))
        if node.name in ("default", "d"):
            fallback = self.compile_result(node.args[0], scope) if node.args else self.compile_result(keywords(node)[0].value, scope)
            python, depth = f"filter_default({base.python}, {fallback.python})", max(base.depth, fallback.depth)
            return Code(python, types.without_none(base.type) if fallback.may_omit else Any, depth, fallback.may_omit)
        arguments, depth = self._arguments(node.args, keywords(node), scope)
        python = f"filter_{node.name}({base.python}{', ' if arguments else ''}{arguments})"
        return Code(python, self._result(node.name, base), max(base.depth, depth))

    def _keyed_filter(self, node: nodes.Filter, base: Code) -> Code:
        """`sort`, `unique`, `sum`, `min` and `max`, which take an attribute or nothing."""
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
        """`map('lower')` applies a filter, `select('none')` a test."""
        table, prefix = (self.filters, "filter") if name == "map" else (builtins.TESTS, "test")
        if word not in table:
            raise ExpressionError(f"unknown {prefix} {word!r}", nearest(word, table))
        check_call(word, table[word], len(given) + 1, [])
        if given and name == "map" and word in KEYED_FILTERS:
            raise ExpressionError(f"{word!r} takes nothing here")
        arguments, depth = self._arguments(given, [], scope)
        kind = self._result(word, key) if name == "map" else bool
        return self._paid(Code(f"{prefix}_{word}({key.python}{', ' if arguments else ''}{arguments})", kind, max(key.depth, depth)))

    def _result(self, name: str, base: Code) -> Any:
        if name in builtins.RESULTS:
            return builtins.RESULTS[name]
        if name in _ITEM_FILTERS:
            return types.or_none(types.item_type(base.type))
        if name in _SAME_LIST_FILTERS:
            return list[types.item_type(base.type)]  # type: ignore[misc]
        if name in builtins.FILTERS:
            return Any
        return types.result_type(self.filters[name])

    def _test(self, node: nodes.Test, scope: Scope) -> Code:
        if node.name not in builtins.TESTS:
            raise ExpressionError(f"unknown test {node.name!r}", nearest(node.name, builtins.TESTS))
        base = self.compile(node.node, scope)
        if node.name in ("none", "defined") and not node.args:
            return Code(f"({base.python} is {'not ' if node.name == 'defined' else ''}None)", bool, base.depth)
        check_call(node.name, builtins.TESTS[node.name], len(node.args) + 1, keywords(node))
        if node.name == "match" and node.args:
            check_pattern(node.args[0])
        arguments, depth = self._arguments(node.args, keywords(node), scope)
        return Code(f"test_{node.name}({base.python}{', ' if arguments else ''}{arguments})", bool, max(base.depth, depth))

    def _compare(self, node: nodes.Compare, scope: Scope) -> Code:
        left = self.compile(node.expr, scope)
        parts, codes = [], [left]
        for operand in node.ops:
            right = self._paid(self.compile(operand.expr, scope))
            codes.append(right)
            if operand.op in ("in", "notin"):
                parts.append(f"{'not ' if operand.op == 'notin' else ''}contains({left.python}, {right.python})")
            else:
                parts.append(f"{left.python} {_COMPARE[operand.op]} {right.python}")
            left = right
        return Code("(" + " and ".join(parts) + ")", bool, _depth(codes))

    def _arithmetic(self, node: nodes.BinExpr, scope: Scope) -> Code:
        left, right = self.compile(node.left, scope), self.compile(node.right, scope)
        kind = left.type if left.type is right.type and left.type in (int, str) and type(node) is not nodes.Div else Any
        if type(node) is nodes.Mod and left.type is not int:
            # A formatting operator on text would be a way around all checks.
            return Code(f"modulo({left.python}, {right.python})", Any, _depth([left, right]))
        return self._paid(Code(f"({left.python} {_BINARY[type(node)]} {right.python})", kind, _depth([left, right])))

    def _mul(self, node: nodes.Mul, scope: Scope) -> Code:
        left, right = self.compile(node.left, scope), self.compile(node.right, scope)
        kind = int if left.type is int and right.type is int else Any
        return Code(f"multiply({left.python}, {right.python})", kind, _depth([left, right]))

    def _pow(self, node: nodes.Pow, scope: Scope) -> Code:
        left, right = self.compile(node.left, scope), self.compile(node.right, scope)
        return Code(f"power({left.python}, {right.python})", Any, _depth([left, right]))

    def _and(self, node: nodes.And, scope: Scope) -> Code:
        return self._logic("and", node, scope)

    def _or(self, node: nodes.Or, scope: Scope) -> Code:
        return self._logic("or", node, scope)

    def _logic(self, word: str, node: nodes.BinExpr, scope: Scope) -> Code:
        left, right = self.compile_result(node.left, scope), self.compile_result(node.right, scope)
        if types.without_none(left.type) == types.without_none(right.type) and not right.may_omit:
            kind = right.type if word == "or" or types.is_optional(right.type) else left.type
        else:
            kind = types.without_none(left.type) if right.may_omit and word == "or" else Any
        return Code(f"({left.python} {word} {right.python})", kind, _depth([left, right]), left.may_omit or right.may_omit)

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
        return Code(f"({yes.python} if {test.python} else {no.python})", kind, _depth([yes, test, no]), yes.may_omit or no.may_omit)

    def _concat(self, node: nodes.Concat, scope: Scope) -> Code:
        return self._concatenate([self.compile(part, scope) for part in node.nodes])

    def _list(self, node: nodes.List, scope: Scope) -> Code:
        codes = [self.compile(item, scope) for item in node.items]
        item = codes[0].type if codes and all(code.type == codes[0].type for code in codes) else Any
        kind = list[item]  # type: ignore[valid-type]
        return Code("[" + ", ".join(code.python for code in codes) + "]", kind, _depth(codes))

    def _tuple(self, node: nodes.Tuple, scope: Scope) -> Code:
        return self._list(nodes.List(node.items), scope)

    def _dict(self, node: nodes.Dict, scope: Scope) -> Code:
        pairs = [(self.compile(pair.key, scope), self.compile(pair.value, scope)) for pair in node.items]
        codes = [code for pair in pairs for code in pair]
        return Code("{" + ", ".join(f"{key.python}: {value.python}" for key, value in pairs) + "}", dict[str, Any], _depth(codes))


def variable(word: str) -> str:
    """The Python name for a word that rules bind; the prefix keeps it apart from keywords and the runtime's names."""
    return f"v_{word}"


def named(word: str, kind: Any, depth: int, may_omit: bool = False) -> Name:
    """A bound word as a name in scope."""
    return Name(variable(word), kind, depth, may_omit)


def _depth(codes: list[Code]) -> int:
    return max((code.depth for code in codes), default=0)


def _check_characters(text: str) -> None:
    """Raises `ExpressionError` for halves of surrogate pairs, which no output can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ExpressionError("text with half of a surrogate pair; write the character itself") from None


def _type_name(annotation: Any) -> str:
    return {str: "text", int: "a number", bool: "a boolean", float: "a number"}.get(annotation, str(annotation).replace("typing.", ""))
