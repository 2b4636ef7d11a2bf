"""Which line of which rule or template made a field, and from which expression.

Nothing is recorded while objects are generated. When somebody asks about one, its rule is written once more in a form that ties
every scalar to its place, run up to that object, and read off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from grove_compiler.engine import patching
from grove_compiler.engine.build import compile_rules
from grove_compiler.engine.load import load
from grove_compiler.engine.omit import OMIT
from grove_compiler.engine.program import runtime
from grove_compiler.engine.sources import RuleSource, Vocabulary
from grove_compiler.graph.field_path import FieldPath
from grove_compiler.graph.node import Node


class Origin(NamedTuple):
    """Where a field comes from. `expression` is empty for what stands in the file as it is."""

    file: str
    line: int
    expression: str


@dataclass(slots=True, eq=False)
class Traced:
    """A value and its origin; containers that an expression gave are one traced value until something goes into them."""

    value: Any
    origin: Origin


class _Found(Exception):
    """Carries the object out of the rule that made it."""

    def __init__(self, object: Any) -> None:
        self.object = object


class Tracer:
    """Answers for the rules of the given sources. Making one costs a cold start. Raises `InvalidRules`."""

    def __init__(self, sources: Sequence[RuleSource], vocabulary: Vocabulary) -> None:
        compiled = compile_rules(load(sources), vocabulary, traced=True)
        self.rules = compiled.rules
        self.roots = vocabulary.words
        self.namespace = runtime(vocabulary.functions) | _TRACED
        exec(compiled.code, self.namespace)

    def fields(self, node: Node, scope: Mapping[str, Any], position: int = 0) -> dict[FieldPath, Origin]:
        """The origin of every scalar of a node, by its path. `position` is how many loop positions the caller had put in front."""
        index = next(number for number, rule in enumerate(self.rules) if rule.id == node.rule)
        wanted = node.loop[position:]

        def emit(_: int, object: Any, loop: tuple[int, ...], __: Any) -> None:
            if loop == wanted:
                raise _Found(object)

        try:
            self.namespace[f"rule_{index}"](*[scope.get(word) for word in self.roots], emit)
        except _Found as found:
            return dict(_leaves(found.object, ()))
        raise LookupError(f"the rule {node.rule!r} no longer generates {node.id}")


def _trace(value: Any, place: tuple[str, int], expression: str) -> Any:
    return value if value is OMIT else Traced(value, Origin(*place, expression))


def _plain(value: Any) -> Any:
    if isinstance(value, Traced):
        return value.value
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list) else value


def _opened(value: Any) -> Any:
    """A traced container as a container of traced values, a traced none as none; anything else as it is."""
    if not isinstance(value, Traced):
        return value
    inner, origin = value.value, value.origin
    if isinstance(inner, dict):
        return {key: Traced(part, origin) for key, part in inner.items()}
    if isinstance(inner, list):
        return [Traced(part, origin) for part in inner]
    return None if inner is None else value


def _opened_along(value: Any, path: Sequence[str]) -> Any:
    """The same with everything opened that a change at the path goes through."""
    value = _opened(value)
    if len(path) > 1 and isinstance(value, dict) and path[0] in value:
        return {**value, path[0]: _opened_along(value[path[0]], path[1:])}
    if len(path) > 1 and isinstance(value, list) and path[0].isdigit():
        return [_opened_along(part, path[1:]) if number == int(path[0]) else part for number, part in enumerate(value)]
    return value


def _wholly_opened(value: Any) -> Any:
    """Everything as containers of traced scalars, at any depth; a traced none stays one, for it is a scalar that has an origin."""
    if not (isinstance(value, Traced) and value.value is None):
        value = _opened(value)
    if isinstance(value, dict):
        return {key: _wholly_opened(part) for key, part in value.items()}
    return [_wholly_opened(part) for part in value] if isinstance(value, list) else value


def _removing(new: Any) -> Any:
    """What is merged, with the nones that remove a key as nones."""
    return {key: _removing(_opened(part)) for key, part in new.items()} if isinstance(new, dict) else new


def _patched(change: Callable[..., Any]) -> Callable[..., Any]:
    def patch(value: Any, path: tuple[str, ...], *new: Any) -> Any:
        return change(_opened_along(value, path), path, *new)

    return patch


def _patch_merge(value: Any, path: tuple[str, ...], new: Any) -> Any:
    return patching.patch_merge(_opened_along(_wholly_opened(value), path), path, _removing(_wholly_opened(new)))


def _merge(target: dict[str, Any], extra: Any) -> None:
    extra = _opened(extra)
    if isinstance(extra, list):
        for part in extra:
            _merge(target, part)
    else:
        patching.merge(target, extra)


def _patch_test(value: Any, path: tuple[str, ...], expected: Any) -> Any:
    patching.patch_test(_plain(value), path, _plain(expected))
    return value


def _leaves(value: Any, path: FieldPath) -> Iterator[tuple[FieldPath, Origin]]:
    if isinstance(value, Traced):
        if isinstance(value.value, dict | list) and value.value:
            yield from _leaves(_opened(value), path)
        else:
            yield path, value.origin
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _leaves(part, (*path, key))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _leaves(part, (*path, number))


_TRACED: dict[str, Any] = {
    "trace": _trace,
    "plain": _plain,
    "merge": _merge,
    "patch_add": _patched(patching.patch_add),
    "patch_replace": _patched(patching.patch_replace),
    "patch_remove": _patched(patching.patch_remove),
    "patch_merge": _patch_merge,
    "patch_test": _patch_test,
}
