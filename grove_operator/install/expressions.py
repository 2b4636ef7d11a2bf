"""The expressions in templates of an installation: Jinja2's, evaluated to native values.

A text that is one whole `{{ … }}` gives a value, text around it a string; a key whose value is `omit` is left out. A map with `$if` is
there if that holds, a map with `$merge` takes more keys, a list item with `$value` is that value. It is as in rules' templates, and no
more than `tools/go_templates.py` can write as a Go template.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from jinja2 import Environment, StrictUndefined

WHOLE = re.compile(r"^\{\{ (.*) \}\}$", re.DOTALL)
PART = re.compile(r"\{\{ (.*?) \}\}")
OMIT = object()
_ENVIRONMENT = Environment(undefined=StrictUndefined, autoescape=False)


def render(node: Any, names: Mapping[str, Any]) -> Any:
    """Returns a template with its expressions evaluated; `OMIT` where it is not to be there."""
    match node:
        case dict():
            return _map(node, names)
        case list():
            # None of several items is null, as it is in a Go template, which has written the key by then.
            return [one for item in node if (one := render(item, names)) is not OMIT] or (None if node else [])
        case str():
            return _text(node, names)
        case _:
            return node


def _map(node: dict[str, Any], names: Mapping[str, Any]) -> Any:
    if "$if" in node and not _compiled(node["$if"])(**names):
        return OMIT
    if "$value" in node:
        return render(node["$value"], names)
    made: dict[str, Any] = {}
    for key, value in node.items():
        if key == "$merge":
            made |= _compiled(value)(**names)
        elif key != "$if" and (one := render(value, names)) is not OMIT:
            made[key] = one
    return made


def _text(text: str, names: Mapping[str, Any]) -> Any:
    if (whole := WHOLE.match(text)) and "}}" not in whole[1]:
        return _compiled(whole[1])(**names)
    return PART.sub(lambda part: str(_compiled(part[1])(**names)), text)


@cache
def _compiled(expression: str) -> Callable[..., Any]:
    compiled = _ENVIRONMENT.compile_expression(expression, undefined_to_none=False)
    return lambda **names: compiled(**names, omit=OMIT)
