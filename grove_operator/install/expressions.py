"""Renders the templates of an installation, whose expressions are Jinja2's and are evaluated to native values.

A text that is a single `{{ … }}` becomes the value of the expression, with text around it a string; a key with the value `omit` is left
out. A map with `$if` is left out unless the condition holds, a map with `$merge` gets the entries of another one, a list item with `$value`
becomes that value. It is the subset of the rules' template language that `tools/go_templates.py` can translate to Go templates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from jinja2 import Environment, StrictUndefined

WHOLE = re.compile(r"^\{\{ (.*) \}\}$", re.DOTALL)
"""A text that is a single expression."""
PART = re.compile(r"\{\{ (.*?) \}\}")
"""An expression within a text."""
OMIT = object()
_ENVIRONMENT = Environment(undefined=StrictUndefined, autoescape=False)


def render(node: Any, variables: Mapping[str, Any]) -> Any:
    """Returns a template with its expressions evaluated; `OMIT` if it is to be left out."""
    match node:
        case dict():
            return _map(node, variables)
        case list():
            # A list whose items are all left out is null, as in a Go template, which has written the key by then.
            return [value for item in node if (value := render(item, variables)) is not OMIT] or (None if node else [])
        case str():
            return _text(node, variables)
        case _:
            return node


def _map(node: dict[str, Any], variables: Mapping[str, Any]) -> Any:
    if "$if" in node and not _compiled(node["$if"])(**variables):
        return OMIT
    if "$value" in node:
        return render(node["$value"], variables)
    rendered: dict[str, Any] = {}
    for key, template in node.items():
        if key == "$merge":
            rendered |= _compiled(template)(**variables)
        elif key != "$if" and (value := render(template, variables)) is not OMIT:
            rendered[key] = value
    return rendered


def _text(text: str, variables: Mapping[str, Any]) -> Any:
    if (whole := WHOLE.match(text)) and "}}" not in whole[1]:
        return _compiled(whole[1])(**variables)
    return PART.sub(lambda part: str(_compiled(part[1])(**variables)), text)


@cache
def _compiled(expression: str) -> Callable[..., Any]:
    compiled = _ENVIRONMENT.compile_expression(expression, undefined_to_none=False)
    return lambda **variables: compiled(**variables, omit=OMIT)
