"""Values that say what was read of them: how one expression's inputs are found, however many functions lie between.

A document is watched as a copy whose maps and lists note every entry that is looked at, and whose texts and numbers carry their own
path wherever they go. Only questions about provenance pay for it; a compilation sees the documents themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, SupportsIndex

from grove_compiler.graph.field_path import FieldPath


class Input(NamedTuple):
    """A field of something that was put in. `source` is the number or name by which the asker knows the document."""

    source: str | int
    path: FieldPath


Reads = dict[Input, bool]
"""What was read, in order; true for a value, false for what was only passed on the way to one."""


class Recorder:
    """Notes what is read, in frames that are opened around whatever is asked about."""

    __slots__ = ("_before", "_since")

    def __init__(self) -> None:
        self._before: list[Reads] = []
        self._since: list[Reads] = []

    @property
    def is_listening(self) -> bool:
        """Whether any frame is open."""
        return bool(self._since)

    def read(self, inputs: Iterable[Input], as_value: bool = True) -> None:
        """Notes inputs in the innermost frame."""
        if self._since:
            frame = self._since[-1]
            for one in inputs:
                frame[one] = frame.get(one, False) or as_value

    def open(self) -> None:
        """Opens a frame."""
        self._before.append({})
        self._since.append({})

    def close(self) -> Reads:
        """What was read since the frame was opened; frames around it do not learn of it."""
        self.mark()
        self._since.pop()
        return self._before.pop()

    def replay(self, reads: Reads, as_values: bool = True) -> None:
        """Notes once more what was read; with `as_values` false as what was only passed."""
        for value in (True, False):
            self.read([one for one, is_value in reads.items() if is_value is value], as_values and value)

    def so_far(self) -> Reads:
        """All that the innermost frame has read."""
        return {**self._before[-1], **self._since[-1]}

    def mark(self, keep: bool = True) -> Reads:
        """What the innermost frame has read since the last mark. Sets a mark; without `keep` the frame forgets those reads."""
        reads, self._since[-1] = self._since[-1], {}
        if keep:
            frame = self._before[-1]
            for one, is_value in reads.items():
                frame[one] = frame.get(one, False) or is_value
        return reads


def inputs_of(reads: Reads) -> tuple[Input, ...]:
    """The inputs that were read as values, else those that were passed; none that only leads to another one of them."""
    found = [one for one, is_value in reads.items() if is_value] or list(reads)
    parents = {Input(one.source, one.path[:length]) for one in found for length in range(len(one.path))}
    return tuple(one for one in found if one not in parents)


class Text(str):
    """A text that knows its inputs. With `direct` it is the value of its one input itself."""

    inputs: tuple[Input, ...]
    direct: bool


class Whole(int):
    """A whole number that knows its inputs."""

    inputs: tuple[Input, ...]
    direct: bool


class Decimal(float):
    """Any other number that knows its inputs."""

    inputs: tuple[Input, ...]
    direct: bool


_MARKED: dict[type, type] = {str: Text, int: Whole, float: Decimal}


def marked(value: Any, inputs: tuple[Input, ...], direct: bool = False) -> Any:
    """A text or number that knows its inputs; any other value, and one that knows them already, as it is."""
    kind = _MARKED.get(type(value))
    if kind is None:
        return value
    copy = kind(value)
    copy.inputs, copy.direct = inputs, direct
    return copy


class NotingMap(dict[Any, Any]):
    """A map that notes which of its entries are looked at, absent ones included."""

    __slots__ = ()

    def read(self, key: Any) -> None:
        """Notes that somebody looks at an entry."""
        raise NotImplementedError

    def read_all(self) -> None:
        """Notes that somebody looks at all entries."""
        raise NotImplementedError

    def __getitem__(self, key: Any) -> Any:
        self.read(key)
        return super().__getitem__(key)

    def get(self, key: Any, default: Any = None) -> Any:
        self.read(key)
        return super().get(key, default)

    def __contains__(self, key: object) -> bool:
        self.read(key)
        return super().__contains__(key)

    def __iter__(self) -> Iterator[Any]:
        self.read_all()
        return super().__iter__()

    def keys(self) -> Any:
        self.read_all()
        return super().keys()

    def values(self) -> Any:
        self.read_all()
        return super().values()

    def items(self) -> Any:
        self.read_all()
        return super().items()


class NotingList(list[Any]):
    """A list that notes which of its items are looked at."""

    __slots__ = ()

    def read(self, index: int) -> None:
        """Notes that somebody looks at an item."""
        raise NotImplementedError

    def read_all(self) -> None:
        """Notes that somebody looks at all items."""
        raise NotImplementedError

    def __getitem__(self, index: SupportsIndex | slice) -> Any:
        if not isinstance(index, slice):
            self.read(range(len(self))[index])
        else:
            self.read_all()
        return super().__getitem__(index)

    def __contains__(self, item: object) -> bool:
        self.read_all()
        return super().__contains__(item)

    def __iter__(self) -> Iterator[Any]:
        self.read_all()
        return super().__iter__()


class WatchedMap(NotingMap):
    """A map of a document."""

    __slots__ = ("path", "recorder", "source")
    recorder: Recorder
    source: str | int
    path: FieldPath

    def input(self, key: Any) -> Input:
        """The entry as an input."""
        return Input(self.source, (*self.path, key))

    def read(self, key: Any) -> None:
        self.recorder.read((self.input(key),))

    def read_all(self) -> None:
        _read_entries(self, dict.items(self))


class WatchedList(NotingList):
    """A list of a document."""

    __slots__ = ("path", "recorder", "source")
    recorder: Recorder
    source: str | int
    path: FieldPath

    def input(self, index: Any) -> Input:
        """The item as an input."""
        return Input(self.source, (*self.path, index))

    def read(self, index: int) -> None:
        self.recorder.read((self.input(index),))

    def read_all(self) -> None:
        _read_entries(self, enumerate(list.__iter__(self)))


def _read_entries(container: WatchedMap | WatchedList, entries: Iterable[tuple[Any, Any]]) -> None:
    """Notes that all entries were looked at; those that are containers were only passed."""
    if not container:
        container.recorder.read((Input(container.source, container.path),))
    for key, part in entries:
        container.recorder.read((container.input(key),), as_value=not isinstance(part, dict | list))


def watched(value: Any, recorder: Recorder, source: str | int, path: FieldPath = ()) -> Any:
    """A copy of a document's value that tells the recorder what is looked at. `path` is where it stands in the source."""
    if isinstance(value, dict):
        return _placed(
            WatchedMap((key, watched(part, recorder, source, (*path, key))) for key, part in value.items()), recorder, source, path
        )
    if isinstance(value, list):
        parts = (watched(part, recorder, source, (*path, index)) for index, part in enumerate(value))
        return _placed(WatchedList(parts), recorder, source, path)
    return marked(value, (Input(source, path),), direct=True)


def plain(value: Any) -> Any:
    """The value without any knowledge of inputs, as a compilation has it."""
    if isinstance(value, dict):
        return {plain(key): plain(part) for key, part in dict.items(value)}
    if isinstance(value, list):
        return [plain(part) for part in list.__iter__(value)]
    if isinstance(value, Text):
        return str.__str__(value)
    if isinstance(value, Whole):
        return int(value)
    return float(value) if isinstance(value, Decimal) else value


def inputs_of_entry(container: Any, key: Any) -> tuple[Input, ...]:
    """The input that an entry of a watched map or list is; nothing for any other container."""
    return (container.input(key),) if isinstance(container, WatchedMap | WatchedList) else ()


def entries_of(container: Mapping[Any, Any] | list[Any]) -> Iterator[tuple[Any, Any]]:
    """The entries of a map or a list, without noting that anybody looks at them."""
    return iter(dict.items(container)) if isinstance(container, dict) else enumerate(list.__iter__(container))  # type: ignore[arg-type]


def _placed(container: Any, recorder: Recorder, source: str | int, path: FieldPath) -> Any:
    container.recorder, container.source, container.path = recorder, source, path
    return container
