"""Formats objects, steps and outcomes as text and JSON, and folds messages that many objects share: the first by name, the others counted.

A missing namespace or permission fails a thousand objects for one reason. With a line for each, as in kubectl, other errors would scroll
off the screen. `-o json` and journals have every object.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from applier.outcome import ABSENT, UNDONE, Action, FieldChange, Outcome, Owner, Step, dotted
from applier.ref import Ref
from grove_cli.cluster.session import say

if TYPE_CHECKING:
    from applier.run.options import Report


COLOURS = {
    Action.CREATED: "32",
    Action.CONFIGURED: "33",
    Action.RECREATED: "35",
    Action.PRUNED: "31",
    Action.YIELDED: "36",
    Action.HELD: "33",
    Action.FAILED: "31",
}
"""SGR colours of actions; unchanged has none."""

BY_HAND = "it would have to be recreated: delete it and apply again, or allow it in its rule (policy.recreate)"


def name_of(ref: Ref) -> str:
    """Returns kubectl's `kind.group/name`."""
    kind = f"{ref.kind}.{ref.group}" if ref.group else ref.kind
    return f"{kind.lower()}/{ref.name}"


def tally(counts: Mapping[Action, int]) -> str:
    """Returns `2 created, 1 configured, 997 unchanged`, or `nothing`."""
    return ", ".join(f"{counts[action]} {action}" for action in Action if counts.get(action)) or "nothing"


def reason_of(result: Step | Outcome) -> str:
    """Returns the reason of a step or outcome, with options of the command line instead of those of the applier's API."""
    from applier.plan.reasons import BY_FORCE, RECREATE  # not at the start: what only draws a tree plans nothing

    step = result.step if isinstance(result, Outcome) else result
    reason = result.reason or step.reason
    if BY_FORCE in reason:
        managers = dict.fromkeys(conflict.owner.manager for conflict in step.conflicts)
        reason = reason.replace(BY_FORCE, f"({' '.join(_forced(manager) for manager in managers) or '--force-conflicts'})")
    return reason.replace(RECREATE, BY_HAND)


def _forced(manager: str) -> str:
    import shlex  # only for conflicts

    return f"--force-conflicts={shlex.quote(manager)}"


def step_value(step: Step) -> dict[str, Any]:
    """Returns a step as a JSON value without empty fields."""
    value: dict[str, Any] = {**ref_value(step.ref), "action": str(step.action), "reason": reason_of(step)}
    value["changes"] = [_change_value(change) for change in step.changes]
    value["conflicts"] = [{"path": dotted(each.path), "owner": _owner_value(each.owner)} for each in step.conflicts]
    return {key: part for key, part in value.items() if part not in ("", [])}


def outcome_value(outcome: Outcome) -> dict[str, Any]:
    """Returns an outcome as a JSON value without empty fields. `seconds` is its duration."""
    value = step_value(outcome.step)
    value |= {
        "action": str(outcome.action),
        "reason": reason_of(outcome) if outcome.reason else "",
        "uid": outcome.uid,
        "seconds": round(outcome.seconds, 4),
    }
    return {key: part for key, part in value.items() if part not in ("", [], 0.0)}


def summary_value(actions: Iterable[Action]) -> dict[str, int]:
    """Returns the number of objects by action."""
    counts = Counter(actions)
    return {str(action): counts[action] for action in Action if action in counts}


def ref_value(ref: Ref) -> dict[str, str]:
    """Returns an object reference as a JSON value."""
    return {"group": ref.group, "kind": ref.kind, "namespace": ref.namespace, "name": ref.name}


def _change_value(change: FieldChange) -> dict[str, Any]:
    value: dict[str, Any] = {"path": dotted(change.path)}
    value |= {key: part for key, part in (("old", change.old), ("new", change.new)) if part is not ABSENT}
    if change.owners:
        value["owners"] = [_owner_value(owner) for owner in change.owners]
    return value


def _owner_value(owner: Owner) -> dict[str, str]:
    return {key: value for key, value in owner._asdict().items() if value}


def steps_report(steps: Sequence[Step]) -> dict[str, Any]:
    """Returns every step, and their number by action."""
    return {"objects": [step_value(step) for step in steps], "summary": summary_value(step.action for step in steps)}


def outcomes_report(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Returns the outcome of every object, and their number by action."""
    return {"objects": [outcome_value(outcome) for outcome in outcomes], "summary": summary_value(outcome.action for outcome in outcomes)}


def run_report(report: Report) -> dict[str, Any]:
    """Returns the outcomes of a run, the objects that are not ready, errors of the run, and the hash that approves held deletions."""
    value = outcomes_report(report.outcomes)
    waiting = [waited for waited in report.waited if waited.reason]
    value["notReady"] = [{**ref_value(waited.ref), "reason": waited.readiness.reason} for waited in waiting]
    value |= {"troubles": report.errors, "approval": report.approval}
    return {key: part for key, part in value.items() if part not in ("", []) or key == "objects"}


T = TypeVar("T")

NAMED = 3
"""The number of objects with a line of their own."""

OTHERS = re.compile(r"\bwaits for .+, which ")
TIMES = re.compile(r" at \d{4}-\d\d-\d\dT[\d:.]+Z")


def alike(ref: Ref, why: str) -> str:
    """Returns a reason without the parts that differ between objects: their names, times, and the names of those that they wait for."""
    why = why.replace(f'"{ref.name}"', '"…"').replace(f"'{ref.name}'", "'…'").replace(str(ref), "…")
    return OTHERS.sub("waits for another, which ", TIMES.sub("", why))


class Folding:
    """Prints the first lines of each reason at once, and with `end` the number of the others."""

    def __init__(self, print_line: Callable[[str], None] = say, full: str = " (-o json names all)") -> None:
        """Takes the function that prints lines, and in `full` a hint where the full list is."""
        self._print, self._full = print_line, full
        self._alike: dict[str, list[str]] = {}
        self._more: dict[str, int] = {}

    def add(self, ref: Ref, why: str, line: str = "") -> None:
        """Adds an object with its reason. Its line is `REF: WHY` by default."""
        self.line(line or f"{ref}: {why}", alike(ref, why))

    def line(self, line: str, reason: str) -> None:
        """Adds a line with its reason."""
        lines = self._alike.setdefault(reason, [])
        if len(lines) < NAMED:
            self._print(line)
        if len(lines) <= NAMED:
            lines.append(line)
        else:
            self._more[reason] = self._more.get(reason, 1) + 1

    def end(self) -> None:
        """Prints the counts. A single further object is printed by name, which is as short."""
        for reason, lines in self._alike.items():
            if reason in self._more:
                self._print(f"and {self._more[reason]} more: {reason}{self._full}")
            elif len(lines) > NAMED:
                self._print(lines[NAMED])
        self._alike.clear()
        self._more.clear()


class More(NamedTuple):
    """The number of further objects like the previous one."""

    number: int
    reason: str


def folded(items: Sequence[T], step_of: Callable[[T], Step]) -> Iterable[T | More]:
    """Yields items, and of those that fail for the same reason only the first, followed by the number of the others."""
    groups: dict[tuple[str, int], list[int]] = {}
    for number, item in enumerate(items):
        step = step_of(item)
        if step.action in UNDONE:
            groups.setdefault((f"{step.action}: {alike(step.ref, reason_of(step))}", step.wave), []).append(number)
    more: dict[int, More] = {}
    omitted: set[int] = set()
    for (reason, _), numbers in groups.items():
        if len(numbers) > NAMED + 1:
            more[numbers[NAMED - 1]] = More(len(numbers) - NAMED, reason)
            omitted.update(numbers[NAMED:])
    for number, item in enumerate(items):
        if number not in omitted:
            yield item
        if number in more:
            yield more[number]
