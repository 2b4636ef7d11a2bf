"""Generates Python for templates: an expression that builds the value, after the statements that it needs.

Parts that are the same for every object become constants; parts that use only outer loop variables are built once
for each value of those, when first needed. That is what lets thousands of objects share most of their manifests.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from grove_compiler.engine.codegen.statements import INNER, Block, StatementCodegen
from grove_compiler.engine.codegen.trace_codegen import traced_step, traced_value
from grove_compiler.engine.expressions import types
from grove_compiler.engine.expressions.expression_syntax import ExpressionError
from grove_compiler.engine.expressions.scope import Code, Scope, named
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


class TemplateCodegen(StatementCodegen):
    """Generates template nodes for a rule. With `traced`, every scalar keeps the place that it comes from."""

    def write(self, node: TemplateNode, scope: Scope, block: Block, depth: int) -> Code:
        """Compiles a node where names up to `depth` are bound. Mistakes are reported, and compile to `None`."""
        if self.traced:  # every object has parts of its own, so that each scalar knows where in its object it stands
            if not isinstance(node, MapNode | ListNode):
                return self._write(node, scope, block, INNER)
            outer = block.begin_shape(dict if isinstance(node, MapNode) else list)
            code = self._write(node, scope, block, INNER)
            shape, block.shape = block.shape, outer
            return replace(code, python=f"filled({code.python}, {self.rule!r}, {node.at.position!r}, {shape})")
        if isinstance(node, MapNode | ListNode):
            if is_fixed(node):
                return Code(block.writer.constant(fixed_value(node)), dict if isinstance(node, MapNode) else list)
            needed = self.depth(node, scope)
            if needed < depth:
                return self._lazy(node, scope, block, needed)
        elif isinstance(node, Text | Expression):
            code = self.code(node, scope)
            if code.depth < depth and code.calls:
                return self._lazy(node, scope, block, code.depth)
        return self._write(node, scope, block, depth)

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

    def _lazy(self, node: TemplateNode, scope: Scope, block: Block, depth: int) -> Code:
        """Writes a node that uses only outer names, so that it is built once for each value of those, when it is first needed.

        The variable is reset to None where its depth begins; `RuleFunction.leave` writes that line when all lazy parts are known.
        """
        name = block.writer.fresh("h")
        block.lazies.append((depth, name))
        block.add(f"if {name} is None:")
        block.indent += 1
        code = self._write(node, scope, block, depth)
        block.add(f"{name} = {code.python}", node.at)
        block.indent -= 1
        return Code(name, code.type, depth, code.may_omit)

    def _write(self, node: TemplateNode, scope: Scope, block: Block, depth: int) -> Code:
        if isinstance(node, MapNode):
            return self._map(node, scope, block, depth)
        if isinstance(node, ListNode):
            return self._list(node, scope, block, depth)
        assert not isinstance(node, Include)  # parts were put in when the template was parsed
        code = Code(repr(node.value), type(node.value)) if isinstance(node, Literal) else self.code(node, scope)
        model = types.model_within(code.type) if isinstance(node, Text | Expression) else None
        if model is not None:
            node.at.fail(f"a {model.__name__} cannot be part of a manifest; use one of its attributes")
        if not self.traced:
            # What a list or a map holds shows only when the rule runs: `[name] + [clique]` is taken for texts. Built-in ones have tests.
            is_plain = isinstance(node, Literal) or types.without_none(code.type) in (str, int, float, bool)
            return code if is_plain or not node.at.file.metered else replace(code, python=f"writable({code.python})")
        shape = block.shape if code.may_omit else "None"
        return replace(code, python=traced_value(code.python, node, scope, self.rule, shape))

    def _map(self, node: MapNode, scope: Scope, block: Block, depth: int) -> Code:
        if node.condition:
            return self._guarded_map(node, scope, block, depth)
        for word, expression in node.lets:
            scope = self.let(word, expression, scope, block)
        if not self._is_plain(node, scope):
            return self._stepwise_map(node, scope, block, depth)
        text = "{\n"
        for entry in node.entries:
            assert isinstance(entry, Field)
            key, value = self._key(entry, scope, block), self.write(entry.value, scope, block, depth)
            text += f"{key.python}: {value.python},{block.mark(entry.at)}"
        return Code(text + "}", dict[str, Any])

    def _guarded_map(self, node: MapNode, scope: Scope, block: Block, depth: int) -> Code:
        assert node.condition is not None
        name = block.writer.fresh("m")
        block.add(f"{name} = OMIT")
        self.guard(node.condition, scope, block, node.condition.path[:-1])
        body = self._map(replace(node, condition=None), scope, block, depth)
        block.add(f"{name} = {body.python}")
        block.indent -= 1
        return Code(name, dict[str, Any], may_omit=True)

    def _is_plain(self, node: MapNode, scope: Scope) -> bool:
        """Reports whether the map can be one dict display: no merges, nothing that may be omitted."""
        return all(isinstance(entry, Field) and not self._may_omit(entry.value, scope) for entry in node.entries)

    def _may_omit(self, node: TemplateNode, scope: Scope) -> bool:
        if isinstance(node, MapNode):
            return node.condition is not None
        return isinstance(node, Text | Expression) and self._quiet(node, scope).may_omit

    def _stepwise_map(self, node: MapNode, scope: Scope, block: Block, depth: int) -> Code:
        name = block.writer.fresh("m")
        block.add(f"{name} = {{}}")
        for entry in node.entries:
            if not isinstance(entry, Field):
                code = self._write(entry, scope, block, depth)
                block.add(f"merge({name}, {code.python}{f', {block.shape}' * self.traced})", entry.at)
                continue
            key = self._key(entry, scope, block).python
            value = self.write(entry.value, scope, block, depth)
            if not value.may_omit:
                block.add(f"{name}[{key}] = {value.python}", entry.at)
                continue
            block.add(f"x = {value.python}", entry.at)
            block.add(f"if x is not OMIT: {name}[{key}] = x")
        return Code(name, dict[str, Any])

    def _key(self, entry: Field, scope: Scope, block: Block) -> Code:
        if isinstance(entry.key, Literal):
            return Code(repr(entry.key.value))
        code = self.code(entry.key, scope)
        if code.may_omit:
            entry.at.fail("a key cannot be `omit`; guard its value")
        python = code.python if code.type is str else f"as_text({code.python})"
        return Code(traced_step(python, entry.key, block.shape) if self.traced else python)

    def _list(self, node: ListNode, scope: Scope, block: Block, depth: int) -> Code:
        if all(not item.loop and not item.condition and not self._may_omit(item.value, scope) for item in node.items):
            text = "[\n"
            for item in node.items:
                text += f"{self.write(item.value, scope, block, depth).python},{block.mark(item.at)}"
            return Code(text + "]", list)
        name = block.writer.fresh("m")
        block.add(f"{name} = []")
        for item in node.items:
            self._item(item, name, scope, block, depth)
        return Code(name, list)

    def _item(self, item: ListItem, name: str, scope: Scope, block: Block, depth: int) -> None:
        indent = block.indent
        if item.loop:
            word, expression = item.loop
            if word in scope.names:
                expression.at.fail(f"the loop's name {word!r} hides a name that is already in use")
            scope, depth = self.loop(word, expression, scope, block), INNER
        if item.condition:
            self.guard(item.condition, scope, block, item.condition.path[:-1])
        if item.spreads and isinstance(item.value, ListNode):
            for part in item.value.items:
                self._item(part, name, scope, block, depth)
            block.indent = indent
            return
        value = self.write(item.value, scope, block, depth)
        if value.may_omit:
            block.add(f"x = {value.python}", item.at)
            block.add(f"if x is not OMIT: {name}.append(x)")
        else:
            block.add(f"{name}.append({value.python})", item.at)
        block.indent = indent
