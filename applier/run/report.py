"""Reports the results of a run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from applier.outcome import UNDONE, Action, Outcome
from applier.ref import Ref
from applier.wait.ready import Waited


@dataclass(slots=True, eq=False)
class Report:
    """Holds the outcome of each object, pruned ones last.

    `requests` counts the requests of the run, by verb and plural; `seconds` is wall time. `waited` holds the readiness of each object that
    was waited for. `errors` are those of the run itself after objects were written; `approval` is the hash that approves deletions that
    were held because they exceed the limit.
    """

    outcomes: list[Outcome]
    seconds: float = 0.0
    requests: Counter[tuple[str, str]] = field(default_factory=Counter)
    waited: list[Waited] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    approval: str = ""

    @property
    def counts(self) -> Counter[Action]:
        """Counts the objects by final action."""
        return Counter(outcome.action for outcome in self.outcomes)

    @property
    def ok(self) -> bool:
        """Reports whether all objects are in their desired state, and ready if that was waited for."""
        return not self.problems()

    def problems(self) -> dict[str, list[Ref]]:
        """Returns the problems of the run, each reason once, with its objects: failed, then held, then not ready."""
        undone = [outcome for outcome in self.outcomes if outcome.action in UNDONE]
        problems: dict[str, list[Ref]] = {error: [] for error in self.errors}
        for outcome in sorted(undone, key=lambda outcome: outcome.action is Action.HELD):
            problems.setdefault(outcome.reason, []).append(outcome.step.ref)
        for waited in self.waited:
            if waited.reason:
                problems.setdefault(waited.reason, []).append(waited.ref)
        return problems
