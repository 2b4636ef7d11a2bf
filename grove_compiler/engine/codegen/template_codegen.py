"""Templates to Python: an expression that builds the value, after the statements that it needs.

Parts that are the same for every object become constants of the module; parts that use only outer loop variables are built once
for each value of those, when first needed. That is what lets thousands of objects share most of their manifests.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from grove_compiler.engine.codegen.module_codegen import ModuleCodegen
from grove_compiler.engine.codegen.trace_codegen import traced_condition, traced_items, traced_name, traced_value
from grove_compiler.engine.expressions import types
from grove_compiler.engine.expressions.expression import ExpressionCompiler
from grove_compiler.engine.expressions.expression_syntax import ExpressionError
from grove_compiler.engine.expressions.scope import Code, Scope, named, variable
from grove_compiler.engine.language.place import Place
from grove_compiler.engine.language.template_ast import (
    Expression,
    Field,
    Include,
    Item,
    ListNode,
    Literal,
    MapNode,
    TemplateNode,
    Text,
    fixed_value,
    is_fixed,
)
from grove_compiler.engine.sources import Vocabulary

INNER = 1000
"""The depth of a template's own loop variables: deeper than any loop of a rule."""


@dataclass(slots=True, eq=False)
class Block:
    """The statements of one rule under construction: lines at the current indentation, and what each loop level starts with."""

    writer: ModuleCodegen
    lines: list[str] = field(default_factory=list)
    lazies: list[tuple[int, str]] = field(default_factory=list)
    indent: int = 0

    def add(self, line: str) -> None:
        """One statement at the current indentation."""
        self.lines.append(" " * self.indent + line)


class Compilers(dict[bool, ExpressionCompiler]):
    """The compiler of metered expressions, and that of others: which it is depends on the file that an expression stands in."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__({metered: ExpressionCompiler(vocabulary, metered) for metered in (False, True)})


class TemplateCodegen:
    """Writes template nodes, for a rule. `traced` keeps, with every scalar, the place that it comes from."""

    def __init__(self, compilers: Compilers, traced: bool = False, rule: str = "") -> None:
        self.compilers = compilers
        self.traced = traced
        self.rule = rule

    def write(self, node: TemplateNode, scope: Scope, block: Block, depth: int) -> Code:
        """The value of a node where names up to `depth` are bound. Mistakes are reported and stand in as `None`."""
        if self.traced:
            return self._filled(self._write(node, scope, block, INNER), node)
        if isinstance(node, MapNode | ListNode):
            if is_fixed(node):
                return self._constant(node, block)
            needed = self.depth(node, scope)
            if needed < depth:
                return self._lazy(node, scope, block, needed)
        elif isinstance(node, Text | Expression):
            code = self._code(node, scope)
            if code.depth < depth and code.calls:
                return self._lazy(node, scope, block, code.depth)
        return self._write(node, scope, block, depth)

    def depth(self, node: TemplateNode, scope: Scope) -> int:
        """The depth of the deepest name that the node uses, apart from those that it binds itself."""
        if isinstance(node, Text | Expression):
            return self._quiet_depth(node, scope)
        if isinstance(node, ListNode):
            return max((self._item_depth(item, scope) for item in node.items), default=0)
        if isinstance(node, MapNode):
            depths = [self._quiet_depth(node.condition, scope)] if node.condition else []
            for name, expression in node.lets:
                depths.append(self._quiet_depth(expression, scope))
                scope = scope.with_name(name, named(name, Any, 0))
            for entry in node.entries:
                parts = [entry.key, entry.value] if isinstance(entry, Field) else [entry]
                depths += [self.depth(part, scope) for part in parts]
            return max(depths, default=0)
        return 0

    def _item_depth(self, item: Item, scope: Scope) -> int:
        depths = []
        if item.loop:
            name, expression = item.loop
            depths.append(self._quiet_depth(expression, scope))
            scope = scope.with_name(name, named(name, Any, 0))
        if item.condition:
            depths.append(self._quiet_depth(item.condition, scope))
        return max([*depths, self.depth(item.value, scope)])

    def _quiet_depth(self, part: Text | Expression, scope: Scope) -> int:
        try:
            return self._compile(part, scope).depth
        except ExpressionError:
            return INNER  # reported when it is written

    def _compile(self, part: Text | Expression, scope: Scope) -> Code:
        compiler = self.compilers[part.at.file.metered]
        return compiler.text(part.text, scope) if isinstance(part, Text) else compiler.expression(part.text, scope)

    def _code(self, part: Text | Expression, scope: Scope) -> Code:
        try:
            return self._compile(part, scope)
        except ExpressionError as error:
            part.at.fail(str(error), error.suggestion)
            return Code("None")

    def _mark(self, at: Place, block: Block) -> str:
        return block.writer.mark(at.position)

    def _constant(self, node: TemplateNode, block: Block) -> Code:
        return Code(block.writer.constant(fixed_value(node)), dict if isinstance(node, MapNode) else list)

    def _lazy(self, node: TemplateNode, scope: Scope, block: Block, depth: int) -> Code:
        name = block.writer.fresh("h")
        block.lazies.append((depth, name))
        block.add(f"if {name} is None:")
        block.indent += 1
        code = self._write(node, scope, block, depth)
        block.add(f"{name} = {code.python}{self._mark(node.at, block)}")
        block.indent -= 1
        return Code(name, code.type, depth, code.may_omit)

    def _write(self, node: TemplateNode, scope: Scope, block: Block, depth: int) -> Code:
        if isinstance(node, MapNode):
            return self._map(node, scope, block, depth)
        if isinstance(node, ListNode):
            return self._list(node, scope, block, depth)
        assert not isinstance(node, Include)  # parts were put in when the template was parsed
        code = Code(repr(node.value), type(node.value)) if isinstance(node, Literal) else self._code(node, scope)
        kind = types.without_none(code.type)
        if types.is_model(kind) and isinstance(node, Text | Expression):
            node.at.fail(f"a {kind.__name__} cannot stand in a manifest; name one of its attributes")
        return self._trace(code, node, scope) if self.traced else code

    def _trace(self, code: Code, node: Literal | Text | Expression, scope: Scope) -> Code:
        return Code(traced_value(code.python, node, scope, self.rule), code.type, code.depth, code.may_omit)

    def _filled(self, code: Code, node: TemplateNode) -> Code:
        """A map or a list that turns out to be empty has a place as scalars have."""
        if not isinstance(node, MapNode | ListNode):
            return code
        return Code(f"filled({code.python}, {self.rule!r}, {node.at.position!r})", code.type, code.depth, code.may_omit)

    def _condition(self, expression: Expression, scope: Scope) -> str:
        """An `$if`."""
        code = self._code(expression, scope)
        if not self.traced or expression.at.broken:
            return code.python
        compiler = self.compilers[expression.at.file.metered]
        return traced_condition(compiler, expression, scope, self.rule, expression.path[:-1])

    def _map(self, node: MapNode, scope: Scope, block: Block, depth: int) -> Code:
        if node.condition:
            return self._guarded_map(node, scope, block, depth)
        scope = self._lets(node, scope, block)
        if not self._is_plain(node, scope):
            return self._stepwise_map(node, scope, block, depth)
        text = "{\n"
        for entry in node.entries:
            assert isinstance(entry, Field)
            key, value = self._key(entry, scope), self.write(entry.value, scope, block, depth)
            text += f"{key.python}: {value.python},{self._mark(entry.at, block)}"
        return Code(text + "}", dict[str, Any])

    def _lets(self, node: MapNode, scope: Scope, block: Block) -> Scope:
        for word, expression in node.lets:
            if scope.is_constant(word):
                expression.at.fail(f"{word!r} is the name of a constant")
            code = self._code(expression, scope)
            name = Code(block.writer.fresh(f"{variable(word)}_"), code.type, code.depth, code.may_omit)
            if code.is_literal:  # a word that a part is given: no variable, no statement
                name.python = code.python
            else:
                python = traced_name(word, code.python, expression) if self.traced else code.python
                block.add(f"{name.python} = {python}{self._mark(expression.at, block)}")
            scope = scope.with_name(word, name)
        return scope

    def _guarded_map(self, node: MapNode, scope: Scope, block: Block, depth: int) -> Code:
        assert node.condition is not None
        name = block.writer.fresh("m")
        block.add(f"{name} = OMIT")
        block.add(f"if {self._condition(node.condition, scope)}:{self._mark(node.condition.at, block)}")
        block.indent += 1
        body = self._map(MapNode(node.entries, node.lets, None, node.path, node.at), scope, block, depth)
        block.add(f"{name} = {body.python}")
        block.indent -= 1
        return Code(name, dict[str, Any], may_omit=True)

    def _is_plain(self, node: MapNode, scope: Scope) -> bool:
        """Whether one dict display says it all: no merges, nothing that may be omitted."""
        return all(isinstance(entry, Field) and not self._may_omit(entry.value, scope) for entry in node.entries)

    def _may_omit(self, node: TemplateNode, scope: Scope) -> bool:
        if isinstance(node, MapNode):
            return node.condition is not None
        if isinstance(node, Text | Expression):
            try:
                return self._compile(node, scope).may_omit
            except ExpressionError:
                return False
        return False

    def _stepwise_map(self, node: MapNode, scope: Scope, block: Block, depth: int) -> Code:
        name = block.writer.fresh("m")
        block.add(f"{name} = {{}}")
        for entry in node.entries:
            if not isinstance(entry, Field):
                code = self._write(entry, scope, block, depth)
                block.add(f"merge({name}, {code.python}){self._mark(entry.at, block)}")
                continue
            key = self._key(entry, scope).python
            value = self.write(entry.value, scope, block, depth)
            if not value.may_omit:
                block.add(f"{name}[{key}] = {value.python}{self._mark(entry.at, block)}")
                continue
            block.add(f"x = {value.python}{self._mark(entry.at, block)}")
            block.add(f"if x is not OMIT: {name}[{key}] = x")
        return Code(name, dict[str, Any])

    def _key(self, entry: Field, scope: Scope) -> Code:
        if isinstance(entry.key, Literal):
            return Code(repr(entry.key.value))
        code = self._code(entry.key, scope)
        if code.may_omit:
            entry.at.fail("a key cannot be `omit`; guard its value")
        return code if code.type is str else Code(f"as_text({code.python})")

    def _list(self, node: ListNode, scope: Scope, block: Block, depth: int) -> Code:
        if all(not item.loop and not item.condition and not self._may_omit(item.value, scope) for item in node.items):
            text = "[\n"
            for item in node.items:
                text += f"{self.write(item.value, scope, block, depth).python},{self._mark(item.at, block)}"
            return Code(text + "]", list)
        name = block.writer.fresh("m")
        block.add(f"{name} = []")
        for item in node.items:
            self._item(item, name, scope, block, depth)
        return Code(name, list)

    def _item(self, item: Item, name: str, scope: Scope, block: Block, depth: int) -> None:
        indent = block.indent
        if item.loop:
            scope = self._loop(item, scope, block)
            depth = INNER
        if item.condition:
            block.add(f"if {self._condition(item.condition, scope)}:{self._mark(item.condition.at, block)}")
            block.indent += 1
        if item.spreads and isinstance(item.value, ListNode):
            for part in item.value.items:
                self._item(part, name, scope, block, depth)
            block.indent = indent
            return
        value = self.write(item.value, scope, block, depth)
        if value.may_omit:
            block.add(f"x = {value.python}{self._mark(item.at, block)}")
            block.add(f"if x is not OMIT: {name}.append(x)")
        else:
            block.add(f"{name}.append({value.python}){self._mark(item.at, block)}")
        block.indent = indent

    def _loop(self, item: Item, scope: Scope, block: Block) -> Scope:
        assert item.loop is not None
        word, expression = item.loop
        if word in scope.names:
            expression.at.fail(f"the loop's name {word!r} hides a name that is already in use")
        code = self._code(expression, scope)
        if code.may_omit or not types.is_loopable(code.type):
            expression.at.fail(f"cannot loop over `{expression.text}`: it is not a list")
        name = Code(block.writer.fresh(f"{variable(word)}_"), types.item_type(code.type), INNER)
        items = traced_items(word, code.python, expression) if self.traced else f"each({code.python})"
        block.add(f"for {name.python} in {items}:{self._mark(expression.at, block)}")
        block.indent += 1
        return scope.with_name(word, name)
