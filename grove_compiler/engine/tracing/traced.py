"""Defines values that remember where they come from, and patches of them: traced rules build these instead of objects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace
from functools import cached_property
from typing import Any, NamedTuple

from grove_compiler.engine.runtime import patching
from grove_compiler.engine.tracing.tracking import (
    LISTED,
    PASSED,
    READ,
    Input,
    ReadRecorder,
    Reads,
    Tracked,
    TrackedDict,
    TrackedList,
    entries_of,
    inputs_of,
    tracked_container,
    tracked_scalar,
)
from grove_compiler.graph.field_path import FieldPath
from grove_compiler.record import record


class FieldOrigin(NamedTuple):
    """Names the file, the line and the expression that a field comes from. `expression` is empty for a literal."""

    file: str
    line: int
    expression: str


@record(slots=False)
class Traced:
    """Holds a scalar or an empty container of an object, and where it comes from.

    `rule` is the rule or patch that makes it, `reads` what its expression read, `names` the names in it that are no constants. `copied`
    is the field of a document that it is, where the value itself cannot know it. `guards` decide whether it is there, and where.
    """

    value: Any
    origin: FieldOrigin
    rule: str
    reads: Reads = field(default_factory=dict)
    names: tuple[str, ...] = ()
    copied: tuple[Input, ...] = ()
    guards: Reads = field(default_factory=dict)

    @cached_property
    def sources(self) -> tuple[tuple[Input, ...], bool]:
        """The inputs that the value was computed from, and whether it is the unchanged value of one of them."""
        if not isinstance(self.value, Tracked):
            return self.copied or inputs_of(self.reads), bool(self.copied)
        if self.value.direct:
            return self.value.inputs, True
        more = inputs_of({read: how for read, how in self.reads.items() if how})
        return tuple(dict.fromkeys(self.value.inputs + more)), False

    @cached_property
    def passed(self) -> tuple[Input, ...]:
        """The inputs that decide which parts of the model there are, or which input it is that is copied: these come first."""
        others = self._others
        return inputs_of(dict.fromkeys(sorted(others, key=lambda read: -(others[read] & READ)), READ))

    @property
    def deciding(self) -> tuple[Input, ...]:
        """The inputs that decide whether and where the value stands, without those in `sources` and `passed`."""
        listed = {*self.sources[0], *self.passed}
        return tuple(guard for guard in inputs_of(dict.fromkeys(self.guards, READ)) if guard not in listed)

    @property
    def inputs(self) -> tuple[Input, ...]:
        """Every input that decides whether the value is there, where it stands and what it is."""
        return (*self.sources[0], *self.passed, *self.deciding)

    @cached_property
    def _others(self) -> Reads:
        """What was read besides the sources, and not merely on the way to them."""
        inputs, is_copied = self.sources
        reads = self.reads if is_copied else {read: how for read, how in self.reads.items() if not how}
        return {read: how for read, how in reads.items() if not any(self._leads_to(read, source, is_copied) for source in inputs)}

    def _leads_to(self, read: Input, source: Input, is_copied: bool) -> bool:
        """Reports whether an input was read on the way to a source: it contains or is inside the source, or was listed beside it."""
        is_neighbour = is_copied and self.reads.get(read) == LISTED and self.reads.get(source, LISTED) & LISTED
        around = read.path[:-1] if is_neighbour else read.path
        return read.source == source.source and (source.path[: len(around)] == around or read.path[: len(source.path)] == source.path)

    @property
    def rests(self) -> Reads:
        """The inputs that a reader of this value depends on."""
        return dict.fromkeys((*self.guards, *self._others), PASSED) | dict.fromkeys(self.sources[0], READ)

    def part(self, key: Any, value: Any) -> Traced:
        """Returns an entry of the container that the expression evaluated to, with its own origin."""
        place = getattr(self.value, "place", None)
        copied = tuple(place.reads(key)) if isinstance(place, Input) else ()
        if not copied and (value is None or isinstance(value, bool)):  # these cannot know their input: it is the entry of that name
            copied = tuple(read for read in inputs_of(self.reads) if read.path[-1:] == (key,))
        return replace(self, value=value, copied=copied if len(copied) == 1 else (), guards={})


class Shape:
    """Records what decides which parts a container under construction has, or what a patch changes.

    Every part of a list depends on it, since leaving one out moves the others. Parts of a map do not; only an empty map does, because
    nothing else shows what was left out.
    """

    def __init__(self, outer: Shape | None, kind: type) -> None:
        self.outer = outer
        self.is_list = kind is list
        self.rests: Reads = {}
        self.left_out: Reads = {}

    def guard(self, reads: Reads, holds: bool) -> None:
        """Records what a condition read. This container depends on it; if it does not hold, so does the container around this one."""
        self.rests |= reads
        if not holds and self.outer is not None:
            self.outer.part(reads, is_there=False)

    def part(self, reads: Reads, is_there: bool) -> None:
        """Records what was read for a part that may be left out."""
        if self.is_list:
            self.rests |= reads
        elif not is_there:
            self.left_out |= reads

    def settle(self, value: Any, *steps: str) -> None:
        """Adds what was recorded as guards to the fields at `steps`, whether or not a patch changes them."""
        for step in steps:
            if isinstance(value, dict | list):
                value = dict(entries_of(value)).get(int(step) if isinstance(value, list) and step.isdecimal() else step)
        for _, leaf in leaves(value):
            leaf.guards |= self.rests


class Made(NamedTuple):
    """Represents the `Place` of a container of an object under construction, for the reads of patches."""

    value: dict[Any, Any] | list[Any]

    def reads(self, *key: Any) -> Reads:
        """Returns the inputs that an entry depends on; none for a container, which is only passed through."""
        part = dict(entries_of(self.value)).get(*key) if key else None
        return part.rests if isinstance(part, Traced) else {}


def opened(traced: Traced) -> Any:
    """Turns a traced container into containers of traced scalars, at any depth; returns a scalar as it is."""
    value = traced.value
    if isinstance(value, TrackedDict | TrackedList) and isinstance(value.place, Made):
        return value.place.value  # a patch hands on what others made
    if not isinstance(value, dict | list) or not value:
        return traced
    parts = {key: opened(traced.part(key, part)) for key, part in entries_of(value)}
    return parts if isinstance(value, dict) else list(parts.values())


def untraced(value: Any) -> Any:
    """Returns the value without its traces, at any depth."""
    if isinstance(value, Traced):
        return value.value
    if isinstance(value, dict):
        return {key: untraced(part) for key, part in value.items()}
    return [untraced(part) for part in value] if isinstance(value, list) else value


def tracked_result(value: Any, recorder: ReadRecorder) -> Any:
    """Returns the object so far in the form that patches read: scalars without traces that still record their inputs when read."""
    if isinstance(value, Traced):
        inputs, is_copied = value.sources
        return tracked_scalar(value.value, inputs, is_copied) if inputs else value.value
    parts: Any = {key: tracked_result(part, recorder) for key, part in entries_of(value)}
    return tracked_container(parts if isinstance(value, dict) else list(parts.values()), recorder, Made(value))


def leaves(value: Any, path: FieldPath = ()) -> Iterator[tuple[FieldPath, Traced]]:
    """Yields every scalar and every empty container of an object, with its path."""
    if isinstance(value, Traced):
        yield path, value
    elif isinstance(value, dict | list):
        for key, part in entries_of(value):
            yield from leaves(part, (*path, key))


def merge(target: dict[str, Any], extra: Any, shape: Shape) -> None:
    """Evaluates `$merge` with traced values."""
    if isinstance(extra, Traced):
        shape.part(extra.reads, is_there=False)
        extra = extra.value
    for part in extra if isinstance(extra, list) else [extra]:
        patching.merge(target, part.value if isinstance(part, Traced) else part)


def patch(word: str, value: Any, path: tuple[str, ...], *new: Any) -> Any:
    """Applies a patch operation to traced values, with the same function that compilations call."""
    if word == "test":
        patching.patch_test(untraced(value), path, untraced(new[0]))
        return value
    arguments = map(_removing, new) if word == "merge" else new
    return getattr(patching, f"patch_{word}")(_enterable(value, path), path, *arguments)


def _enterable(value: Any, path: tuple[str, ...]) -> Any:
    """Returns the value with the traces of empty containers and nones on the path removed, so that the operation can go into them."""
    if isinstance(value, Traced) and (value.value is None or isinstance(value.value, dict | list)):
        value = value.value
    step: Any = int(path[0]) if isinstance(value, list) and path[0].isdecimal() else path[0]
    if len(path) == 1 or not isinstance(value, dict | list) or step not in dict(entries_of(value)):
        return value
    copy = value.copy()
    copy[step] = _enterable(value[step], path[1:])
    return copy


def _removing(new: Any) -> Any:
    """Returns a merge patch whose traced nones are plain nones, since those remove keys."""
    if isinstance(new, Traced) and new.value is None:
        return None
    return {key: _removing(part) for key, part in new.items()} if isinstance(new, dict) else new
