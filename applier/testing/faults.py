"""Decides which faults a proxy injects, and when."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from typing import Literal

from applier.testing.counts import CountedRequest, is_write

Fault = Literal["conflict", "too-many-requests", "internal-error", "unavailable", "reset-before", "reset-after", "stall"]


@dataclass(slots=True, frozen=True)
class Script:
    """Probabilities are those of each request, attempts and watches included; everything else is exact.

    `drop_write` is the number of one write, from 1: its connection is dropped `before` it reaches the server, or `after` the server has
    done it and before the answer. `then` says what becomes of later requests: `go-on` serves them, `refuse` drops all, as if we were dead.
    `gone_every` ends a watch with 410 after so many events, counted over all watches. `stall_seconds` and `retry_after` are in seconds.
    """

    seed: int = 0
    conflict: float = 0.0  # 409, of writes
    too_many_requests: float = 0.0  # 429 with Retry-After
    internal_error: float = 0.0  # 500
    unavailable: float = 0.0  # 503
    reset: float = 0.0  # half of them before the server sees the request, half after it has answered; watches after an event
    stall: float = 0.0  # no answer for a while, then the right one; watches fall silent after an event
    stall_seconds: float = 5.0
    retry_after: int = 1
    gone_every: int = 0
    drop_write: int = 0
    drop_when: Literal["before", "after"] = "before"
    then: Literal["go-on", "refuse"] = "go-on"


class Chances:
    """Decides the fault of each request.

    The n-th attempt of the same request always fares alike under the same seed, in whatever order requests come.
    """

    def __init__(self, script: Script) -> None:
        self.script = script
        self.writes = 0
        self._attempts: Counter[tuple[str, str]] = Counter()

    def is_dropped_write(self, request: CountedRequest) -> bool:
        """Reports whether this write is the one whose connection is dropped. Must be called once for each request."""
        if not is_write(request):
            return False
        self.writes += 1
        return self.writes == self.script.drop_write

    def of(self, request: CountedRequest, target: str) -> Fault | None:
        """Returns the fault of this attempt, or none."""
        script = self.script
        attempt = (request.verb, target)
        self._attempts[attempt] += 1
        draw = random.Random(f"{script.seed} {attempt} {self._attempts[attempt]}").random()
        odds: list[tuple[Fault, float]] = [
            ("conflict", script.conflict if is_write(request) else 0.0),
            ("too-many-requests", script.too_many_requests),
            ("internal-error", script.internal_error),
            ("unavailable", script.unavailable),
            ("reset-before", script.reset / 2),
            ("reset-after", script.reset / 2),
            ("stall", script.stall),
        ]
        for fault, chance in odds:
            if draw < chance:
                return fault
            draw -= chance
        return None


ANSWERS: dict[str, tuple[int, str, str]] = {
    "conflict": (409, "Conflict", "the object has been modified; please apply your changes to the latest version and try again"),
    "too-many-requests": (429, "TooManyRequests", "too many requests, please try again later"),
    "internal-error": (500, "InternalError", "an error on the server has prevented the request from succeeding"),
    "unavailable": (503, "ServiceUnavailable", "the server is currently unable to handle the request"),
    "gone": (410, "Expired", "too old resource version"),
}
"""Faults that are error responses: the HTTP status, and reason and message of the Status object."""


def status(fault: str, retry_after: int | None = None) -> dict[str, object]:
    """Returns the Status object of an error response."""
    code, reason, message = ANSWERS[fault]
    answer: dict[str, object] = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    }
    return answer | ({"details": {"retryAfterSeconds": retry_after}} if retry_after is not None else {})
