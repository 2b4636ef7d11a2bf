"""Code that is written only into traced rules: values, names and conditions that tell what they are and what they read."""

from __future__ import annotations

import re

from jinja2 import nodes

from grove_compiler.engine.expressions.expression import ExpressionCompiler
from grove_compiler.engine.expressions.expression_syntax import ExpressionError, names_in, parse_expression, parse_text
from grove_compiler.engine.expressions.scope import Scope
from grove_compiler.engine.language.template_ast import Expression, Literal, Text
from grove_compiler.graph.field_path import FieldPath


def traced_value(python: str, node: Literal | Text | Expression, scope: Scope, rule: str, shape: str = "None") -> str:
    """A scalar, or what a `$merge` brings in, with its rule and place, what is written there, and where that is in the document.

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
    """What a `let` binds."""
    return f"bind({word!r}, lambda: {python}, {_names(expression)!r})"


def traced_items(word: str, python: str, expression: Expression, shape: str) -> str:
    """What a loop runs over, which decides how many there are of what it makes."""
    return f"repeat({word!r}, lambda: {python}, {_names(expression)!r}, {shape})"


def traced_step(python: str, node: Text, shape: str) -> str:
    """A key or a path, which decides where something stands."""
    return f"step(lambda: {python}, {_names(node)!r}, {shape})"


def traced_condition(compiler: ExpressionCompiler, condition: Expression, scope: Scope, rule: str, shape: str, path: FieldPath = ()) -> str:
    """A condition that reports each of its parts up to the first that does not hold. The whole has been compiled without mistakes."""
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
    """What a condition is about: the left side of a comparison, what `not` or a test is said of."""
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
    """The names that a value's expressions use."""
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
