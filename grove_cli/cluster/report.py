"""Reports of runs as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from applier.outcome import Outcome, Step
from grove_cli import output as outputs
from grove_cli.cluster.words import outcome_value, ref_value, step_value, summary_value

if TYPE_CHECKING:
    from applier.run.report import Report


def steps_report(steps: Sequence[Step]) -> dict[str, Any]:
    """Returns every step, and their number by action."""
    return {"objects": [step_value(step) for step in steps], "summary": summary_value(step.action for step in steps)}


def outcomes_report(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Returns the outcome of every object, and their number by action."""
    return {
        "objects": [outcome_value(outcome) for outcome in outcomes],
        "summary": summary_value(outcome.action for outcome in outcomes),
    }


def run_report(report: Report) -> dict[str, Any]:
    """Returns the outcomes of a run, the objects that are not ready, errors of the run, and the hash that approves held deletions."""
    value = outcomes_report(report.outcomes)
    waiting = [waited for waited in report.waited if waited.reason]
    value["notReady"] = [{**ref_value(waited.ref), "reason": waited.readiness.reason} for waited in waiting]
    value |= {"troubles": report.errors, "approval": report.approval}
    return {key: part for key, part in value.items() if part not in ("", []) or key == "objects"}


def as_json(report: dict[str, Any]) -> Iterable[bytes]:
    """Yields the report as indented JSON."""
    yield outputs.json_report(report)
