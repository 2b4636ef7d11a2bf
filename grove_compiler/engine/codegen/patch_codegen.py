"""Patches to Python: the operations of RFC 6902, written into the rule whose objects they change."""

from __future__ import annotations

from typing import Any

from grove_compiler.engine.codegen.rule_function import RuleFunction, Surroundings
from grove_compiler.engine.codegen.template_codegen import INNER, TemplateCodegen
from grove_compiler.engine.codegen.trace_codegen import traced_condition, traced_items, traced_name
from grove_compiler.engine.expressions import types
from grove_compiler.engine.expressions.expression_syntax import ExpressionError
from grove_compiler.engine.expressions.scope import Code, Scope, variable
from grove_compiler.engine.language.place import Place
from grove_compiler.engine.language.rule import Rule, as_expression
from grove_compiler.engine.language.template_ast import Expression
from grove_compiler.engine.runtime.patching import pointer


class PatchCodegen:
    """Writes one patch into the function of one rule. The object so far is in `o`."""

    def __init__(self, around: Surroundings, patch: Rule, counted: bool = False) -> None:
        self.compiler = around.compilers[patch.source.metered]
        self.resolver = around.resolver
        self.patch = patch
        self.traced = around.traced
        self.counted = counted
        self.templates = TemplateCodegen(around.compilers, around.traced, patch.id)

    def write(self, function: RuleFunction) -> None:
        """All operations, inside the patch's own loops and guards."""
        self.rule, self.block, self.depth = function.rule, function.block, function.depth
        block, indent = function.block, function.block.indent
        scope = function.scope.with_name("object", Code("tracked_result(o)" if self.traced else "o", dict[str, Any], INNER))
        for word, text in self.patch.named("let").items():
            scope = self._let(word, Expression(text, ("let", word), self.patch.at("let", word)), scope)
        scope = self._loops(self.patch.keys, self.patch.at(), scope)
        inside = block.indent
        for number, operation in enumerate(self.patch.keys["do"]):
            block.indent = inside
            self._operation(operation, self.patch.at("do", number), scope)
        block.indent = indent

    def _let(self, word: str, expression: Expression, scope: Scope) -> Scope:
        if scope.is_constant(word):
            expression.at.fail(f"{word!r} is the name of a constant")
        code = self._code(expression, scope, may_omit=True)
        name = Code(self.block.writer.fresh(f"{variable(word)}_"), code.type, code.depth, code.may_omit)
        python = traced_name(word, code.python, expression) if self.traced else code.python
        self.block.add(f"{name.python} = {python}{self._mark(expression.at)}")
        return scope.with_name(word, name)

    def _loops(self, keys: dict[str, Any], at: Place, scope: Scope) -> Scope:
        """The `forEach` and `when` of the patch or of one operation."""
        for word, text in keys.get("forEach", {}).items():
            expression = self._expression(text, at.below("forEach", word))
            if scope.is_constant(word):
                expression.at.fail(f"{word!r} is the name of a constant")
            code = self._code(expression, scope)
            name = Code(self.block.writer.fresh(f"{variable(word)}_"), types.item_type(code.type), INNER)
            items = traced_items(word, code.python, expression) if self.traced else f"each({code.python})"
            self.block.add(f"for {name.python} in {items}:{self._mark(expression.at)}")
            self.block.indent += 1
            scope = scope.with_name(word, name)
        conditions = keys.get("when", [])
        for text in conditions if isinstance(conditions, list) else [conditions]:
            expression = self._expression(text, at.below("when"))
            self.block.add(f"if {self._condition(expression, scope)}:{self._mark(expression.at)}")
            self.block.indent += 1
        return scope

    def _operation(self, operation: dict[str, Any], at: Place, scope: Scope) -> None:
        scope = self._loops(operation, at, scope)
        if self.counted:
            self.block.add(f"touched({self.patch.id!r})")
        where = self._path(operation["path"], at.below("path"), scope)
        if operation["op"] == "remove":
            self.block.add(f"o = {self._call('remove', at)}o, {where},{self._mark(at.below('path'))})")
            return
        if "value" not in operation:
            at.fail(f"`{operation['op']}` needs a `value`")
            return
        node = self.resolver.parse(operation["value"], at.below("value"))
        value = self.templates.write(node, scope, self.block, self.depth)
        arguments = f"o, {where},{self._mark(at.below('path'))}{value.python},{self._mark(at.below('value'))}"
        self.block.add(f"o = {self._call(operation['op'], at)}{arguments})")

    def _call(self, word: str, at: Place) -> str:
        """The operation's function, up to its first argument."""
        function = f"change({word!r}, {self.patch.id!r}, {at.position!r}," if self.traced else f"patch_{word}("
        return f"{function}{self._mark(at)}"

    def _condition(self, expression: Expression, scope: Scope) -> str:
        code = self._code(expression, scope)
        if not self.traced or self.patch.source.broken:
            return code.python
        return traced_condition(self.compiler, expression, scope, self.patch.id)

    def _path(self, text: Any, at: Place, scope: Scope) -> str:
        if not isinstance(text, str) or not text.startswith(("/", "{{")):
            at.fail("`path` is a JSON pointer and begins with `/`, as in `/metadata/labels/team`")
            return "()"
        if "{{" not in text:
            return repr(pointer(text))
        try:
            code = self.compiler.text(text, scope)
            if code.may_omit:
                raise ExpressionError("`omit` cannot be a path")
        except ExpressionError as error:
            at.fail(str(error), error.suggestion)
            return "()"
        return f"pointer({code.python})"

    def _expression(self, text: Any, at: Place) -> Expression:
        return Expression(as_expression(text), at.path, at)

    def _code(self, expression: Expression, scope: Scope, may_omit: bool = False) -> Code:
        try:
            translate = self.compiler.expression if may_omit else self.compiler.value
            return translate(expression.text, scope)
        except ExpressionError as error:
            expression.at.fail(f"{error} (in objects of the rule {self.rule.id!r})", error.suggestion)
            return Code("None")

    def _mark(self, at: Place) -> str:
        return self.block.writer.mark(at.position)
