"""What an apply is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from applier.execute.options import ExecuteOptions
from applier.plan import CLIENT_SIDE, Intent

if TYPE_CHECKING:
    from applier.prune import ApplySetOptions
    from applier.readiness import Rule


@dataclass(frozen=True, slots=True, eq=False)
class WaitFor:
    """Afterwards it is waited until all objects are ready, by built-in rules and these, for so many seconds."""

    seconds: float
    rules: Sequence[Rule] = ()


@dataclass(frozen=True, slots=True, eq=False)
class ApplyOptions(ExecuteOptions):
    """What an apply is asked for, in the words of kubectl's flags where it has them.

    Objects are written under `field_manager`, and only where something differs. `force_conflicts` names managers whose fields may be
    taken (`*`: all), `take_over` those whose ownership becomes ours. With `applyset` the graph is kept as a recorded set and pruned.
    Pruning and waiting come after all is written, and only if all of it was.
    """

    field_manager: str
    _: KW_ONLY
    force_conflicts: tuple[str, ...] = ()
    take_over: tuple[str, ...] = CLIENT_SIDE
    applyset: ApplySetOptions | None = None
    wait: WaitFor | None = None

    @property
    def intent(self) -> Intent:
        """The same in the words of a plan."""
        return Intent(self.field_manager, self.force_conflicts, self.take_over)
