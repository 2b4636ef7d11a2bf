"""Parses expressions with Jinja2's own parser, and lists the names that they use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from jinja2 import Environment, TemplateSyntaxError, nodes
from jinja2.parser import Parser

# `{# #}` and `{% %}` have no meaning in a rule, so that text which holds them stays as it is written.
_ENVIRONMENT = Environment(
    keep_trailing_newline=True, block_start_string="{%\0", block_end_string="\0%}", comment_start_string="{#\0", comment_end_string="\0#}"
)


class ExpressionError(Exception):
    """Reports an expression that is wrong as written. The loader adds file and line."""

    def __init__(self, message: str, suggestion: str = "") -> None:
        self.suggestion = suggestion
        super().__init__(message)


@cache
def parse_expression(text: str) -> nodes.Expr:
    """Parses a bare expression into Jinja2's syntax tree. Raises `ExpressionError`."""
    if "}}" in text.replace("}}}}", "") and text.strip().startswith("{{"):
        raise ExpressionError("this key takes a bare expression; omit the braces {{ }}")
    with _mistakes():
        parser = Parser(_ENVIRONMENT, text, state="variable")
        expression = parser.parse_expression()
        if not parser.stream.eos:
            raise ExpressionError(f"unexpected {parser.stream.current.value!r} after the expression")
    return expression


@cache
def parse_text(text: str) -> list[nodes.Expr]:
    """Parses text with `{{ }}` into its parts, in order; literal parts are `TemplateData`. Raises `ExpressionError`."""
    with _mistakes():
        body = _ENVIRONMENT.parse(text).body
    if not all(isinstance(part, nodes.Output) for part in body):
        raise ExpressionError("text holds expressions in {{ }} and nothing else of Jinja2")
    return [part for output in body if isinstance(output, nodes.Output) for part in output.nodes]


@cache
def names_in(text: str) -> frozenset[str]:
    """Returns the names that a bare expression uses, including those of functions. Raises `ExpressionError`."""
    root = parse_expression(text)
    with _mistakes():
        names = {node.name for node in root.find_all(nodes.Name)}
    return frozenset(names | {root.name} if isinstance(root, nodes.Name) else names)


@contextmanager
def _mistakes() -> Iterator[None]:
    """Turns what Jinja2 and Python raise for a malformed expression into `ExpressionError`."""
    try:
        yield
    except TemplateSyntaxError as error:
        raise ExpressionError(f"not an expression: {error.message}") from None
    except ValueError as error:  # Python rejects numbers of thousands of digits
        raise ExpressionError(f"not an expression: {error}") from None
    except (RecursionError, MemoryError):
        raise ExpressionError("the expression is nested too deeply") from None
