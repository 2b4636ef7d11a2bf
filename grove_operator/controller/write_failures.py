"""Tracks which objects of a key cannot be written, and words what is reported of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from applier.errors import Forbidden, Invalid
from applier.loop import Result
from applier.outcome import Action, Outcome
from applier.plan.planner import NOT_SERVED
from applier.ref import Ref
from grove_compiler.step import Key
from grove_operator.controller.live_objects import COMPUTE_DOMAIN

GRACE = 10.0
"""Seconds for which a failure that may pass by itself is not reported: a server that restarts, a webhook that is rolled out."""
MIN_WORDING = 60.0
"""Seconds for which the words of a report stay. Each change is written, and tried at once: a policy that words each refusal anew, with the
name of its own pod, say, would be asked without end."""
WAYS_OUT = "delete it, rename what conflicts with it, or hand it over with `grove adopt --field-manager grove-operator`"
"""What people can do about an object of somebody else that has the name of one of ours."""
CONTESTED = "is changed by another client, or an admission webhook, after each write of the operator, which writes it less and less often"
OVERRIDDEN = "stays as it was when the operator writes it, since an admission webhook sets other values"
_NUMBERED = re.compile(r"[0-9a-f-]*[0-9][0-9a-f-]*")


class _Failure(NamedTuple):
    """Represents an object that cannot be written, `since` when, and the words for it, which date from `worded`."""

    message: str
    may_pass: bool
    since: float
    worded: float


class WriteFailures:
    """Tracks the objects that the server does not take at the last reconciliation of each key. Times are in seconds since the epoch."""

    def __init__(self) -> None:
        self._failures: dict[Key, dict[Ref, _Failure]] = {}
        self._reported: dict[Key, dict[Ref, str]] = {}

    def observe(self, result: Result[Key], now: float) -> bool:
        """Takes in what came of a reconciliation; returns whether what is reported of the key changes."""
        key = result.key
        known = self._failures.pop(key, {})
        failures = {ref: _followed(known.get(ref), message, may_pass, now) for ref, message, may_pass in _failures(result)}
        reported = {ref: one.message for ref, one in failures.items() if not one.may_pass or now - one.since >= GRACE}
        is_changed = reported != self._reported.pop(key, {})
        if failures:
            self._failures[key] = failures
        if reported:
            self._reported[key] = reported
        return is_changed

    def reported(self, key: Key) -> Mapping[Ref, str]:
        """Returns the objects of which is reported that they cannot be written, with a message for each."""
        return self._reported.get(key, {})

    def forget(self, key: Key) -> None:
        """Forgets a key that is gone."""
        self._failures.pop(key, None)
        self._reported.pop(key, None)


def _failures(result: Result[Key]) -> Iterator[tuple[Ref, str, bool]]:
    """Yields objects that were not written, or in vain; what is said of them, and whether the failure may pass by itself.

    What the server refuses for its content or by its access rules does not; nor does what was not tried, because its kind cannot be read or
    somebody else's object has its name.
    """
    for outcome in result.outcomes:
        ref = outcome.step.ref
        if ref in result.contested:
            yield ref, f"{ref} {CONTESTED}: {outcome.reason}", False
        elif outcome.is_overridden:
            yield ref, f"{ref} {OVERRIDDEN}: {outcome.step.reason}", False
        elif outcome.step.foreign:
            yield ref, f"{ref} {outcome.reason}; {WAYS_OUT}", False
        elif outcome.action is not Action.FAILED or _waits_for_driver(outcome):
            continue
        elif outcome.error is None:
            yield ref, f"{ref} is left unchanged: {outcome.reason}", False
        elif isinstance(outcome.error, Invalid | Forbidden):
            yield ref, f"the server rejects {ref}: {outcome.reason}", False
        else:
            yield ref, f"{ref} cannot be written, which is tried again: {outcome.reason}", True


def _followed(known: _Failure | None, message: str, may_pass: bool, now: float) -> _Failure:
    """Returns what is known of a failure now: words that only differ in numbers stay, others for a while.

    A refusal counts at once, also where a failure came first that may have passed.
    """
    if known is None:
        return _Failure(message, may_pass, now, now)
    is_same = _without_numbers(known.message) == _without_numbers(message)
    if known.may_pass <= may_pass and (is_same or now - known.worded < MIN_WORDING):
        return known
    return _Failure(message, may_pass, known.since, now)


def _without_numbers(message: str) -> str:
    return _NUMBERED.sub("#", message)


def _waits_for_driver(outcome: Outcome) -> bool:
    """Returns whether a ComputeDomain waits for NVIDIA's driver, of which the condition ComputeDomainsUnavailable tells."""
    ref = outcome.step.ref
    return (ref.group, ref.kind) == (COMPUTE_DOMAIN.group, COMPUTE_DOMAIN.kind) and outcome.reason.startswith(NOT_SERVED)
