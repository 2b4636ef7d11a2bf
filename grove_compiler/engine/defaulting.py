"""Defaults into manifests: paths with wildcards, copies only along the way."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from grove_compiler.engine.omit import OMIT

DefaultPath = list[list[list[str]]]
"""Alternatives, each a list of steps: `["key", name]` goes into a field, `["each"]` into every item of a list."""

_STEP = re.compile(r"\{([^{}]+)\}|\[(\*)\]|([^.\[\]{}]+)")


def parse_default_path(text: str) -> DefaultPath:
    """`spec.{a,b}[*].c` as its alternatives. Raises `ValueError` for anything else."""
    alternatives: DefaultPath = [[]]
    position = 0
    while position < len(text):
        if text[position] == "." and 0 < position < len(text) - 1:
            position += 1
        found = _STEP.match(text, position)
        if not found:
            raise ValueError(f"{text!r} is not a path such as `spec.cliques[*].{{containers,initContainers}}[*].name`")
        braces, star, word = found.groups()
        steps = [["each"]] if star else [["key", name.strip()] for name in (braces or word).split(",")]
        alternatives = [[*former, step] for former in alternatives for step in steps]
        position = found.end()
    if not alternatives[0] or any(path[-1][0] == "each" for path in alternatives):
        raise ValueError(f"the path {text!r} must end with a field")
    return alternatives


Value = Callable[[Any, Any], Any]
"""What to put in: a function of the manifest so far and of the map that lacks the field; `OMIT` for nothing."""


def apply_default(manifest: Any, path: DefaultPath, value: Value, owned: set[int]) -> Any:
    """The manifest with its value at every place of the path that is absent or null, where its parent is there.

    `owned` are the ids of containers that were already copied for this manifest and may be changed; it is extended.
    """
    for steps in path:
        manifest = _apply(manifest, steps, 0, partial(value, manifest), owned)
    return manifest


def _apply(container: Any, steps: list[list[str]], at: int, value: Callable[[Any], Any], owned: set[int]) -> Any:
    if steps[at][0] == "each":
        if not isinstance(container, list):
            return container
        for index, item in enumerate(container):
            changed = _apply(item, steps, at + 1, value, owned)
            if changed is not item:
                container = _own(container, owned)
                container[index] = changed
        return container
    if not isinstance(container, dict):
        return container
    key, present = steps[at][1], container.get(steps[at][1])
    if at == len(steps) - 1:
        new = value(container) if present is None else OMIT
    else:
        new = _apply(present, steps, at + 1, value, owned)
    if new is OMIT or new is present:
        return container
    container = _own(container, owned)
    container[key] = new
    return container


def _own(container: Any, owned: set[int]) -> Any:
    if id(container) in owned:
        return container
    copy = container.copy()
    owned.add(id(copy))
    return copy
