"""Configures an apply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from applier.execute.options import ExecuteOptions
from applier.plan import CLIENT_SIDE, Intent

if TYPE_CHECKING:
    from applier.prune import ApplySetOptions
    from applier.readiness import ReadinessRule


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
