"""Tracks the permissions that the operator lacks, for its watches and for the writes of the last reconciliation of each key."""

from __future__ import annotations

from collections.abc import Iterator

from applier.cache import WatchCache
from applier.errors import Forbidden
from applier.loop import Result
from grove_compiler.step import Key

Right = tuple[str, str]
"""A verb, and a resource with its group: `list`, `podgangs.scheduler.grove.io`."""


class MissingRights:
    """Tracks refusals by key, until a reconciliation of the key is not refused."""

    def __init__(self) -> None:
        self._by_key: dict[Key, dict[Right, str]] = {}

    def result(self, result: Result[Key]) -> None:
        """Records the refusals of a reconciliation."""
        refused = dict(_missing([result.error, *(outcome.error for outcome in result.outcomes)]))
        if refused:
            self._by_key[result.key] = refused
        else:
            self._by_key.pop(result.key, None)

    def now(self, cache: WatchCache) -> dict[Right, str]:
        """Returns the missing permissions, each with the message of a refusal, which names the rule that would grant it."""
        missing = dict(_missing(cache.forbidden()))
        for refused in self._by_key.values():
            missing |= refused
        return missing


def _missing(errors: list[Exception | None] | list[Forbidden]) -> Iterator[tuple[Right, str]]:
    for error in errors:
        if isinstance(error, Forbidden) and error.missing[0]:
            yield error.missing, str(error)
