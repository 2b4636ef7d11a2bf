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
from grove_compiler.engine.sources import InvalidRules, RuleSource, Vocabulary
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
        found, problems = load(sources)
        self.rules, code, _, _ = compile_rules(found, vocabulary, traced=True)
        if problems:
            raise InvalidRules(problems)
        self.roots = [*vocabulary.roots, *vocabulary.update_roots]
        self.namespace = runtime(vocabulary.functions) | _TRACED
        exec(code, self.namespace)

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


def _opened(value: Any, depth: int) -> Any:
    """Traced containers down to a depth as containers of traced values."""
    if isinstance(value, Traced) and isinstance(value.value, dict):
        value = {key: Traced(part, value.origin) for key, part in value.value.items()}
    elif isinstance(value, Traced) and isinstance(value.value, list):
        value = [Traced(part, value.origin) for part in value.value]
    if depth == 0 or isinstance(value, Traced):
        return value
    if isinstance(value, dict):
        return {key: _opened(part, depth - 1) for key, part in value.items()}
    return [_opened(part, depth - 1) for part in value] if isinstance(value, list) else value


def _patched(change: Callable[..., Any]) -> Callable[..., Any]:
    def patch(value: Any, path: tuple[str, ...], *new: Any) -> Any:
        return change(_opened(value, len(path)), path, *new)

    return patch


def _merge(target: dict[str, Any], extra: Any) -> None:
    patching.merge(target, _opened(extra, 0))


def _patch_test(value: Any, path: tuple[str, ...], expected: Any) -> Any:
    patching.patch_test(_plain(value), path, _plain(expected))
    return value


def _leaves(value: Any, path: FieldPath) -> Iterator[tuple[FieldPath, Origin]]:
    if isinstance(value, Traced):
        if isinstance(value.value, dict | list) and value.value:
            yield from _leaves(_opened(value, 0), path)
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
    "patch_merge": _patched(patching.patch_merge),
    "patch_test": _patch_test,
}
