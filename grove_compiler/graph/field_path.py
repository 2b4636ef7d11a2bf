"""Converts Kubernetes field paths: `spec.template.cliques[0].name` as text, `("spec", "template", "cliques", 0, "name")` as a value.

`value_at` reads the value at a path, and `replace` changes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

FieldPath = tuple[str | int, ...]

ABSENT: Final[Any] = object()
"""Stands for the absence of a value, where None would be a value."""

_STEP = re.compile(r"\[([^]]*)]?|([^.[]+)")
_INDEX = re.compile(r"\[([0-9]+)]")


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
    steps = ((step[1], step[2]) for step in _STEP.finditer(text))
    return tuple(word if key is None else int(key) if key.isascii() and key.isdigit() else key for key, word in steps)


def reindex(text: str, path: FieldPath) -> str:
    """Returns a path as it is written, with the indices of another path of the same steps.

    What `render` did not write stays so: upstream's findings have `annotations.grove.io/mnnvl-group`, which `parse` takes for other steps.
    """
    indices = (step for step in path if isinstance(step, int))
    return _INDEX.sub(lambda index: f"[{next(indices, index[1])}]", text)


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
