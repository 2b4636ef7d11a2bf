"""Generates Python for templates: an expression that builds the value, after the statements that it needs.

Parts that are the same for every object become constants; parts that use only outer loop variables are built once
for each value of those, when first needed. That is what lets thousands of objects share most of their manifests.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from grove_compiler.engine.codegen.block import Block
from grove_compiler.engine.codegen.trace_codegen import traced_condition, traced_items, traced_name, traced_step, traced_value
from grove_compiler.engine.expressions import types
from grove_compiler.engine.expressions.expression import ExpressionCompiler
from grove_compiler.engine.expressions.expression_syntax import ExpressionError
from grove_compiler.engine.expressions.scope import Code, Scope, named, variable
from grove_compiler.engine.language.template_ast import (
    Expression,
    Field,
    Include,
    ListItem,
    ListNode,
    Literal,
    MapNode,
    TemplateNode,
    Text,
    fixed_value,
    is_fixed,
)
from grove_compiler.graph.field_path import FieldPath

INNER = 1000
"""The depth of the names that a template or a patch binds itself: deeper than any loop of a rule."""


Compilers = dict[bool, ExpressionCompiler]
"""Two expression compilers, by whether they are metered, which depends on the file of an expression."""


class TemplateCodegen:
    """Generates template nodes for a rule, and the statements that rules, templates and patches have in common: names, loops and guards.

    With `traced`, expressions record what explanations need, and every scalar keeps the place that it comes from. Errors are reported at
    their position, with `about` after the message, and replaced by `None`.
    """

    def __init__(self, block: Block, compilers: Compilers, traced: bool = False, rule: str = "", about: str = "") -> None:
        self.block = block
        self.compilers = compilers
        self.traced = traced
        self.rule = rule
        self.about = about

    def code(self, part: Text | Expression, scope: Scope, may_omit: bool = True, expected: Any = Any) -> Code:
        """Compiles an expression, or text with expressions. A value that certainly is not of the expected type is a mistake as well."""
        try:
            code = self._compile(part, scope, may_omit)
            if types.conflict(code.type, expected):
                raise ExpressionError(f"it gives {types.type_name(code.type)}, and {types.type_name(expected)} is needed")
        except ExpressionError as error:
            part.at.fail(f"{error}{self.about}", error.suggestion)
            return Code("None")
        return code

    def _compile(self, part: Text | Expression, scope: Scope, may_omit: bool = True) -> Code:
        compiler = self.compilers[part.at.file.metered]
        if isinstance(part, Text):
            return compiler.text(part.text, scope)
        return (compiler.expression if may_omit else compiler.value)(part.text, scope)

    def named(self, word: str, python: str, expression: Expression) -> str:
        """Returns the Python of what a name is bound to, recorded when traced."""
        return traced_name(word, python, expression) if self.traced else python

    def let(self, word: str, expression: Expression, scope: Scope) -> Scope:
        """Writes the binding of a name by a template or a patch; returns the scope with it."""
        self.refuse_constant(word, expression, scope)
        code = self.code(expression, scope)
        name = Code(self.block.fresh(f"{variable(word)}_"), code.type, code.depth, code.may_omit)
        if code.is_literal:  # a word that a part is given: no variable, no statement
            name.python = code.python
        else:
            self.block.add(f"{name.python} = {self.named(word, code.python, expression)}", expression.at)
        return scope.with_name(word, name)

    def refuse_constant(self, word: str, expression: Expression, scope: Scope) -> None:
        """Reports a name that a constant has: templates take its value before names are known, so nothing may hide it."""
        if scope.is_constant(word):
            expression.at.fail(f"{word!r} is the name of a constant")

    def items(self, word: str, expression: Expression, scope: Scope, shape: str = "None") -> tuple[str, Any]:
        """Returns the Python of what a loop runs over, and the type of its items."""
        code = self.code(expression, scope, may_omit=False)
        if not types.is_loopable(code.type):
            expression.at.fail(f"cannot loop over `{expression.text}`: it is not a list")
        is_certain = code.type is not Any and not types.is_optional(code.type)
        python = f"walk({code.python if is_certain else f'each({code.python})'})"
        if self.traced:
            python = traced_items(word, code.python, expression, shape)
        return python, types.item_type(code.type)

    def loop(self, word: str, expression: Expression, scope: Scope) -> Scope:
        """Opens a loop inside of a template or a patch; what is written next is its body. Returns the scope inside."""
        python, kind = self.items(word, expression, scope, self.block.shape)
        name = Code(self.block.fresh(f"{variable(word)}_"), kind, INNER)
        self.block.open(f"for {name.python} in {python}:", expression.at)
        return scope.with_name(word, name)

    def condition(self, expression: Expression, scope: Scope, path: FieldPath = (), shape: str = "None") -> str:
        """Returns the Python of a `when` or an `$if`; the latter guards the part of the document at `path`."""
        code = self.code(expression, scope, may_omit=False)
        if not self.traced or expression.at.broken:
            return code.python
        return traced_condition(self.compilers[expression.at.file.metered], expression, scope, self.rule, shape, path)

    def guard(self, expression: Expression, scope: Scope, path: FieldPath = ()) -> None:
        """Opens an `if`; what is written next at the deeper indentation is guarded by it."""
        self.block.open(f"if {self.condition(expression, scope, path, self.block.shape)}:", expression.at)

    # -- template nodes --------------------------------------------------------------------------------------------------------

    def write(self, node: TemplateNode, scope: Scope, depth: int) -> Code:
        """Compiles a node where names up to `depth` are bound. Mistakes are reported, and compile to `None`."""
        if self.traced:  # every object has parts of its own, so that each scalar knows where in its object it stands
            if not isinstance(node, MapNode | ListNode):
                return self._write(node, scope, INNER)
            outer = self.block.begin_shape(dict if isinstance(node, MapNode) else list)
            code = self._write(node, scope, INNER)
            shape, self.block.shape = self.block.shape, outer
            return replace(code, python=f"filled({code.python}, {self.rule!r}, {node.at.position!r}, {shape})")
        if isinstance(node, MapNode | ListNode):
            if is_fixed(node):
                return Code(self.block.constant(fixed_value(node)), dict if isinstance(node, MapNode) else list)
            needed = self.depth(node, scope)
            if needed < depth:
                return self._lazy(node, scope, needed)
        elif isinstance(node, Text | Expression):
            code = self.code(node, scope)
            if code.depth < depth and code.calls:
                return self._lazy(node, scope, code.depth)
        return self._write(node, scope, depth)

    def depth(self, node: TemplateNode, scope: Scope) -> int:
        """Returns the depth of the deepest name that the node uses, apart from those that it binds itself."""
        if isinstance(node, Text | Expression):
            return self._quiet(node, scope).depth
        if isinstance(node, ListNode):
            return max((self._item_depth(item, scope) for item in node.items), default=0)
        if isinstance(node, MapNode):
            depths = [self._quiet(node.condition, scope).depth] if node.condition else []
            for name, expression in node.lets:
                depths.append(self._quiet(expression, scope).depth)
                scope = scope.with_name(name, named(name, Any, 0))
            for entry in node.entries:
                parts = [entry.key, entry.value] if isinstance(entry, Field) else [entry]
                depths += [self.depth(part, scope) for part in parts]
            return max(depths, default=0)
        return 0

    def _item_depth(self, item: ListItem, scope: Scope) -> int:
        depths = []
        if item.loop:
            name, expression = item.loop
            depths.append(self._quiet(expression, scope).depth)
            scope = scope.with_name(name, named(name, Any, 0))
        if item.condition:
            depths.append(self._quiet(item.condition, scope).depth)
        return max([*depths, self.depth(item.value, scope)])

    def _quiet(self, part: Text | Expression, scope: Scope) -> Code:
        """Compiles a value only to learn its depth and type. Mistakes are ignored: they are reported when the value is written."""
        try:
            return self._compile(part, scope)
        except ExpressionError:
            return Code("None", depth=INNER)

    def _lazy(self, node: TemplateNode, scope: Scope, depth: int) -> Code:
        """Writes a node that uses only outer names, so that it is built once for each value of those, when it is first needed.

        The variable is reset to None where its depth begins.
        """
        name = self.block.lazy(depth)
        self.block.open(f"if {name} is None:")
        code = self._write(node, scope, depth)
        self.block.add(f"{name} = {code.python}", node.at)
        self.block.indent -= 1
        return Code(name, code.type, depth, code.may_omit)

    def _write(self, node: TemplateNode, scope: Scope, depth: int) -> Code:
        if isinstance(node, MapNode):
            return self._map(node, scope, depth)
        if isinstance(node, ListNode):
            return self._list(node, scope, depth)
        assert not isinstance(node, Include)  # parts were put in when the template was parsed
        code = Code(repr(node.value), type(node.value)) if isinstance(node, Literal) else self.code(node, scope)
        model = types.model_within(code.type) if isinstance(node, Text | Expression) else None
        if model is not None:
            node.at.fail(f"a {model.__name__} cannot be part of a manifest; use one of its attributes")
        if not self.traced:
            # What a list or a map holds shows only when the rule runs: `[name] + [clique]` is taken for texts. Built-in ones have tests.
            is_plain = isinstance(node, Literal) or types.without_none(code.type) in (str, int, float, bool)
            return code if is_plain or not node.at.file.metered else replace(code, python=f"writable({code.python})")
        shape = self.block.shape if code.may_omit else "None"
        return replace(code, python=traced_value(code.python, node, scope, self.rule, shape))

    def _map(self, node: MapNode, scope: Scope, depth: int) -> Code:
        if node.condition:
            return self._guarded_map(node, scope, depth)
        for word, expression in node.lets:
            scope = self.let(word, expression, scope)
        if not self._is_plain(node, scope):
            return self._stepwise_map(node, scope, depth)
        text = "{\n"
        for entry in node.entries:
            assert isinstance(entry, Field)
            key, value = self._key(entry, scope), self.write(entry.value, scope, depth)
            text += f"{key}: {value.python},{self.block.mark(entry.at)}"
        return Code(text + "}", dict[str, Any])

    def _guarded_map(self, node: MapNode, scope: Scope, depth: int) -> Code:
        assert node.condition is not None
        name = self.block.fresh("m")
        self.block.add(f"{name} = OMIT")
        self.guard(node.condition, scope, node.condition.path[:-1])
        body = self._map(replace(node, condition=None), scope, depth)
        self.block.add(f"{name} = {body.python}")
        self.block.indent -= 1
        return Code(name, dict[str, Any], may_omit=True)

    def _is_plain(self, node: MapNode, scope: Scope) -> bool:
        """Reports whether the map can be one dict display: no merges, nothing that may be omitted."""
        return all(isinstance(entry, Field) and not self._may_omit(entry.value, scope) for entry in node.entries)

    def _may_omit(self, node: TemplateNode, scope: Scope) -> bool:
        if isinstance(node, MapNode):
            return node.condition is not None
        return isinstance(node, Text | Expression) and self._quiet(node, scope).may_omit

    def _stepwise_map(self, node: MapNode, scope: Scope, depth: int) -> Code:
        name = self.block.fresh("m")
        self.block.add(f"{name} = {{}}")
        for entry in node.entries:
            if not isinstance(entry, Field):
                code = self._write(entry, scope, depth)
                self.block.add(f"merge({name}, {code.python}{f', {self.block.shape}' * self.traced})", entry.at)
                continue
            key = self._key(entry, scope)
            value = self.write(entry.value, scope, depth)
            if not value.may_omit:
                self.block.add(f"{name}[{key}] = {value.python}", entry.at)
                continue
            self.block.add(f"x = {value.python}", entry.at)
            self.block.add(f"if x is not OMIT: {name}[{key}] = x")
        return Code(name, dict[str, Any])

    def _key(self, entry: Field, scope: Scope) -> str:
        """Returns the Python of a key. One that may fail has a place of its own: its value may take many lines."""
        if isinstance(entry.key, Literal):
            return repr(entry.key.value)
        code = self.code(entry.key, scope)
        if code.may_omit:
            entry.at.fail("a key cannot be `omit`; guard its value")
        python = code.python if code.type is str else f"as_text({code.python})"
        return f"({traced_step(python, entry.key, self.block.shape) if self.traced else python}{self.block.mark(entry.at)})"

    def _list(self, node: ListNode, scope: Scope, depth: int) -> Code:
        if all(not item.loop and not item.condition and not self._may_omit(item.value, scope) for item in node.items):
            text = "[\n"
            for item in node.items:
                text += f"{self.write(item.value, scope, depth).python},{self.block.mark(item.at)}"
            return Code(text + "]", list)
        name = self.block.fresh("m")
        self.block.add(f"{name} = []")
        for item in node.items:
            self._item(item, name, scope, depth)
        return Code(name, list)

    def _item(self, item: ListItem, name: str, scope: Scope, depth: int) -> None:
        indent = self.block.indent
        if item.loop:
            word, expression = item.loop
            if word in scope.names:
                expression.at.fail(f"the loop's name {word!r} hides a name that is already in use")
            scope, depth = self.loop(word, expression, scope), INNER
        if item.condition:
            self.guard(item.condition, scope, item.condition.path[:-1])
        if item.spreads and isinstance(item.value, ListNode):
            for part in item.value.items:
                self._item(part, name, scope, depth)
            self.block.indent = indent
            return
        value = self.write(item.value, scope, depth)
        if value.may_omit:
            self.block.add(f"x = {value.python}", item.at)
            self.block.add(f"if x is not OMIT: {name}.append(x)")
        else:
            self.block.add(f"{name}.append({value.python})", item.at)
        self.block.indent = indent
