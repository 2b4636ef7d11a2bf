"""Tracks what is read of the model, by copies of its instances whose attributes record at every read what they were computed from.

Rules see inputs through model classes whose attributes are computed once and cached, which would hide their inputs from a second
reader. So an explanation reads copies, of subclasses of its own. Patching the classes themselves would be less code, but a compilation
that runs at the same time uses them too and would be recorded as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import is_dataclass
from functools import cached_property
from typing import Any

from grove_compiler.engine.tracing.tracking import PASSED, READ, Input, ReadRecorder, Reads, Tracked, TrackedDict, TrackedList, inputs_of
from grove_compiler.engine.tracing.tracking import tracked_scalar as scalar


class TrackedModel:
    """Makes and holds the copies of one explanation. The model must not change while they are in use, and compares by identity.

    A copy has the fields of its instance and computes lazy attributes anew, even those already cached. Every instance reached through a
    copy is a copy as well, and always the same one, so that `is` keeps its meaning.
    """

    def __init__(self, recorder: ReadRecorder, tracker_key: str = "") -> None:
        """`tracker_key` is the key of an instance's `__dict__` under which its lazy attributes look for a function that computes them."""
        self.recorder = recorder
        self.tracker_key = tracker_key
        self._classes: dict[type, type] = {}
        self._copies: dict[Any, Any] = {}  # by their instances, which compare by identity, as all records do
        self._rests: dict[tuple[Any, str], Reads] = {}
        self._results: dict[tuple[Any, cached_property[Any]], tuple[Any, Reads]] = {}

    def describe(self, instance: Any, source: str, names: Iterable[str]) -> None:
        """Declares some fields of an instance to be inputs themselves, as settings are."""
        copy = self.track(instance, {})
        for name in names:
            self._rests[copy, name] = Input(source, (name,)).reads()

    def track(self, value: Any, reads: Reads) -> Any:
        """Returns a value with copies in place of model instances, and with scalars that know their inputs.

        `reads` is what was read to make the value; every part that does not know its own inputs depends on all of it.
        """
        if isinstance(value, TrackedDict | TrackedList):
            return value
        if isinstance(value, dict):
            return {key: self.track(part, reads) for key, part in value.items()}
        if isinstance(value, Sequence) and not isinstance(value, str):  # a list, or one that makes its items on demand
            parts = [self.track(part, reads) for part in value]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts) if isinstance(value, tuple) else parts
        if is_dataclass(value):
            return self._copy(value, reads)
        return scalar(value, inputs_of(reads)) if reads else value

    def _copy(self, instance: Any, reads: Reads) -> Any:
        kind: Any = type(instance)
        if kind in self._classes.values():
            return instance
        if instance not in self._copies:
            copy: Any = object.__new__(self._classes.setdefault(kind, self._subclass(kind)))
            self._copies[instance] = copy
            for name, field in kind.__dataclass_fields__.items():
                if field.init or not hasattr(kind, "__post_init__"):
                    object.__setattr__(copy, name, object.__getattribute__(instance, name))
                self._rests[copy, name] = reads
            if hasattr(copy, "__dict__"):
                copy.__dict__[self.tracker_key] = self._lazy
            if hasattr(kind, "__post_init__"):
                self.recorder.listen(copy.__post_init__)
        return self._copies[instance]

    def _subclass(self, kind: Any) -> type:
        """Returns a subclass of the same layout whose instances record the reads of their fields."""
        fields = kind.__dataclass_fields__

        def getattribute(copy: Any, name: str) -> Any:
            value = object.__getattribute__(copy, name)
            return self._field(copy, name, value) if name in fields else value

        def setattribute(copy: Any, name: str, value: Any) -> None:
            """Sets a field in `__post_init__`; it depends on what was read since the previous field was set."""
            self._rests[copy, name] = reads = self.recorder.take()
            object.__setattr__(copy, name, self.track(value, reads))

        return type(kind.__name__, (kind,), {"__slots__": (), "__getattribute__": getattribute, "__setattr__": setattribute})

    def _field(self, copy: Any, name: str, value: Any) -> Any:
        reads = self._rests[copy, name]
        value = self.track(value, reads)
        if isinstance(value, Tracked):
            self.recorder.read(dict.fromkeys(reads, PASSED) | dict.fromkeys(value.inputs, READ))
        elif not isinstance(value, TrackedDict | TrackedList) and not _is_model(value):
            # None says that a part of the model is not there, and the items of a list know their own inputs.
            self.recorder.read(reads, PASSED if value is None or isinstance(value, list | dict) else None)
        return value

    def _lazy(self, copy: Any, attribute: cached_property[Any]) -> Any:
        """Returns the value of a lazy attribute, and records what it was computed from for every reader."""
        if (copy, attribute) not in self._results:
            value, reads = self.recorder.listen(lambda: attribute.func(copy))
            self._results[copy, attribute] = self.track(value, reads), reads
        value, reads = self._results[copy, attribute]
        self.recorder.read(reads, PASSED if _is_model(value) else None)
        return value


def _is_model(value: Any) -> bool:
    """Reports whether a value is a model instance or a list of them: a step on the way to a value, not a value."""
    while type(value) in (list, tuple):
        value = next(iter(value), None)
    return is_dataclass(value)
