"""Generates the calls that only traced rules make: they record values, names and conditions, and what each of them read."""

from __future__ import annotations

import re

from jinja2 import nodes

from grove_compiler.engine.expressions.expression import ExpressionCompiler
from grove_compiler.engine.expressions.expression_syntax import ExpressionError, names_in, parse_expression, parse_text
from grove_compiler.engine.expressions.scope import Scope
from grove_compiler.engine.language.template_ast import Expression, Literal, Text
from grove_compiler.graph.field_path import FieldPath


def traced_value(python: str, node: Literal | Text | Expression, scope: Scope, rule: str, shape: str = "None") -> str:
    """Returns a call that records a scalar, or the map of a `$merge`, with its rule, place, source text and path in the document.

    `shape` is that of the container that it stands in, where it may be left out.
    What is written with names of constants alone is as constant as what is written out.
    """
    used = _names(node)
    names = tuple(word for word in used if word not in scope.names or scope.names[word].varies)
    source = "" if isinstance(node, Literal) or (used and not names) else node.text
    if isinstance(node, Expression) and node.label:
        source = node.label
    return f"trace(lambda: {python}, {rule!r}, {node.at.position!r}, {source!r}, {names!r}, {node.path!r}, {shape})"


def traced_name(word: str, python: str, expression: Expression) -> str:
    """Returns a call that records the value that a `let` binds."""
    return f"bind({word!r}, lambda: {python}, {_names(expression)!r})"


def traced_items(word: str, python: str, expression: Expression, shape: str) -> str:
    """Returns a call that records what a loop runs over, which decides how many results it makes."""
    return f"repeat({word!r}, lambda: {python}, {_names(expression)!r}, {shape})"


def traced_step(python: str, node: Text, shape: str) -> str:
    """Returns a call that records a computed key or path, which decides where a value stands."""
    return f"step(lambda: {python}, {_names(node)!r}, {shape})"


def traced_condition(compiler: ExpressionCompiler, condition: Expression, scope: Scope, rule: str, shape: str, path: FieldPath = ()) -> str:
    """Returns a call that records each part of a condition, up to the first that does not hold.

    The condition as a whole was compiled without mistakes before.
    """
    parts = ""
    for part in conjunction(condition.text):
        code = compiler.value(part, scope).python
        parts += f"({part!r}, lambda: {code}, lambda: {_subject(compiler, part, scope)}, {tuple(sorted(names_in(part)))!r}), "
    return f"holds({rule!r}, {condition.at.position!r}, ({parts}), {path!r}, {shape})"


def conjunction(text: str) -> list[str]:
    """Returns the parts of `a and b and c`; an expression that is no conjunction is its only part.

    Jinja2's syntax tree does not tell where a part begins, so each `and` is tried: one inside of brackets or quotes leaves nothing
    that can be parsed on its left. Whatever binds less than `and` would have made the whole something else than a conjunction.
    """
    if isinstance(parse_expression(text), nodes.And):
        for word in re.finditer(r"\band\b", text):
            left, right = text[: word.start()], text[word.end() :]
            if _is_expression(left) and _is_expression(right):
                return [left.strip(), *conjunction(right)]
    return [text.strip()]


def _is_expression(text: str) -> bool:
    try:
        parse_expression(text)
    except ExpressionError:
        return False
    return True


def _subject(compiler: ExpressionCompiler, text: str, scope: Scope) -> str:
    """Returns the Python of a condition's subject, whose value explains it: the left operand, or the operand of `not` or of a test."""
    node = parse_expression(text)
    if isinstance(node, nodes.Compare):
        node = node.expr
    elif isinstance(node, nodes.Not | nodes.Test):
        node = node.node
    try:
        return compiler.compile(node, scope).python
    except ExpressionError:
        return "None"


def _names(node: Literal | Text | Expression) -> tuple[str, ...]:
    """Returns the names that a value's expressions use, sorted."""
    try:
        if isinstance(node, Expression):
            return tuple(sorted(names_in(node.text)))
        if isinstance(node, Text):
            parts = parse_text(node.text)
            inner = {node.name for part in parts for node in part.find_all(nodes.Name)}
            return tuple(sorted(inner | {part.name for part in parts if isinstance(part, nodes.Name)}))
    except ExpressionError:
        pass  # reported when it is written
    return ()
