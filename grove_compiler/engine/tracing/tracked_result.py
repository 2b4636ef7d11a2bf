"""The object so far, as a patch sees it: plain values that note what they rest on, and that remember how they were made."""

from __future__ import annotations

from typing import Any

from grove_compiler.engine.tracing.tracking import NotingList, NotingMap, Reads, Recorder


class SeenMap(NotingMap):
    """A map of the object. `made` has the same entries, traced; `rests` says what those that are scalars rest on."""

    __slots__ = ("made", "recorder", "rests")
    made: dict[Any, Any]
    rests: dict[Any, Reads]
    recorder: Recorder

    def read(self, key: Any) -> None:
        self.recorder.replay(self.rests.get(key, {}))

    def read_all(self) -> None:
        for reads in self.rests.values():
            self.recorder.replay(reads)


class SeenList(NotingList):
    """A list of the object. `made` has the same items, traced; `rests` says what those that are scalars rest on."""

    __slots__ = ("made", "recorder", "rests")
    made: list[Any]
    rests: dict[int, Reads]
    recorder: Recorder

    def read(self, index: int) -> None:
        self.recorder.replay(self.rests.get(index, {}))

    def read_all(self) -> None:
        for reads in self.rests.values():
            self.recorder.replay(reads)
