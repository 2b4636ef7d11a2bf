"""Limits how much one run may delete, and checks the approval of more."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import NamedTuple

from applier.errors import ApplierError

MIN_APPROVAL = 12  # hex digits of a hash that are enough to approve


class Budget(NamedTuple):
    """Represents a limit of deletions: a number of objects, or a percentage of the members, rounded down."""

    number: float
    percent: bool = False

    @classmethod
    def read(cls, text: str) -> Budget:
        """Reads `10` or `5%`. Raises `ApplierError`."""
        match = re.fullmatch(r"(\d+)|(\d+(?:\.\d+)?)%", text.strip())
        if not match or float(match[2] or 0) > 100:
            raise ApplierError(
                f"{text!r} is not a limit for pruning: specify a number of objects such as 10, or a percentage of the ApplySet such as 5%"
            )
        return cls(int(match[1])) if match[1] else cls(float(match[2]), True)

    def allows(self, deletes: int, members: int) -> bool:
        """Reports whether one run may delete this many of the set's members."""
        return deletes <= (self.number * members // 100 if self.percent else self.number)

    def __str__(self) -> str:
        """Returns the text that `read` parses."""
        return f"{self.number:g}%" if self.percent else f"{self.number:g}"


def approval_hash(uids: Iterable[str]) -> str:
    """Returns the SHA-256, as hex, of exactly these objects: their UIDs in order, a line each. Any other set of objects has another."""
    return hashlib.sha256("".join(f"{uid}\n" for uid in sorted(uids)).encode()).hexdigest()


def approves(approval: str, expected: str) -> bool:
    """Reports whether `approval` is the hash `expected`, or at least its first `MIN_APPROVAL` digits."""
    return len(approval) >= MIN_APPROVAL and expected.startswith(approval.lower())
