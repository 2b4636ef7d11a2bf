"""The syntax of expressions, which is Jinja2's: parsing, and what a compiled expression is known by."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment, TemplateSyntaxError, nodes
from jinja2.parser import Parser

# `{# #}` and `{% %}` have no meaning in a rule, so that text which holds them stays as it is written.
_ENVIRONMENT = Environment(
    keep_trailing_newline=True,
    block_start_string="{%\0",
    block_end_string="\0%}",
    comment_start_string="{#\0",
    comment_end_string="\0#}",
)


class ExpressionError(Exception):
    """An expression that is wrong as written. The loader adds file and line."""

    def __init__(self, message: str, suggestion: str = "") -> None:
        self.suggestion = suggestion
        super().__init__(message)


@dataclass(slots=True, eq=False)
class Code:
    """A compiled expression: Python source, the inferred type, the depth of the deepest name in it, and whether it may be `omit`."""

    python: str
    type: Any = Any
    depth: int = 0
    may_omit: bool = False

    @property
    def calls(self) -> bool:
        """Whether evaluating it does real work, so that it is worth doing once."""
        return "(" in self.python


@cache
def parse_expression(text: str) -> nodes.Expr:
    """A bare expression. Raises `ExpressionError`."""
    if "}}" in text.replace("}}}}", "") and text.strip().startswith("{{"):
        raise ExpressionError("this key takes a bare expression; leave out the braces {{ }}")
    try:
        parser = Parser(_ENVIRONMENT, text, state="variable")
        expression = parser.parse_expression()
        if not parser.stream.eos:
            raise ExpressionError(f"unexpected {parser.stream.current.value!r} after the expression")
    except TemplateSyntaxError as error:
        raise ExpressionError(f"not an expression: {error.message}") from None
    except RecursionError:
        raise ExpressionError("the expression is nested too deeply") from None
    return expression


@cache
def parse_text(text: str) -> list[nodes.Expr]:
    """Text with `{{ }}` in it, as its parts in order; literal parts are `TemplateData`. Raises `ExpressionError`."""
    try:
        body = _ENVIRONMENT.parse(text).body
    except TemplateSyntaxError as error:
        raise ExpressionError(f"not an expression: {error.message}") from None
    except RecursionError:
        raise ExpressionError("the expression is nested too deeply") from None
    return [part for output in body for part in getattr(output, "nodes", ())]
