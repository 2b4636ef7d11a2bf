"""Converts Kubernetes field paths: `spec.template.cliques[0].name` as text, `("spec", "template", "cliques", 0, "name")` as a value.

`value_at` reads the value at a path, and `replace` changes it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

FieldPath = tuple[str | int, ...]

ABSENT: Final[Any] = object()
"""Stands for the absence of a value, where None would be a value."""


def render(path: Iterable[str | int]) -> str:
    """Returns the path as text; a key that is not a plain word stands in brackets: `metadata.labels[app.kubernetes.io/name]`."""
    text = ""
    for step in path:
        if isinstance(step, int) or not step.replace("-", "").replace("_", "").isalnum():
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text


def parse(text: str) -> FieldPath:
    """Parses what `render` wrote: digits in brackets are an index, other brackets hold a key. Unclosed brackets run to the end."""
    steps: list[str | int] = []
    position = 0
    while position < len(text):
        if text[position] == "[":
            end = text.find("]", position)
            end = len(text) if end < 0 else end
            step = text[position + 1 : end]
            steps.append(int(step) if step.isascii() and step.isdigit() else step)
            position = end + 1
        elif text[position] == ".":
            position += 1
        else:
            end = position
            while end < len(text) and text[end] not in ".[":
                end += 1
            steps.append(text[position:end])
            position = end
    return tuple(steps)


def value_at(value: Any, path: FieldPath) -> Any:
    """Returns the value at `path`; `ABSENT` where there is none."""
    for step in path:
        if not (step in value if isinstance(value, dict) else isinstance(value, list) and isinstance(step, int) and step < len(value)):
            return ABSENT
        value = value[step]
    return value


def replace(value: Any, path: FieldPath, new: Any) -> Any:
    """Returns a copy of `value` with `new` at `path`, or without the key there when `new` is `ABSENT`.

    The path's parents have to be there.
    """
    if not path:
        return new
    key: Any = path[0]
    copy = value.copy()
    if len(path) == 1 and new is ABSENT:
        del copy[key]
    else:
        copy[key] = new if len(path) == 1 else replace(value[key], path[1:], new)
    return copy
