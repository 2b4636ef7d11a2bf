"""Which permissions the operator lacks: for what it watches, and for what it tried to write when it last looked at a key."""

from __future__ import annotations

from collections.abc import Iterator

from applier.cache import WatchCache
from applier.errors import Forbidden
from applier.loop import Result
from grove_compiler.step import Key

Right = tuple[str, str]
"""A verb, and a resource with its group: `list`, `podgangs.scheduler.grove.io`."""


class MissingRights:
    """Remembers refusals as long as they last: a key that goes well is refused nothing any more."""

    def __init__(self) -> None:
        self._of_keys: dict[Key, dict[Right, str]] = {}

    def result(self, result: Result[Key]) -> None:
        """Takes what came of a look at a key."""
        refused = dict(_missing([result.error, *(one.error for one in result.outcomes)]))
        if refused:
            self._of_keys[result.key] = refused
        else:
            self._of_keys.pop(result.key, None)

    def now(self, cache: WatchCache) -> dict[Right, str]:
        """Returns what is missing now, each with the words of a refusal: they say what would allow it."""
        known = dict(_missing(cache.forbidden()))
        for refused in self._of_keys.values():
            known |= refused
        return known


def _missing(errors: list[Exception | None] | list[Forbidden]) -> Iterator[tuple[Right, str]]:
    for one in errors:
        if isinstance(one, Forbidden) and one.missing[0]:
            yield one.missing, str(one)
