"""Patches to Python: the operations of RFC 6902, written into the rule whose objects they change."""

from __future__ import annotations

from typing import Any

from grove_compiler.engine.codegen.template_codegen import INNER, Block, ShapeWriter
from grove_compiler.engine.codegen.trace_codegen import traced_condition, traced_items, traced_name
from grove_compiler.engine.expressions import types
from grove_compiler.engine.expressions.expression import ExpressionCompiler, variable
from grove_compiler.engine.expressions.expression_syntax import Code, ExpressionError
from grove_compiler.engine.expressions.scope import Name, Scope
from grove_compiler.engine.language.rule import Rule
from grove_compiler.engine.language.template_ast import Bare, parse_shape
from grove_compiler.engine.runtime.patching import pointer
from grove_compiler.graph.field_path import FieldPath


class PatchWriter:
    """Writes one patch into the function of one rule. The object so far is in `o`."""

    def __init__(self, compiler: ExpressionCompiler, patch: Rule, traced: bool, counted: bool = False) -> None:
        self.compiler = compiler
        self.patch = patch
        self.traced = traced
        self.counted = counted
        self.shapes = ShapeWriter(compiler, patch.source, traced, patch.id)
        self.object = "seen(o)" if traced else "o"

    def write(self, rule: Rule, scope: Scope, block: Block, depth: int) -> None:
        """All operations, inside the patch's own loops and guards."""
        self.rule, self.block, self.depth = rule, block, depth
        indent = block.indent
        scope = scope.with_name("object", Name(self.object, dict[str, Any], INNER))
        for word, text in self.patch.named("let").items():
            scope = self._let(word, Bare(text, ("let", word)), scope)
        scope = self._loops(self.patch.keys, (), scope)
        inside = block.indent
        if self.traced:
            block.add(f"said_by({self.patch.id!r})")
        for number, operation in enumerate(self.patch.keys["do"]):
            block.indent = inside
            self._operation(operation, ("do", number), scope)
        block.indent = indent
        if self.traced:
            block.add(f"said_by({rule.id!r})")

    def _let(self, word: str, expression: Bare, scope: Scope) -> Scope:
        code = self._code(expression, scope, may_omit=True)
        name = Name(self.block.writer.fresh(f"{variable(word)}_"), code.type, code.depth, code.may_omit)
        python = traced_name(word, code.python, expression) if self.traced else code.python
        self.block.add(f"{name.python} = {python}{self._mark(expression.path)}")
        return scope.with_name(word, name)

    def _loops(self, keys: dict[str, Any], path: FieldPath, scope: Scope) -> Scope:
        """The `forEach` and `when` of the patch or of one operation."""
        for word, text in keys.get("forEach", {}).items():
            expression = Bare(str(text), (*path, "forEach", word))
            code = self._code(expression, scope)
            name = Name(self.block.writer.fresh(f"{variable(word)}_"), types.item_type(code.type), INNER)
            items = traced_items(word, code.python, expression) if self.traced else f"each({code.python})"
            self.block.add(f"for {name.python} in {items}:{self._mark(expression.path)}")
            self.block.indent += 1
            scope = scope.with_name(word, name)
        conditions = keys.get("when", [])
        for text in conditions if isinstance(conditions, list) else [conditions]:
            expression = Bare(str(text), (*path, "when"))
            self.block.add(f"if {self._condition(expression, scope)}:{self._mark(expression.path)}")
            self.block.indent += 1
        return scope

    def _operation(self, operation: dict[str, Any], path: FieldPath, scope: Scope) -> None:
        scope = self._loops(operation, path, scope)
        if self.counted:
            self.block.add(f"touched({self.patch.id!r})")
        where = self._path(operation["path"], (*path, "path"), scope)
        if operation["op"] == "remove":
            self.block.add(f"o = {self._call('remove', path)}o, {where},{self._mark((*path, 'path'))})")
            return
        if "value" not in operation:
            self.patch.source.fail(path, f"`{operation['op']}` needs a `value`")
            return
        value = self.shapes.write(parse_shape(operation["value"], (*path, "value"), self.patch.source.fail), scope, self.block, self.depth)
        arguments = f"o, {where},{self._mark((*path, 'path'))}{value.python},{self._mark((*path, 'value'))}"
        self.block.add(f"o = {self._call(operation['op'], path)}{arguments})")

    def _call(self, word: str, path: FieldPath) -> str:
        """The operation's function, up to its first argument."""
        place = (self.patch.source.file, self.patch.source.line(path))
        function = f"change({word!r}, {place!r}," if self.traced else f"patch_{word}("
        return f"{function}{self._mark(path)}"

    def _condition(self, expression: Bare, scope: Scope) -> str:
        code = self._code(expression, scope)
        if not self.traced or self.patch.source.broken:
            return code.python
        place = (self.patch.source.file, self.patch.source.line(expression.path))
        return traced_condition(self.compiler, expression.expression, scope, self.patch.id, place)

    def _path(self, text: Any, path: FieldPath, scope: Scope) -> str:
        if not isinstance(text, str) or not text.startswith(("/", "{{")):
            self.patch.source.fail(path, "`path` is a JSON pointer and begins with `/`, as in `/metadata/labels/team`")
            return "()"
        if "{{" not in text:
            return repr(pointer(text))
        try:
            code = self.compiler.text(text, scope)
            if code.may_omit:
                raise ExpressionError("`omit` cannot be a path")
        except ExpressionError as error:
            self.patch.source.fail(path, str(error), error.suggestion)
            return "()"
        return f"pointer({code.python})"

    def _code(self, expression: Bare, scope: Scope, may_omit: bool = False) -> Code:
        try:
            translate = self.compiler.expression if may_omit else self.compiler.value
            return translate(expression.expression, scope)
        except ExpressionError as error:
            message = f"{error} (in objects of the rule {self.rule.id!r})"
            self.patch.source.fail(expression.path, message, error.suggestion)
            return Code("None")

    def _mark(self, path: FieldPath) -> str:
        return self.block.writer.mark((self.patch.source.file, self.patch.source.line(path)))
