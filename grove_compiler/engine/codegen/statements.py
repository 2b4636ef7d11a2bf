"""Generates the statements that rules, templates and patches have in common: `let` bindings, loops and guards."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from grove_compiler.engine.codegen.function_codegen import FunctionCodegen
from grove_compiler.engine.codegen.trace_codegen import traced_condition, traced_items, traced_name
from grove_compiler.engine.expressions import types
from grove_compiler.engine.expressions.expression import ExpressionCompiler
from grove_compiler.engine.expressions.expression_syntax import ExpressionError
from grove_compiler.engine.expressions.scope import Code, Scope, variable
from grove_compiler.engine.language.place import SourceLocation
from grove_compiler.engine.language.template_ast import Expression, Text
from grove_compiler.graph.field_path import FieldPath
from grove_compiler.record import record

INNER = 1000
"""The depth of the names that a template or a patch binds itself: deeper than any loop of a rule."""


@record
class Block:
    """Collects the statements of one rule: lines at the current indentation, and the lazy parts that each loop level declares.

    `shape` is the variable that, in traced code, records what decides over the container being written; `None` is the whole object.
    """

    writer: FunctionCodegen
    lines: list[str] = field(default_factory=list)
    lazies: list[tuple[int, str]] = field(default_factory=list)
    indent: int = 0
    shape: str = "None"

    def add(self, line: str, at: SourceLocation | None = None) -> None:
        """Appends one statement at the current indentation, tied to the place that it comes from."""
        self.lines.append(" " * self.indent + line + (self.mark(at) if at is not None else ""))

    def begin_shape(self, kind: type) -> str:
        """Begins the shape of a container or a patch; returns the outer shape, which the caller restores."""
        outer, self.shape = self.shape, self.writer.fresh("s")
        self.add(f"{self.shape} = Shape({outer}, {kind.__name__})")
        return outer

    def mark(self, at: SourceLocation) -> str:
        """Returns the comment that ties a line to its place, followed by a line break."""
        return self.writer.mark(at.written)


Compilers = dict[bool, ExpressionCompiler]
"""Two expression compilers, by whether they are metered, which depends on the file of an expression."""


class StatementCodegen:
    """Generates the expressions of a rule or a patch; when `traced`, they record what explanations need.

    Errors are reported at their position, with `about` after the message, and replaced by `None`.
    """

    def __init__(self, compilers: Compilers, traced: bool = False, rule: str = "", about: str = "") -> None:
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

    def let(self, word: str, expression: Expression, scope: Scope, block: Block) -> Scope:
        """Writes the binding of a name by a template or a patch; returns the scope with it."""
        self.refuse_constant(word, expression, scope)
        code = self.code(expression, scope)
        name = Code(block.writer.fresh(f"{variable(word)}_"), code.type, code.depth, code.may_omit)
        if code.is_literal:  # a word that a part is given: no variable, no statement
            name.python = code.python
        else:
            block.add(f"{name.python} = {self.named(word, code.python, expression)}", expression.at)
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

    def loop(self, word: str, expression: Expression, scope: Scope, block: Block) -> Scope:
        """Opens a loop inside of a template or a patch; what is written next is its body. Returns the scope inside."""
        python, kind = self.items(word, expression, scope, block.shape)
        name = Code(block.writer.fresh(f"{variable(word)}_"), kind, INNER)
        block.add(f"for {name.python} in {python}:", expression.at)
        block.indent += 1
        return scope.with_name(word, name)

    def condition(self, expression: Expression, scope: Scope, path: FieldPath = (), shape: str = "None") -> str:
        """Returns the Python of a `when` or an `$if`; the latter guards the part of the document at `path`."""
        code = self.code(expression, scope, may_omit=False)
        if not self.traced or expression.at.broken:
            return code.python
        return traced_condition(self.compilers[expression.at.file.metered], expression, scope, self.rule, shape, path)

    def guard(self, expression: Expression, scope: Scope, block: Block, path: FieldPath = ()) -> None:
        """Opens an `if`; what is written next at the deeper indentation is guarded by it."""
        block.add(f"if {self.condition(expression, scope, path, block.shape)}:", expression.at)
        block.indent += 1
