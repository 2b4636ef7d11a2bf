"""What a run came to."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from applier.outcome import UNDONE, Action, Outcome
from applier.ref import Ref
from applier.wait.ready import Waited


@dataclass(slots=True, eq=False)
class Report:
    """What became of each object, those that were pruned last.

    `requests` counts what was sent, by verb and plural; `seconds` is wall time. `waited` says of each object that was waited for whether
    it is ready. `troubles` are what went wrong with the run itself after objects were written, and `approval` is the hash that approves
    deletes that were held for being too many.
    """

    outcomes: list[Outcome]
    seconds: float = 0.0
    requests: Counter[tuple[str, str]] = field(default_factory=Counter)
    waited: list[Waited] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    approval: str = ""

    @property
    def counts(self) -> Counter[Action]:
        """How many objects ended as what."""
        return Counter(outcome.action for outcome in self.outcomes)

    @property
    def ok(self) -> bool:
        """Whether everything is as it was wanted, and ready where that was waited for."""
        return not self.problems()

    def problems(self) -> dict[str, list[Ref]]:
        """Returns what went wrong, each reason once, with all objects that it concerns: failed, then held, then not ready."""
        undone = [outcome for outcome in self.outcomes if outcome.action in UNDONE]
        problems: dict[str, list[Ref]] = {trouble: [] for trouble in self.troubles}
        for outcome in sorted(undone, key=lambda outcome: outcome.action is Action.HELD):
            problems.setdefault(outcome.reason, []).append(outcome.step.ref)
        for waited in self.waited:
            if waited.reason:
                problems.setdefault(waited.reason, []).append(waited.ref)
        return problems
