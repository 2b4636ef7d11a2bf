"""What a run came to."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from applier.cluster import Cluster
from applier.outcome import Action, Outcome
from applier.ref import Ref

UNDONE = frozenset({Action.FAILED, Action.HELD})


@dataclass(slots=True, eq=False)
class Report:
    """What became of each object. `requests` counts what was sent, by verb and plural; `seconds` is wall time."""

    outcomes: list[Outcome]
    seconds: float = 0.0
    requests: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def counts(self) -> Counter[Action]:
        """How many objects ended as what."""
        return Counter(outcome.action for outcome in self.outcomes)

    @property
    def ok(self) -> bool:
        """Whether everything is as it was wanted."""
        return not any(outcome.action in UNDONE for outcome in self.outcomes)

    def problems(self) -> dict[str, list[Ref]]:
        """What went wrong, each reason once, with all objects that it concerns; what failed comes before what is held."""
        undone = [outcome for outcome in self.outcomes if outcome.action in UNDONE]
        found: dict[str, list[Ref]] = {}
        for outcome in sorted(undone, key=lambda outcome: outcome.action is Action.HELD):
            found.setdefault(outcome.reason, []).append(outcome.step.ref)
        return found


def requests_of(cluster: Cluster) -> Counter[tuple[str, str]]:
    """How many requests a cluster has sent so far, by verb and plural; one that does not count them has sent none."""
    return Counter(getattr(cluster, "requests", {}))
