"""Configures an apply, and reports its results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING

from applier.execute.options import ExecuteOptions
from applier.outcome import UNDONE, Action, Outcome
from applier.plan import CLIENT_SIDE, Intent
from applier.ref import Ref

if TYPE_CHECKING:
    from applier.prune import ApplySetOptions
    from applier.readiness import ReadinessRule
    from applier.wait.ready import Waited


@dataclass(frozen=True, slots=True, eq=False)
class WaitFor:
    """Configures the wait after an apply: until all objects are ready by built-in rules and these, for so many seconds at most."""

    seconds: float
    rules: Sequence[ReadinessRule] = ()


@dataclass(frozen=True, slots=True, eq=False)
class ApplyOptions(ExecuteOptions):
    """Configures an apply, with the names of kubectl's flags where it has them.

    Objects are written under `field_manager`, and only if they differ. `force_conflicts` names managers whose fields may be taken
    (`*`: all), `take_over` those whose ownership becomes ours. With `applyset` the graph is applied as an ApplySet, and pruned. Pruning
    and waiting follow only if all objects were written.
    """

    field_manager: str
    _: KW_ONLY
    force_conflicts: tuple[str, ...] = ()
    take_over: tuple[str, ...] = CLIENT_SIDE
    applyset: ApplySetOptions | None = None
    wait: WaitFor | None = None

    @property
    def intent(self) -> Intent:
        """Returns the options that planning needs."""
        return Intent(self.field_manager, self.force_conflicts, self.take_over)


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
