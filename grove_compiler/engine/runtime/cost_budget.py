"""How much the rules of users may do: their expressions pay for what they make and go through, in steps that are counted, not timed.

What ships is not metered, and costs nothing. A metered expression pays for its result, and each loop and filter for what it goes
through, by size: a list of lists costs as much as all of its items, however often one is repeated.
"""

from __future__ import annotations

from collections.abc import Sized
from typing import Any

from grove_compiler.engine.runtime.access import LARGEST_TEXT, EvaluationError, as_text

MOST_STEPS = 10_000_000
STEPS_OF_AN_OBJECT = 10_000
CHARACTERS_OF_A_STEP = 64
STEPS_OF_A_FINDING = 100
STEPS_OF_AN_OPERATION = 20
"""An operation of a patch copies the containers on its path. Paid as one step, two loops of 100,000 would take a minute to be stopped."""


class CostBudget:
    """What one run of a rule has used up. With each object that it makes, it may do more: big sets take more steps."""

    __slots__ = ("_made", "_spent")

    def __init__(self) -> None:
        self.start()

    def start(self, made: Sized = ()) -> None:
        """A new run, which puts what it makes into `made`."""
        self._spent, self._made = 0, made

    def charge(self, value: Any) -> Any:
        """The value, paid for. Raises `EvaluationError` when that is too much."""
        if isinstance(value, list | tuple | dict):
            self._charge_container(value)
        elif isinstance(value, str):
            self._charge_text(len(value))
        else:
            self.spend(1)
        return value

    def concat(self, *parts: Any) -> str:
        """The parts as one text, paid for before it is made."""
        texts = [as_text(part) for part in parts]
        self._charge_text(sum(map(len, texts)))
        return "".join(texts)

    def spend(self, steps: int) -> None:
        """So many steps."""
        self._spent += steps
        if self._spent > MOST_STEPS and self._spent > MOST_STEPS + STEPS_OF_AN_OBJECT * len(self._made):
            raise EvaluationError(
                f"it takes more than {MOST_STEPS:,} steps, and {STEPS_OF_AN_OBJECT:,} for each object that it makes; loops over loops, "
                "and lists of long lists, multiply"
            )

    def _charge_text(self, length: int) -> None:
        if length > LARGEST_TEXT:
            raise EvaluationError(f"a text of {length:,} characters; at most {LARGEST_TEXT:,}")
        self.spend(1 + length // CHARACTERS_OF_A_STEP)

    def _charge_container(self, value: Any) -> None:
        """Pays for every part of a value, without telling a watched one that anybody looks."""
        waiting = [value]
        while waiting:
            part = waiting.pop()
            if isinstance(part, dict):
                self.spend(1 + len(part))
                waiting += dict.values(part)
            elif isinstance(part, list | tuple):
                self.spend(1 + len(part))
                waiting += list.__iter__(part) if isinstance(part, list) else part
            elif isinstance(part, str) and len(part) > CHARACTERS_OF_A_STEP:
                self.spend(len(part) // CHARACTERS_OF_A_STEP)
