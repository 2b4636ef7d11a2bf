"""Tracks what is read of input documents: how one expression's inputs are found, however many functions lie between.

A document is tracked as a copy whose maps and lists note every entry that is read, and whose texts and numbers carry their own
path wherever they go. Only questions about provenance pay for it; a compilation sees the documents themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol, TypeVar

from grove_compiler.graph.field_path import FieldPath

T = TypeVar("T")

PASSED, LISTED, READ = 0, 1, 2
"""How something was read: only gone through to reach something else, listed together with its neighbours, by itself; or both (3)."""


class Input(NamedTuple):
    """A field of something that was put in. `source` is the number or name by which the asker knows the document."""

    source: str | int
    path: FieldPath

    def reads(self, *key: Any) -> Reads:
        """Returns what reading an entry reads, or the whole where no key is given."""
        return {Input(self.source, (*self.path, *key)): READ}


Reads = dict[Input, int]
"""What was read, in order, and how."""


class Place(Protocol):
    """Says what the entries of a tracked map or list rest on: a field of a document, or a part of an object under construction."""

    def reads(self, *key: Any) -> Reads:
        """Returns what an entry rests on; without a key, what the container itself does."""


class Recorder:
    """Notes what is read while a function runs. Each explanation has its own, so several may go on at once."""

    __slots__ = ("_frames",)

    def __init__(self) -> None:
        self._frames: list[Reads] = []

    def read(self, reads: Reads, how: int | None = None) -> None:
        """Notes reads for the function that is listened to, in another way than they say with `how`. If nobody listens, nothing."""
        if self._frames:
            frame = self._frames[-1]
            for one, was in reads.items():
                now = was if how is None else how
                if not frame.get(one) and now:
                    frame.pop(one, None)  # it stands where it was first more than passed
                frame[one] = frame.get(one, PASSED) | now

    def take(self) -> Reads:
        """Returns what the function that is listened to has read so far, which then does not count as read by it any more."""
        if not self._frames:
            return {}
        reads, self._frames[-1] = self._frames[-1], {}
        return reads

    def listen(self, function: Callable[[], T]) -> tuple[T, Reads]:
        """Calls a function, and returns its result with what it read. Who listens to the caller does not learn of it."""
        self._frames.append({})
        try:
            return function(), self._frames[-1]
        finally:
            self._frames.pop()


def inputs_of(reads: Reads) -> tuple[Input, ...]:
    """Returns the inputs that were read, else those that were passed; none that only leads to another one of them."""
    inputs = [one for one, how in reads.items() if how] or list(reads)
    parents = {Input(one.source, one.path[:length]) for one in inputs for length in range(len(one.path))}
    return tuple(one for one in inputs if one not in parents)


class Tracked:
    """A scalar that knows its inputs. With `direct` it is the value of its one input, unchanged."""

    inputs: tuple[Input, ...]
    direct: bool


class Text(Tracked, str):
    """A text that knows its inputs."""


class Whole(Tracked, int):
    """A whole number that knows its inputs."""


class Decimal(Tracked, float):
    """Any other number that knows its inputs."""


_TRACKED: dict[type, type] = {str: Text, int: Whole, float: Decimal}


def tracked_scalar(value: Any, inputs: tuple[Input, ...], direct: bool = False) -> Any:
    """Returns a text or number that knows its inputs. Python has one true, one false and one none: they are returned as they are."""
    kind = _TRACKED.get(type(value))
    if kind is None:
        return value
    copy = kind(value)
    copy.inputs, copy.direct = inputs, direct
    return copy


class TrackedDict(dict[Any, Any]):
    """A map that notes which of its entries are read, absent ones included."""

    __slots__ = ("place", "recorder")
    place: Any
    recorder: Recorder


class TrackedList(list[Any]):
    """A list that notes which of its items are read."""

    __slots__ = ("place", "recorder")
    place: Any
    recorder: Recorder


def _note_one(container: Any, key: Any) -> None:
    if isinstance(key, slice):
        return _note_all(container)
    key = range(len(container))[key] if isinstance(container, list) else key
    return container.recorder.read(container.place.reads(key))  # type: ignore[no-any-return]


def _note_all(container: Any, *_: Any) -> None:
    """Notes all entries; those that are containers are only passed on the way into them."""
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


def tracked_container(value: dict[Any, Any] | list[Any], recorder: Recorder, place: Place) -> Any:
    """Returns a copy of a map or a list that tells the recorder what is read of it."""
    copy: Any = TrackedDict(value) if isinstance(value, dict) else TrackedList(value)
    copy.recorder, copy.place = recorder, place
    return copy


def tracked(value: Any, recorder: Recorder, source: str | int, path: FieldPath = ()) -> Any:
    """Returns a copy of a document's value that tells the recorder what is read. `path` is where the value stands in the source."""
    if isinstance(value, dict):
        parts: Any = {key: tracked(part, recorder, source, (*path, key)) for key, part in value.items()}
        return tracked_container(parts, recorder, Input(source, path))
    if isinstance(value, list):
        parts = [tracked(part, recorder, source, (*path, index)) for index, part in enumerate(value)]
        return tracked_container(parts, recorder, Input(source, path))
    return tracked_scalar(value, (Input(source, path),), direct=True)


def plain(value: Any) -> Any:
    """Returns the value without any knowledge of inputs, as a compilation has it."""
    if isinstance(value, dict):
        return {plain(key): plain(part) for key, part in dict.items(value)}
    if isinstance(value, list):
        return [plain(part) for part in list.__iter__(value)]
    if isinstance(value, Tracked):
        return str.__str__(value) if isinstance(value, Text) else int(value) if isinstance(value, Whole) else float(value)  # type: ignore[arg-type]
    return value


def entries_of(container: Mapping[Any, Any] | list[Any]) -> Iterator[tuple[Any, Any]]:
    """Goes through the entries of a map or a list, without noting that anybody reads them."""
    return iter(dict.items(container)) if isinstance(container, dict) else enumerate(list.__iter__(container))  # type: ignore[arg-type]
