"""Shapes to Python: an expression that builds the value, after the statements that it needs.

Parts that are the same for every object become constants of the module; parts that use only outer loop variables are built once
for each value of those, when first needed. That is what lets thousands of objects share most of their manifests.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from grove_compiler.engine.codegen.module_codegen import ModuleWriter
from grove_compiler.engine.codegen.trace_codegen import traced_condition, traced_items, traced_name, traced_value
from grove_compiler.engine.expressions import types
from grove_compiler.engine.expressions.expression import ExpressionCompiler, named, variable
from grove_compiler.engine.expressions.expression_syntax import Code, ExpressionError
from grove_compiler.engine.expressions.scope import Name, Scope
from grove_compiler.engine.language.rule_file import RuleFile
from grove_compiler.engine.language.template_ast import Bare, Field, Item, ListShape, Literal, MapShape, Shape, Text, fixed_value, is_fixed
from grove_compiler.graph.field_path import FieldPath

INNER = 1000
"""The depth of a template's own loop variables: deeper than any loop of a rule."""


@dataclass(slots=True, eq=False)
class Block:
    """The statements of one rule under construction: lines at the current indentation, and what each loop level starts with."""

    writer: ModuleWriter
    lines: list[str] = field(default_factory=list)
    lazies: list[tuple[int, str]] = field(default_factory=list)
    indent: int = 0

    def add(self, line: str) -> None:
        """One statement at the current indentation."""
        self.lines.append(" " * self.indent + line)


class ShapeWriter:
    """Writes the shapes of one file, for a rule. `traced` keeps, with every scalar, the place that it comes from."""

    def __init__(self, compiler: ExpressionCompiler, source: RuleFile, traced: bool = False, rule: str = "") -> None:
        self.compiler = compiler
        self.source = source
        self.traced = traced
        self.rule = rule

    def write(self, shape: Shape, scope: Scope, block: Block, depth: int) -> Code:
        """The value of a shape where names up to `depth` are bound. Mistakes are reported and stand in as `None`."""
        if self.traced:
            return self._filled(self._write(shape, scope, block, INNER), shape)
        if isinstance(shape, MapShape | ListShape):
            if is_fixed(shape):
                return self._constant(shape, block)
            needed = self.depth(shape, scope)
            if needed < depth:
                return self._lazy(shape, scope, block, needed)
        elif isinstance(shape, Text | Bare):
            code = self._code(shape, scope)
            if code.depth < depth and code.calls:
                return self._lazy(shape, scope, block, code.depth)
        return self._write(shape, scope, block, depth)

    def depth(self, shape: Shape, scope: Scope) -> int:
        """The depth of the deepest name that the shape uses, apart from those that it binds itself."""
        if isinstance(shape, Text | Bare):
            return self._quiet_depth(shape, scope)
        if isinstance(shape, ListShape):
            return max((self._item_depth(item, scope) for item in shape.items), default=0)
        if isinstance(shape, MapShape):
            depths = [self._quiet_depth(shape.condition, scope)] if shape.condition else []
            for name, expression in shape.lets:
                depths.append(self._quiet_depth(expression, scope))
                scope = scope.with_name(name, named(name, Any, 0))
            for entry in shape.entries:
                parts = [entry] if isinstance(entry, Bare) else [entry.key, entry.value]
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

    def _quiet_depth(self, part: Text | Bare, scope: Scope) -> int:
        try:
            return self._compile(part, scope).depth
        except ExpressionError:
            return INNER  # reported when it is written

    def _compile(self, part: Text | Bare, scope: Scope) -> Code:
        if isinstance(part, Text):
            return self.compiler.text(part.text, scope)
        return self.compiler.expression(part.expression, scope)

    def _code(self, part: Text | Bare, scope: Scope) -> Code:
        try:
            return self._compile(part, scope)
        except ExpressionError as error:
            self.source.fail(part.path, str(error), error.suggestion)
            return Code("None")

    def _mark(self, path: FieldPath, block: Block) -> str:
        return block.writer.mark((self.source.file, self.source.line(path)))

    def _constant(self, shape: Shape, block: Block) -> Code:
        return Code(block.writer.constant(fixed_value(shape)), dict if isinstance(shape, MapShape) else list)

    def _lazy(self, shape: Shape, scope: Scope, block: Block, depth: int) -> Code:
        name = block.writer.fresh("h")
        block.lazies.append((depth, name))
        block.add(f"if {name} is None:")
        block.indent += 1
        code = self._write(shape, scope, block, depth)
        block.add(f"{name} = {code.python}{self._mark(shape.path, block)}")
        block.indent -= 1
        return Code(name, code.type, depth, code.may_omit)

    def _write(self, shape: Shape, scope: Scope, block: Block, depth: int) -> Code:
        if isinstance(shape, MapShape):
            return self._map(shape, scope, block, depth)
        if isinstance(shape, ListShape):
            return self._list(shape, scope, block, depth)
        code = Code(repr(shape.value), type(shape.value)) if isinstance(shape, Literal) else self._code(shape, scope)
        kind = types.without_none(code.type)
        if types.is_model(kind) and isinstance(shape, Text | Bare):
            self.source.fail(shape.path, f"a {kind.__name__} cannot stand in a manifest; name one of its attributes")
        return self._trace(code, shape) if self.traced else code

    def _trace(self, code: Code, shape: Literal | Text | Bare) -> Code:
        python = traced_value(code.python, shape, (self.source.file, self.source.line(shape.path)))
        return Code(python, code.type, code.depth, code.may_omit)

    def _filled(self, code: Code, shape: Shape) -> Code:
        """A map or a list that turns out to be empty has a place as scalars have."""
        if not isinstance(shape, MapShape | ListShape):
            return code
        place = (self.source.file, self.source.line(shape.path))
        return Code(f"filled({code.python}, {place!r})", code.type, code.depth, code.may_omit)

    def _condition(self, expression: Bare, scope: Scope) -> str:
        """An `$if`."""
        code = self._code(expression, scope)
        if not self.traced or self.source.broken:
            return code.python
        place = (self.source.file, self.source.line(expression.path))
        return traced_condition(self.compiler, expression.expression, scope, self.rule, place, expression.path[:-1])

    def _map(self, shape: MapShape, scope: Scope, block: Block, depth: int) -> Code:
        if shape.condition:
            return self._guarded_map(shape, scope, block, depth)
        scope = self._lets(shape, scope, block)
        if not self._is_plain(shape, scope):
            return self._stepwise_map(shape, scope, block, depth)
        text = "{\n"
        for entry in shape.entries:
            assert isinstance(entry, Field)
            key, value = self._key(entry, scope), self.write(entry.value, scope, block, depth)
            text += f"{key.python}: {value.python},{self._mark(entry.path, block)}"
        return Code(text + "}", dict[str, Any])

    def _lets(self, shape: MapShape, scope: Scope, block: Block) -> Scope:
        for word, expression in shape.lets:
            code = self._code(expression, scope)
            name = Name(block.writer.fresh(f"{variable(word)}_"), code.type, code.depth, code.may_omit)
            python = traced_name(word, code.python, expression) if self.traced else code.python
            block.add(f"{name.python} = {python}{self._mark(expression.path, block)}")
            scope = scope.with_name(word, name)
        return scope

    def _guarded_map(self, shape: MapShape, scope: Scope, block: Block, depth: int) -> Code:
        assert shape.condition is not None
        name = block.writer.fresh("m")
        block.add(f"{name} = OMIT")
        block.add(f"if {self._condition(shape.condition, scope)}:{self._mark(shape.condition.path, block)}")
        block.indent += 1
        body = self._map(MapShape(shape.entries, shape.lets, None, shape.path), scope, block, depth)
        block.add(f"{name} = {body.python}")
        block.indent -= 1
        return Code(name, dict[str, Any], may_omit=True)

    def _is_plain(self, shape: MapShape, scope: Scope) -> bool:
        """Whether one dict display says it all: no merges, nothing that may be omitted."""
        return all(isinstance(entry, Field) and not self._may_omit(entry.value, scope) for entry in shape.entries)

    def _may_omit(self, shape: Shape, scope: Scope) -> bool:
        if isinstance(shape, MapShape):
            return shape.condition is not None
        if isinstance(shape, Text | Bare):
            try:
                return self._compile(shape, scope).may_omit
            except ExpressionError:
                return False
        return False

    def _stepwise_map(self, shape: MapShape, scope: Scope, block: Block, depth: int) -> Code:
        name = block.writer.fresh("m")
        block.add(f"{name} = {{}}")
        for entry in shape.entries:
            if isinstance(entry, Bare):
                code = self._trace(self._code(entry, scope), entry) if self.traced else self._code(entry, scope)
                block.add(f"merge({name}, {code.python}){self._mark(entry.path, block)}")
                continue
            key = self._key(entry, scope).python
            value = self.write(entry.value, scope, block, depth)
            if not value.may_omit:
                block.add(f"{name}[{key}] = {value.python}{self._mark(entry.path, block)}")
                continue
            block.add(f"x = {value.python}{self._mark(entry.path, block)}")
            block.add(f"if x is not OMIT: {name}[{key}] = x")
        return Code(name, dict[str, Any])

    def _key(self, entry: Field, scope: Scope) -> Code:
        if isinstance(entry.key, Literal):
            return Code(repr(entry.key.value))
        code = self._code(entry.key, scope)
        if code.may_omit:
            self.source.fail(entry.path, "a key cannot be `omit`; guard its value")
        return code if code.type is str else Code(f"as_text({code.python})")

    def _list(self, shape: ListShape, scope: Scope, block: Block, depth: int) -> Code:
        if all(not item.loop and not item.condition and not self._may_omit(item.value, scope) for item in shape.items):
            text = "[\n"
            for item in shape.items:
                text += f"{self.write(item.value, scope, block, depth).python},{self._mark(item.path, block)}"
            return Code(text + "]", list)
        name = block.writer.fresh("m")
        block.add(f"{name} = []")
        for item in shape.items:
            self._item(item, name, scope, block, depth)
        return Code(name, list)

    def _item(self, item: Item, name: str, scope: Scope, block: Block, depth: int) -> None:
        indent = block.indent
        if item.loop:
            scope = self._loop(item, scope, block)
            depth = INNER
        if item.condition:
            block.add(f"if {self._condition(item.condition, scope)}:{self._mark(item.condition.path, block)}")
            block.indent += 1
        value = self.write(item.value, scope, block, depth)
        if value.may_omit:
            block.add(f"x = {value.python}{self._mark(item.path, block)}")
            block.add(f"if x is not OMIT: {name}.append(x)")
        else:
            block.add(f"{name}.append({value.python}){self._mark(item.path, block)}")
        block.indent = indent

    def _loop(self, item: Item, scope: Scope, block: Block) -> Scope:
        assert item.loop is not None
        word, expression = item.loop
        if word in scope.names:
            self.source.fail(expression.path, f"the loop's name {word!r} hides a name that is already in use")
        code = self._code(expression, scope)
        if code.may_omit or not types.is_loopable(code.type):
            self.source.fail(expression.path, f"cannot loop over `{expression.expression}`: it is not a list")
        name = Name(block.writer.fresh(f"{variable(word)}_"), types.item_type(code.type), INNER)
        items = traced_items(word, code.python, expression) if self.traced else f"each({code.python})"
        block.add(f"for {name.python} in {items}:{self._mark(expression.path, block)}")
        block.indent += 1
        return scope.with_name(word, name)
