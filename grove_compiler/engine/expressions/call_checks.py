"""Checks the arguments of calls, filters and tests against the signature of what is called."""

from __future__ import annotations

import keyword as python_keywords
from collections.abc import Callable, Sequence
from typing import Any, cast

from jinja2 import nodes

from grove_compiler.engine.expressions.expression_syntax import ExpressionError
from grove_compiler.engine.expressions.model_types import Words, signature_in_rules
from grove_compiler.engine.runtime.access import EvaluationError

KEYED_FILTERS = {"sort", "unique", "repeats", "sum", "min", "max"}
"""Filters that may look at an attribute of each item instead of at the item."""


def keywords(node: nodes.Filter | nodes.Test) -> list[nodes.Keyword]:
    """Returns the named arguments. Jinja2 annotates them as `Pair`, but its parser makes `Keyword` nodes, hence the cast."""
    return cast(list[nodes.Keyword], node.kwargs)


def check_call(name: str, function: Callable[..., Any], positional: int, named: Sequence[nodes.Keyword], parameter_words: Words) -> None:
    """Raises `ExpressionError` when the arguments do not fit the function."""
    words = [argument.key for argument in named]
    for word in words:
        if words.count(word) > 1 or python_keywords.iskeyword(word):
            raise ExpressionError(f"{name}: {word!r} cannot be given" + (" twice" if words.count(word) > 1 else ""))
    try:
        signature = signature_in_rules(function, parameter_words)
    except ValueError:  # some of Python's own functions do not say what they take
        return
    try:
        signature.bind(*[None] * positional, **dict.fromkeys(words))
    except TypeError as error:
        raise ExpressionError(f"{name}({', '.join(signature.parameters)}): {error}") from None


def check_attribute_only(node: nodes.Filter, *allowed: nodes.Expr) -> None:
    """Raises `ExpressionError` when a filter is given anything besides `attribute='…'` and what is allowed."""
    if len(node.args) > len(allowed) or any(argument.key != "attribute" for argument in keywords(node)) or len(node.kwargs) > 1:
        raise ExpressionError(f"{node.name!r} takes only `attribute='…'`")


def check_pattern(node: nodes.Expr, matches: Callable[[Any, str], bool]) -> None:
    """Raises `ExpressionError` for a literal pattern that is invalid, by the function that will match with it (`re` or RE2)."""
    if isinstance(node, nodes.Const) and isinstance(node.value, str):
        try:
            matches("", node.value)
        except (EvaluationError, OverflowError, RecursionError, UnicodeEncodeError) as error:
            message = str(error) if isinstance(error, EvaluationError) else f"{node.value!r} is not a regular expression: {error}"
            raise ExpressionError(message) from None


def constant(node: nodes.Expr, what: str) -> str:
    """Returns the text of a string literal. Raises `ExpressionError` for anything else: it has to be known when rules are loaded."""
    if isinstance(node, nodes.Const) and isinstance(node.value, str):
        return node.value
    raise ExpressionError(f"{what} must be written out as text")
