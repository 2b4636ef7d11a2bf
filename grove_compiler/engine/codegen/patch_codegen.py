"""Generates Python for patches: the operations of RFC 6902, written into the function of the rule whose objects they change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from grove_compiler.engine.codegen.rule_function import RuleFunction, Surroundings
from grove_compiler.engine.codegen.template_codegen import INNER, TemplateCodegen
from grove_compiler.engine.codegen.trace_codegen import traced_step
from grove_compiler.engine.expressions.expression_syntax import ExpressionError
from grove_compiler.engine.expressions.scope import Code, Scope
from grove_compiler.engine.language.place import SourceLocation
from grove_compiler.engine.language.rule import Rule, as_expression
from grove_compiler.engine.language.template_ast import Expression, Text
from grove_compiler.engine.runtime.cost_budget import STEPS_OF_AN_OPERATION
from grove_compiler.engine.runtime.patching import pointer


class PatchCodegen:
    """Generates one patch inside the function of one rule. The variable `o` of that function holds the object so far."""

    def __init__(self, around: Surroundings, patch: Rule, counted: bool = False) -> None:
        self.compiler = around.compilers[patch.source.metered]
        self.resolver = around.resolver
        self.patch = patch
        self.counted = counted

    def write(self, function: RuleFunction) -> None:
        """Writes all operations, inside the patch's own loops and guards."""
        around = function.around
        # A patch is written once for each rule that it changes, and may be wrong in one of them alone: so mistakes name the rule.
        about = f" (in objects of the rule {function.rule.id!r})"
        self.templates = TemplateCodegen(function.block, around.compilers, around.traced, self.patch.id, about)
        self.block, self.depth = function.block, function.depth
        block, indent = function.block, function.block.indent
        scope = function.scope.with_name("object", Code("tracked_result(o)" if around.traced else "o", dict[str, Any], INNER))
        for word, text in self.patch.named("let").items():
            scope = self.templates.let(word, Expression(text, ("let", word), self.patch.at("let", word)), scope)
        for condition in self.patch.shared_conditions:
            self.templates.guard(condition, scope)
        with self._shape([operation["path"] for operation in self.patch.keys["do"]]):
            scope = self._loops(self.patch.keys, self.patch.at(), scope)
            inside = block.indent
            for number, operation in enumerate(self.patch.keys["do"]):
                block.indent = inside
                with self._shape([operation["path"]]):
                    self._operation(operation, self.patch.at("do", number), scope)
            block.indent = indent
        if self.patch.source.metered and not around.traced:
            block.add("o = identified(o)", self.patch.at("patch"))

    @contextmanager
    def _shape(self, paths: list[Any]) -> Iterator[None]:
        """Ties the fields that a patch or one operation may change to what decides whether it does.

        Only paths that are written out count: one with expressions in it is known only when the patch applies.
        """
        if not self.templates.traced:
            yield
            return
        indent, outer = self.block.indent, self.block.begin_shape(dict)
        yield
        known = [pointer(path) for path in paths if isinstance(path, str) and path.startswith("/") and "{{" not in path]
        self.block.lines.append(" " * indent + f"settle(o, {self.block.shape}, {known!r})")
        self.block.shape = outer

    def _loops(self, keys: dict[str, Any], at: SourceLocation, scope: Scope) -> Scope:
        """Writes the `forEach` and `when` of the patch or of one operation; returns the scope inside."""
        for word, text in keys.get("forEach", {}).items():
            expression = self._expression(text, at.below("forEach", word))
            self.templates.refuse_constant(word, expression, scope)
            scope = self.templates.loop(word, expression, scope)
        conditions = keys.get("when", [])
        for text in conditions if isinstance(conditions, list) else [conditions]:
            self.templates.guard(self._expression(text, at.below("when")), scope)
        return scope

    def _operation(self, operation: dict[str, Any], at: SourceLocation, scope: Scope) -> None:
        scope = self._loops(operation, at, scope)
        if self.patch.source.metered:
            self.block.add(f"spend({STEPS_OF_AN_OPERATION})", at)
        where = self._path(operation["path"], at.below("path"), scope)
        if operation["op"] == "remove":
            self._add(f"{self._call('remove', at)}o, {where},{self.block.mark(at.below('path'))})")
            return
        if "value" not in operation:
            at.fail(f"`{operation['op']}` needs a `value`")
            return
        node = self.resolver.parse(operation["value"], at.below("value"))
        value = self.templates.write(node, scope, self.depth)
        arguments = f"o, {where},{self.block.mark(at.below('path'))}{value.python},{self.block.mark(at.below('value'))}"
        self._add(f"{self._call(operation['op'], at)}{arguments})")

    def _add(self, change: str) -> None:
        """Writes the statement of an operation; in counted code it also records whether the object changed."""
        self.block.add(f"o = patched({self.patch.id!r}, o, {change})" if self.counted else f"o = {change}")

    def _call(self, word: str, at: SourceLocation) -> str:
        """Returns the call of an operation's function, up to its first argument."""
        traced = f"change({word!r}, {self.patch.id!r}, {at.position!r}, {self.block.shape},"
        return f"{traced if self.templates.traced else f'patch_{word}('}{self.block.mark(at)}"

    def _path(self, text: Any, at: SourceLocation, scope: Scope) -> str:
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
        python = f"pointer({code.python})"
        return traced_step(python, Text(text, at.path, at), self.block.shape) if self.templates.traced else python

    def _expression(self, text: Any, at: SourceLocation) -> Expression:
        return Expression(as_expression(text), at.path, at)
