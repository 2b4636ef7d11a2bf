"""Defines what is known of a pod over time."""

from __future__ import annotations

from grove_compiler.record import record


@record
class Span:
    """A pod of an index: in one attempt of a job, or the n-th one known of a service.

    Times are in seconds since the epoch; `opened` is none while it is gated, `began` before its containers start, `ended` while it runs.
    `state` is Pending, Running, Succeeded, Failed, or Ended for a pod that was deleted.
    """

    clique: str
    index: int
    replica: int
    attempt: int
    made: float
    opened: float | None
    began: float | None
    ended: float | None
    state: str
    detail: str = ""

    @property
    def rank(self) -> str:
        """The hostname of the pod, the same for all its successors."""
        return f"{self.clique}-{self.index}"


def number_in(value: object, default: int) -> int:
    """Returns the number in a label or a field, `default` in place of anything else."""
    text = str(value)
    return int(text) if text.isascii() and text.isdecimal() else default
