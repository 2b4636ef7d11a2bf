"""Tracks what is read of input documents, to find the inputs of an expression however many functions lie between.

A document is tracked as a copy whose maps and lists note every entry that is read, and whose texts and numbers carry their own
path wherever they go. Only questions about provenance pay for it; a compilation sees the documents themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol, TypeVar

from grove_compiler.graph.field_path import FieldPath

T = TypeVar("T")

PASSED, LISTED, READ = 0, 1, 2
"""How an input was read, as bits: passed through to reach something else, listed with its neighbours, read by itself; 3 is both."""


class Input(NamedTuple):
    """Names a field of an input. `source` is the number or name by which the caller knows the document."""

    source: str | int
    path: FieldPath

    def reads(self, *key: Any) -> Reads:
        """Returns the read of an entry, or of the whole field without a key."""
        return {Input(self.source, (*self.path, *key)): READ}


Reads = dict[Input, int]
"""The inputs that were read, in order, and how."""


class ReadSource(Protocol):
    """Tells what the entries of a tracked map or list depend on: a field of a document, or a part of an object under construction."""

    def reads(self, *key: Any) -> Reads:
        """Returns the inputs that an entry depends on; without a key, those of the container itself."""


class ReadRecorder:
    """Records what is read while a function runs. Each explanation has its own, so several may run at once."""

    __slots__ = ("_frames",)

    def __init__(self) -> None:
        self._frames: list[Reads] = []

    def read(self, reads: Reads, how: int | None = None) -> None:
        """Records reads for the innermost function under `listen`; `how` overrides how they were read. Does nothing outside of one."""
        if self._frames:
            frame = self._frames[-1]
            for read, own in reads.items():
                now = own if how is None else how
                if not frame.get(read) and now:
                    frame.pop(read, None)  # its position in the order is that of the first read that was more than passing
                frame[read] = frame.get(read, PASSED) | now

    def take(self) -> Reads:
        """Returns what the innermost function under `listen` has read so far, and forgets it."""
        if not self._frames:
            return {}
        reads, self._frames[-1] = self._frames[-1], {}
        return reads

    def listen(self, function: Callable[[], T]) -> tuple[T, Reads]:
        """Calls a function; returns its result and what it read. These reads are not added to those of the caller."""
        self._frames.append({})
        try:
            return function(), self._frames[-1]
        finally:
            self._frames.pop()


def inputs_of(reads: Reads) -> tuple[Input, ...]:
    """Returns the inputs that were read, else those that were passed; without any that contains another of them."""
    inputs = [read for read, how in reads.items() if how] or list(reads)
    parents: set[tuple[str | int, FieldPath]] = set()
    for source, path in inputs:
        while path and (parent := (source, path := path[:-1])) not in parents:  # what is above a known parent is known, too
            parents.add(parent)
    return tuple(read for read in inputs if read not in parents)


class Tracked:
    """Marks a scalar that knows its inputs. With `direct` it is the unchanged value of its only input."""

    inputs: tuple[Input, ...]
    direct: bool


class TrackedText(Tracked, str):
    """Represents a text that knows its inputs."""


class Whole(Tracked, int):
    """Represents a whole number that knows its inputs."""


class Decimal(Tracked, float):
    """Represents any other number that knows its inputs."""


_TRACKED: dict[type, type] = {str: TrackedText, int: Whole, float: Decimal}


def tracked_scalar(value: Any, inputs: tuple[Input, ...], direct: bool = False) -> Any:
    """Returns a text or number that knows its inputs. Booleans and None are singletons in Python, and are returned as they are."""
    kind = _TRACKED.get(type(value))
    if kind is None:
        return value
    copy = kind(value)
    copy.inputs, copy.direct = inputs, direct
    return copy


class TrackedDict(dict[Any, Any]):
    """Represents a map that records which of its entries are read, including absent ones."""

    __slots__ = ("place", "recorder")
    place: Any
    recorder: ReadRecorder


class TrackedList(list[Any]):
    """Represents a list that records which of its items are read."""

    __slots__ = ("place", "recorder")
    place: Any
    recorder: ReadRecorder


def _note_one(container: Any, key: Any) -> None:
    if isinstance(key, slice):
        return _note_all(container)
    key = range(len(container))[key] if isinstance(container, list) else key
    return container.recorder.read(container.place.reads(key))  # type: ignore[no-any-return]


def _note_all(container: Any, *_: Any) -> None:
    """Records all entries; those that are containers are only passed on the way into them."""
    if not container:
        container.recorder.read(container.place.reads())
    for key, part in entries_of(container):
        container.recorder.read(container.place.reads(key), PASSED if isinstance(part, dict | list) else LISTED)


def _noting(note: Callable[..., None], method: Callable[..., Any]) -> Callable[..., Any]:
    def noting(container: Any, *arguments: Any) -> Any:
        note(container, *arguments[:1])
        return method(container, *arguments)

    return noting


for _kind, _note, _names in (
    (TrackedDict, _note_one, ("__getitem__", "get", "__contains__")),
    (TrackedDict, _note_all, ("__iter__", "keys", "values", "items")),
    (TrackedList, _note_one, ("__getitem__",)),
    (TrackedList, _note_all, ("__iter__", "__contains__")),
):
    for _name in _names:
        setattr(_kind, _name, _noting(_note, getattr(_kind.__base__, _name)))


def tracked_container(value: dict[Any, Any] | list[Any], recorder: ReadRecorder, place: ReadSource) -> Any:
    """Returns a copy of a map or a list that reports its reads to the recorder."""
    copy: Any = TrackedDict(value) if isinstance(value, dict) else TrackedList(value)
    copy.recorder, copy.place = recorder, place
    return copy


def tracked(value: Any, recorder: ReadRecorder, source: str | int, path: FieldPath = ()) -> Any:
    """Returns a copy of a document's value that reports its reads to the recorder. `path` is the value's place in the source."""
    if isinstance(value, dict):
        parts: Any = {key: tracked(part, recorder, source, (*path, key)) for key, part in value.items()}
        return tracked_container(parts, recorder, Input(source, path))
    if isinstance(value, list):
        parts = [tracked(part, recorder, source, (*path, index)) for index, part in enumerate(value)]
        return tracked_container(parts, recorder, Input(source, path))
    return tracked_scalar(value, (Input(source, path),), direct=True)


def plain(value: Any) -> Any:
    """Returns the value with plain Python types, at any depth, as a compilation sees it."""
    if isinstance(value, dict):
        return {plain(key): plain(part) for key, part in dict.items(value)}
    if isinstance(value, list):
        return [plain(part) for part in list.__iter__(value)]
    if isinstance(value, Tracked):
        return str.__str__(value) if isinstance(value, TrackedText) else int(value) if isinstance(value, Whole) else float(value)  # type: ignore[arg-type]
    return value


def entries_of(container: Mapping[Any, Any] | list[Any]) -> Iterator[tuple[Any, Any]]:
    """Yields the entries of a map or a list without recording a read."""
    return iter(dict.items(container)) if isinstance(container, dict) else enumerate(list.__iter__(container))  # type: ignore[arg-type]
