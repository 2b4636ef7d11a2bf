"""Sets defaults in manifests by paths with wildcards; copies only the containers on the way."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from grove_compiler.engine.runtime.access import OMIT
from grove_compiler.graph.field_path import FieldPath
from grove_compiler.record import record

DefaultPath = list[list[list[str]]]
"""Alternatives, each a list of steps: `["key", name]` goes into a field, `["each"]` into every item of a list."""

_STEP = re.compile(r"\{([^{}]+)\}|\[(\*|[^\[\]*]+)\]|([^.\[\]{}]+)")


def parse_default_path(text: str) -> DefaultPath:
    """Parses `spec.{a,b}[*].c` into its alternatives; a key with dots stands in brackets: `metadata.labels[example.com/team]`.

    Raises `ValueError` for anything else.
    """
    alternatives: DefaultPath = [[]]
    position = 0
    while position < len(text):
        if text[position] == "." and 0 < position < len(text) - 1:
            position += 1
        step = _STEP.match(text, position)
        if not step:
            raise ValueError(f"{text!r} is not a path such as `spec.cliques[*].{{containers,initContainers}}[*].name`")
        braces, brackets, word = step.groups()
        names = braces.split(",") if braces else [brackets or word]
        steps = [["each"]] if brackets == "*" else [["key", name.strip()] for name in names]
        if ["key", ""] in steps:
            raise ValueError(f"the path {text!r} names a field that has no name")
        alternatives = [[*path, last] for path in alternatives for last in steps]
        position = step.end()
    if not alternatives[0] or any(path[-1][0] == "each" for path in alternatives):
        raise ValueError(f"the path {text!r} must end with a field")
    return alternatives


Value = Callable[[Any, Any, Any], Any]
"""Computes a default from the manifest so far, the map that lacks the field, and the map around that; `OMIT` sets nothing."""


def apply_default(manifest: Any, path: DefaultPath, value: Value, owned: set[int], absent: Sequence[Any] = ()) -> Any:
    """Returns the manifest with the default at every place of the path that is absent or null and whose parent exists.

    `absent` are further values that count as absent. `owned` are the ids of containers that were already copied for this
    manifest and may be changed; it is extended.
    """
    for steps in path:
        manifest = _Walk(steps, partial(value, manifest), absent, owned).apply(manifest, 0, None)
    return manifest


def replaced_values(before: Any, after: Any, path: DefaultPath) -> Iterator[FieldPath]:
    """Yields the places of a path where a value was written before and is another one after."""
    if before is not after:
        for steps in path:
            yield from _replaced(before, after, steps)


def _replaced(before: Any, after: Any, steps: list[list[str]]) -> Iterator[FieldPath]:
    if before is after or before is None:
        return
    if not steps:
        yield ()
    elif steps[0][0] == "each":
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from ((index, *rest) for rest in _replaced(old, new, steps[1:]))
    else:
        key = steps[0][1]
        yield from ((key, *rest) for rest in _replaced(before.get(key), after[key], steps[1:]))


@record
class _Walk:
    """Follows one alternative of a path through a manifest."""

    steps: list[list[str]]
    value: Callable[[Any, Any], Any]
    absent: Sequence[Any]
    owned: set[int]

    def apply(self, container: Any, at: int, parent: Any) -> Any:
        """Returns the container with the default set below it; `parent` is the map around it, `at` the index of the next step."""
        if self.steps[at][0] == "each":
            return self._each(container, at, parent)
        if not isinstance(container, dict):
            return container
        key, present = self.steps[at][1], container.get(self.steps[at][1])
        if at < len(self.steps) - 1:
            new = self.apply(present, at + 1, container)
        else:
            new = _disowned(self.value(container, parent), self.owned) if self._is_absent(present) else OMIT
        if new is OMIT or new is present:
            return container
        container = self._own(container)
        container[key] = new
        return container

    def _each(self, container: Any, at: int, parent: Any) -> Any:
        for index, item in enumerate(container if isinstance(container, list) else ()):
            changed = self.apply(item, at + 1, parent)
            if changed is not item:
                container = self._own(container)
                container[index] = changed
        return container

    def _is_absent(self, present: Any) -> bool:
        return present is None or (not isinstance(present, bool) and present in self.absent)

    def _own(self, container: Any) -> Any:
        if id(container) in self.owned:
            return container
        copy = container.copy()
        self.owned.add(id(copy))
        return copy


def _disowned(value: Any, owned: set[int]) -> Any:
    """Removes a value's containers from `owned`, so that they are copied before the next change.

    A default may be a part of the same manifest, which is then in two places: changed in place, both would change.
    """
    if isinstance(value, dict | list) and owned:
        owned.discard(id(value))
        for part in value.values() if isinstance(value, dict) else value:
            _disowned(part, owned)
    return value
