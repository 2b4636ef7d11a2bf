"""Names controllers, reasons and errors for metrics and spans, with few distinct values."""

from __future__ import annotations

import re

from applier.errors import ApplierError
from applier.outcome import Action, Outcome
from grove_compiler.step import Key

STATUS = "its status"
"""The applier's reason for the write of a status."""
NOT_A_WORD = re.compile(r"[^A-Za-z]+")
MAX_LENGTH = 40
OTHER = "Other"


def controller(key: Key) -> str:
    """Returns the controller of a key: `podcliqueset`, `podcliqueset-replica`, or the kind of a topology."""
    return key.kind.lower() if key.replica is None else f"{key.kind.lower()}-replica"


def write_reason(outcome: Outcome) -> str:
    """Returns why an object was written, as one word of a small set: reasons that name fields or objects are not label values."""
    step = outcome.step
    if step.ref[:2] == ("", "Event"):
        return "Event"
    if step.reason == STATUS:
        return "Status"
    if outcome.action is Action.PRUNED:
        return _in_one_word(step.reason)
    if outcome.action is Action.CREATED:
        return "Missing"
    return "Patched" if step.patch else "Differs"


def error_type(error: BaseException | None) -> str:
    """Returns the type of an error: that of the applier for an answer of the server, `Fault` for a bug."""
    if error is None:
        return OTHER
    return type(error).__name__ if isinstance(error, ApplierError) else "Fault"


def _in_one_word(reason: str) -> str:
    """Returns a reason in CamelCase, as in `NoLongerWanted` for "no longer wanted"; `Other` for a long text."""
    word = "".join(part[:1].upper() + part[1:] for part in NOT_A_WORD.split(reason))
    return word if 0 < len(word) <= MAX_LENGTH else OTHER
