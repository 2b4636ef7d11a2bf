"""Models under observation: whoever reads an attribute reads what it was worked out from, also when it was worked out long ago.

Rules see inputs through model classes whose attributes are computed when first asked for, or when an instance is made. Both kinds
would hide what they rest on from a second reader. While a model is observed, they tell every reader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import is_dataclass
from typing import Any

from grove_compiler.engine.tracing.tracking import Decimal, Input, Reads, Recorder, Text, WatchedList, WatchedMap, Whole, inputs_of, marked

_KNOWN = (Text, Whole, Decimal)

Describe = Callable[[str], tuple[Input, ...]]
"""The inputs that an attribute of one certain instance stands for."""


class Observer:
    """Takes part in the attributes of classes, and of the descriptor `lazy` with its `func`, while `observing` is entered.

    Only instances that are made in the meantime are observed, so an observer serves one question or several, but no compilation.
    """

    def __init__(self, recorder: Recorder, lazy: type[Any], classes: Iterable[type[Any]]) -> None:
        self.recorder = recorder
        self.lazy = lazy
        self.classes = tuple(classes)
        self._computed: dict[tuple[int, int], tuple[Any, Any, Reads]] = {}
        self._assigned: dict[tuple[int, str], tuple[Any, tuple[Input, ...]]] = {}
        self._described: dict[int, tuple[Any, Describe]] = {}
        self._last: tuple[Any, tuple[Input, ...]] = (None, ())

    def describe(self, instance: Any, inputs: Describe) -> None:
        """Says what the attributes of one instance stand for: settings are inputs themselves."""
        self._described[id(instance)] = (instance, inputs)

    def forget(self) -> None:
        """Forgets what attributes were worked out from, so that they are worked out anew."""
        self._computed.clear()

    @contextmanager
    def observing(self) -> Iterator[None]:
        """The time in which models are observed. Not for threads: the classes are everybody's."""
        former = self.lazy.__dict__["__get__"]
        observer = self

        def get(descriptor: Any, instance: Any, _: type[Any] | None = None) -> Any:
            return descriptor if instance is None else observer._compute(descriptor, instance)

        self.lazy.__get__ = get
        for one in self.classes:
            one.__getattribute__ = self._getter()  # type: ignore[assignment]
            one.__setattr__ = self._setter()  # type: ignore[assignment]
        try:
            yield
        finally:
            self.lazy.__get__ = former
            for one in self.classes:
                del one.__getattribute__, one.__setattr__

    def _compute(self, descriptor: Any, instance: Any) -> Any:
        key = (id(instance), id(descriptor))
        if key not in self._computed:
            self.recorder.open()
            try:
                value = descriptor.func(instance)
            finally:
                reads = self.recorder.close()
            self._computed[key] = (instance, value, reads)
        _, value, reads = self._computed[key]
        self.recorder.replay(reads, as_values=not _is_model(value))
        return value

    def _getter(self) -> Callable[[Any, str], Any]:
        recorder, assigned, described = self.recorder, self._assigned, self._described

        def getattribute(instance: Any, name: str) -> Any:
            value = object.__getattribute__(instance, name)
            if isinstance(value, _KNOWN):
                recorder.read(value.inputs)
            elif (id(instance), name) in assigned:
                recorder.read(assigned[id(instance), name][1])
            if id(instance) in described and name in type(instance).__dataclass_fields__:
                recorder.read(described[id(instance)][1](name))
            return value

        return getattribute

    def _setter(self) -> Callable[[Any, str, Any], None]:
        def setattribute(instance: Any, name: str, value: Any) -> None:
            object.__setattr__(instance, name, self._taken(instance, name, value))

        return setattribute

    def _taken(self, instance: Any, name: str, value: Any) -> Any:
        """A value that an instance is made with, or gives itself.

        What it is made with rests on all that its maker has read by then; what it gives itself, on what it read since the field before.
        """
        if not self.recorder.is_listening:
            return value
        is_own = self._last[0] is instance
        reads = self.recorder.mark(keep=not is_own)  # what it reads for a field of its own does not decide whether it exists
        if reads or not is_own:
            all_reads = reads if is_own else self.recorder.so_far()
            self._last = (instance, inputs_of(all_reads) if any(all_reads.values()) else ())
        inputs = () if value is None and not reads else self._last[1]
        if not inputs or isinstance(value, (*_KNOWN, WatchedMap, WatchedList)) or _is_model(value):
            return value
        known = marked(value, inputs)
        if known is value:
            self._assigned[id(instance), name] = (instance, inputs)
        return known


def _is_model(value: Any) -> bool:
    """Whether it is a part of the model, or a list of parts: a step on the way to a value, not a value."""
    while type(value) in (list, tuple):
        value = next(iter(value), None)
    return is_dataclass(value)
