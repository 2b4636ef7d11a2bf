"""Values that remember where they come from, and changes to them: what traced rules build instead of objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from grove_compiler.engine.runtime import patching
from grove_compiler.engine.tracing import tracking as watching
from grove_compiler.engine.tracing.tracked_result import SeenList, SeenMap
from grove_compiler.engine.tracing.tracking import Input, Reads, Recorder, inputs_of_entry, marked
from grove_compiler.graph.field_path import FieldPath

_KNOWN = (watching.Text, watching.Whole, watching.Decimal)


class Origin(NamedTuple):
    """Where a field comes from. `expression` is empty for what stands in the file as it is."""

    file: str
    line: int
    expression: str


@dataclass(slots=True, eq=False)
class Traced:
    """A value and its origin; containers that an expression gave are one traced value until something goes into them.

    `rule` is the rule or patch that says it, `inputs` what its expression read, `names` the names that the expression uses.
    `direct` says that it is the value of its one input, unchanged. `passed` are fields that decide which parts of the model there are,
    if the expression went through such parts.
    """

    value: Any
    origin: Origin
    rule: str = ""
    inputs: tuple[Input, ...] = ()
    names: tuple[str, ...] = ()
    direct: bool = False
    passed: tuple[Input, ...] = ()

    @property
    def sources(self) -> tuple[tuple[Input, ...], bool]:
        """The inputs of a scalar, and whether it is one of them unchanged: then nothing else that was read counts."""
        if not isinstance(self.value, _KNOWN):
            return self.inputs, self.direct
        known = self.value.inputs
        return (known, True) if self.value.direct else (tuple(dict.fromkeys(known + self.inputs)), False)

    @property
    def reads(self) -> Reads:
        """What is read of a scalar by who looks at it; nothing of a container, which is only gone through."""
        return {} if isinstance(self.value, dict | list) else dict.fromkeys(self.passed, False) | dict.fromkeys(self.sources[0], True)

    def part(self, key: Any, value: Any) -> Traced:
        """An entry of its container. Booleans and nulls cannot know their input: it is the entry read of that name."""
        found = inputs_of_entry(self.value, key)
        if not found and (value is None or isinstance(value, bool)):
            found = tuple(one for one in self.inputs if one.path[-1:] == (key,))
        return Traced(value, self.origin, self.rule, found or self.inputs, self.names, len(found) == 1, self.passed)


def untraced(value: Any) -> Any:
    """The value that was traced. Maps and lists of the input stay what they are."""
    if isinstance(value, Traced):
        return value.value
    if isinstance(value, watching.WatchedMap | watching.WatchedList):
        return value
    if isinstance(value, dict):
        return {key: untraced(part) for key, part in value.items()}
    return [untraced(part) for part in value] if isinstance(value, list) else value


def seen(value: Any, recorder: Recorder) -> Any:
    """What was made so far, without traces: who looks at a scalar of it reads what that rests on."""
    made = opened(value)
    if isinstance(made, dict):
        found: SeenMap | SeenList = SeenMap((key, seen(part, recorder)) for key, part in made.items())
    elif isinstance(made, list):
        found = SeenList(seen(part, recorder) for part in made)
    else:
        return marked(made.value, *made.sources) if isinstance(made, Traced) and made.inputs else untraced(made)
    parts = {key: part for key, part in watching.entries_of(made) if isinstance(part, Traced)}
    found.made, found.recorder, found.rests = made, recorder, {key: part.reads for key, part in parts.items()}
    return found


def opened(value: Any) -> Any:
    """A traced container as a container of traced values, a traced none as none; anything else as it is."""
    if not isinstance(value, Traced):
        return value
    inner = value.value
    if isinstance(inner, SeenMap | SeenList):
        return inner.made  # a patch hands on what others made
    if isinstance(inner, dict):
        return {key: value.part(key, part) for key, part in watching.entries_of(inner)}
    if isinstance(inner, list):
        return [value.part(index, part) for index, part in watching.entries_of(inner)]
    return None if inner is None else value


def leaves(value: Any, path: FieldPath = ()) -> Iterator[tuple[FieldPath, Traced]]:
    """Every scalar and every empty container of an object, with its path."""
    if isinstance(value, Traced):
        if isinstance(value.value, dict | list) and value.value:
            yield from leaves(opened(value), path)
        else:
            yield path, value
    elif isinstance(value, dict | list):
        for key, part in watching.entries_of(value):
            yield from leaves(part, (*path, key))


def merge(target: dict[str, Any], extra: Any) -> None:
    """`$merge` of a traced value."""
    extra = opened(extra)
    if isinstance(extra, list):
        for part in extra:
            merge(target, part)
    else:
        patching.merge(target, extra)


def patch_merge(value: Any, path: tuple[str, ...], new: Any) -> Any:
    """The operation `merge` on traced values."""
    return patching.patch_merge(_opened_along(_wholly_opened(value), path), path, _removing(_wholly_opened(new)))


def patch_test(value: Any, path: tuple[str, ...], expected: Any) -> Any:
    """The operation `test` on traced values."""
    patching.patch_test(untraced(value), path, untraced(expected))
    return value


def _patched(change: Callable[..., Any]) -> Callable[..., Any]:
    def patch(value: Any, path: tuple[str, ...], *new: Any) -> Any:
        return change(_opened_along(value, path), path, *new)

    return patch


patch_add = _patched(patching.patch_add)
patch_replace = _patched(patching.patch_replace)
patch_remove = _patched(patching.patch_remove)


def _opened_along(value: Any, path: Sequence[str]) -> Any:
    """The value with everything opened that a change at the path goes through."""
    value = opened(value)
    if len(path) > 1 and isinstance(value, dict) and path[0] in value:
        return {**value, path[0]: _opened_along(value[path[0]], path[1:])}
    if len(path) > 1 and isinstance(value, list) and path[0].isdigit():
        return [_opened_along(part, path[1:]) if number == int(path[0]) else part for number, part in enumerate(value)]
    return value


def _removing(new: Any) -> Any:
    """What is merged, with the nones that remove a key as nones."""
    return {key: _removing(opened(part)) for key, part in new.items()} if isinstance(new, dict) else new


def _wholly_opened(value: Any) -> Any:
    """Everything as containers of traced scalars, at any depth; a traced none stays one, for it is a scalar that has an origin."""
    if not (isinstance(value, Traced) and value.value is None):
        value = opened(value)
    if isinstance(value, dict):
        return {key: _wholly_opened(part) for key, part in value.items()}
    return [_wholly_opened(part) for part in value] if isinstance(value, list) else value
