"""Compiles what an expression reads and calls: attributes, items, functions, decisions, methods of the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jinja2 import nodes

from grove_compiler.engine.expressions import model_types, types
from grove_compiler.engine.expressions.call_checks import check_call
from grove_compiler.engine.expressions.expression_syntax import ExpressionError
from grove_compiler.engine.expressions.model_types import python_name
from grove_compiler.engine.expressions.node_compiler import NodeCompiler, depth_of
from grove_compiler.engine.expressions.scope import Code, Scope, variable
from grove_compiler.engine.runtime import builtins
from grove_compiler.graph.nearest import nearest


class Accesses(NodeCompiler):
    """Compiles attribute reads, subscripts and calls, and checks each against the annotations of the model where types are known."""

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
            raise ExpressionError(f"{types.type_name(owner)} has no field {name!r}")
        return Code(f"get_field({base.python}, {name!r})", Any, base.depth)

    def _model_attribute(self, base: Code, owner: type, name: str) -> Code:
        try:
            kind = model_types.attribute(owner, name)
        except AttributeError:
            suggestion = nearest(name, model_types.public_names(owner))
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
            base = self._charged(base)
            bounds = [self.compile(bound, scope) if bound else None for bound in (node.arg.start, node.arg.stop, node.arg.step)]
            parts = ", ".join(bound.python if bound else "None" for bound in bounds)
            return Code(f"get_item({base.python}, slice({parts}))", base.type, depth_of([base, *(b for b in bounds if b)]))
        if isinstance(node.arg, nodes.Const) and isinstance(node.arg.value, str) and types.is_model(types.without_none(base.type)):
            return self._attribute(base, node.arg.value)
        key = self.compile(node.arg, scope)
        owner = types.without_none(base.type)
        kind = types.value_type(owner) if types.is_mapping(owner) else types.item_type(owner)
        if types.is_mapping(base.type):  # which is certainly there
            return Code(f"{base.python}.get({key.python})", types.or_none(kind), depth_of([base, key]))
        return Code(f"get_item({base.python}, {key.python})", types.or_none(kind), depth_of([base, key]))

    def _call(self, node: nodes.Call, scope: Scope) -> Code:
        if node.dyn_args or node.dyn_kwargs:
            raise ExpressionError("* and ** arguments are not part of the rules language")
        if isinstance(node.node, nodes.Name):
            name = node.node.name
            if name not in self.functions:
                raise ExpressionError(f"unknown function {name!r}", nearest(name, self.functions))
            check_call(name, self.functions[name], len(node.args), node.kwargs, self.words)
            if name in self.decisions:
                return self._decision(name, node, scope)
            arguments, depth = self._arguments(node.args, node.kwargs, scope, self.functions[name])
            return Code(f"fn_{name}({arguments})", model_types.result(self.functions[name]), depth)
        if isinstance(node.node, nodes.Getattr):
            base = self.compile(node.node.node, scope)
            method = getattr(base.type, node.node.attr, None) if types.is_model(base.type) else None
            arguments, depth = self._arguments(node.args, node.kwargs, scope, method)
            if types.is_model(base.type):
                kind = self._method(base.type, node.node.attr, node)
                return Code(f"{base.python}.{node.node.attr}({arguments})", kind, max(base.depth, depth))
            if types.is_model(types.without_none(base.type)):
                raise ExpressionError(f"what `{node.node.attr}` is called on may be none; guard it with a `when` and a `let`")
        raise ExpressionError("only registered functions and methods of the model can be called; filters are written `x | name`")

    def _decision(self, name: str, node: nodes.Call, scope: Scope) -> Code:
        """Compiles a call of the function that a `decide` rule became; the vocabulary declares the types of its parameters."""
        parameters = model_types.parameters(self.decisions[name], self.words)
        given = dict(zip(parameters, node.args, strict=False)) | {keyword.key: keyword.value for keyword in node.kwargs}
        codes = {word: self.compile(argument, scope) for word, argument in given.items()}
        for word, code in codes.items():
            if types.conflict(code.type, parameters[word]):
                mismatch = f"{types.type_name(code.type)}, not {types.type_name(parameters[word])}"
                raise ExpressionError(f"{name}({', '.join(parameters)}): {word!r} is {mismatch}")
        arguments = ", ".join(f"{variable(word)}={code.python}" for word, code in codes.items())
        return Code(f"fn_{name}({arguments})", model_types.result(self.decisions[name]), depth_of(list(codes.values())))

    def _method(self, owner: type, name: str, call: nodes.Call) -> Any:
        """Returns the return type of a model class's method. Raises `ExpressionError` for an unknown method or wrong arguments."""
        try:
            kind = model_types.method(owner, name)
        except AttributeError:
            raise ExpressionError(f"{owner.__name__} has no method {name!r}", nearest(name, model_types.public_names(owner))) from None
        check_call(name, getattr(owner, name), len(call.args) + 1, call.kwargs, self.words)
        return kind

    def _arguments(
        self, args: list[nodes.Expr], kwargs: list[nodes.Keyword], scope: Scope, function: Callable[..., Any] | None
    ) -> tuple[str, int]:
        positional = [self.compile(argument, scope) for argument in args]
        if function is builtins.TESTS["in"]:
            positional = [self._walked(code) for code in positional]
        named = [(python_name(keyword.key, function, self.words), self.compile(keyword.value, scope)) for keyword in kwargs]
        text = ", ".join([code.python for code in positional] + [f"{key}={code.python}" for key, code in named])
        return text, depth_of([*positional, *(code for _, code in named)])
