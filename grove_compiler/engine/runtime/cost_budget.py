"""Bounds what rules may do: their expressions are charged for what they go through, in counted steps, not time.

Built-in rules are charged for the lists that their loops and filters go through, by their lengths, which costs next to nothing. The
rules of users are metered: each expression is charged for its result, and each loop and filter for what it goes through, by size: a list of
lists costs as much as all of its items, however often one is repeated.
"""

from __future__ import annotations

from collections.abc import Sized
from typing import Any

from grove_compiler.engine.runtime.access import MAX_TEXT, EvaluationError, as_text

MAX_STEPS = 10_000_000
STEPS_OF_AN_OBJECT = 10_000
CHARACTERS_OF_A_STEP = 64
STEPS_OF_A_FINDING = 100
STEPS_OF_AN_OPERATION = 20
"""The steps of one patch operation, which copies the containers on its path. At one step, two loops of 100,000 would run for a minute."""

_FOUND_AT_ONCE = (dict, str, set, frozenset, type(None))
"""What is not gone through to find something in it, as lists are."""


class CostBudget:
    """Counts the steps of one run of a rule. The bound grows with each object that the rule makes: big sets take more steps."""

    __slots__ = ("_results", "_spent")

    def __init__(self) -> None:
        self.start()

    def start(self, results: Sized = ()) -> None:
        """Starts the count of a new run, which appends its results to `results`."""
        self._spent, self._results = 0, results

    def charge(self, value: Any) -> Any:
        """Charges for a value by its size, and returns it. Raises `EvaluationError` when the budget is exceeded."""
        if isinstance(value, list | tuple | dict):
            self._charge_container(value)
        elif isinstance(value, str):
            self._charge_text(len(value))
        else:
            self.spend(1)
        return value

    def walk(self, items: Any) -> Any:
        """Charges for going through a list once, by its length alone, and returns it. Raises `EvaluationError` as `spend` does."""
        if items.__class__ is list or (not isinstance(items, _FOUND_AT_ONCE) and hasattr(items, "__len__")):
            self.spend(len(items))
        return items

    def concat(self, *parts: Any) -> str:
        """Joins the parts into one text, charged before it is made."""
        texts = [as_text(part) for part in parts]
        self._charge_text(sum(map(len, texts)))
        return "".join(texts)

    def spend(self, steps: int) -> None:
        """Charges a number of steps. Raises `EvaluationError` when the budget is exceeded."""
        self._spent += steps
        if self._spent > MAX_STEPS and self._spent > MAX_STEPS + STEPS_OF_AN_OBJECT * len(self._results):
            raise EvaluationError(
                f"it takes more than {MAX_STEPS:,} steps, and {STEPS_OF_AN_OBJECT:,} for each object that it makes; loops over loops, "
                "and lists of long lists, multiply"
            )

    def _charge_text(self, length: int) -> None:
        if length > MAX_TEXT:
            raise EvaluationError(f"a text of {length:,} characters; at most {MAX_TEXT:,}")
        self.spend(1 + length // CHARACTERS_OF_A_STEP)

    def _charge_container(self, value: Any) -> None:
        """Charges for every part of a container.

        Calls `dict.values` and `list.__iter__` directly: a `TrackedDict` overrides them, and would record this as a read of the rule.
        """
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
