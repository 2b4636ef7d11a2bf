"""A graph made true on a cluster, at once or from a plan that was saved."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Any

from applier.account import Account
from applier.cluster import Cluster
from applier.desired import Graph
from applier.errors import ApplierError, ClusterError
from applier.events import Sink, nowhere
from applier.execute import STOPPED, Concurrency, Patience, Stop, execute
from applier.execute.state import AfterWrite
from applier.outcome import Action, Outcome
from applier.plan import CLIENT_SIDE, Plan, SavedPlan, check
from applier.prune import Pruning
from applier.readiness import Rule
from applier.run.keeping import KeepSet, Kept, open_saved
from applier.run.reading import read, read_and_plan
from applier.run.report import Report
from applier.wait.ready import Waited, wait_ready


class OutOfDate(ApplierError):
    """A saved plan that no longer holds; `reasons` has every one."""

    def __init__(self, reasons: list[str]) -> None:
        self.reasons = reasons
        super().__init__("the plan no longer holds: " + "; ".join(reasons))


@dataclass(slots=True, eq=False)
class WaitFor:
    """Afterwards it is waited until all objects are ready, by built-in rules and these, for so many seconds."""

    seconds: float
    rules: Sequence[Rule] = ()


@dataclass(slots=True, eq=False)
class Carrying:
    """How a plan is carried out, in the words of `execute`."""

    sink: Sink
    limit: Concurrency | None
    patience: Patience | None
    stop: Stop
    dry_run: bool
    after_write: AfterWrite | None
    exact: bool = False


async def apply(
    graph: Graph,
    cluster: Cluster,
    *,
    manager: str,
    force: tuple[str, ...] = (),
    take_over: tuple[str, ...] = CLIENT_SIDE,
    keep: KeepSet | None = None,
    wait: WaitFor | None = None,
    dry_run: bool = False,
    sink: Sink = nowhere,
    limit: Concurrency | None = None,
    patience: Patience | None = None,
    stop: Stop | None = None,
    after_write: AfterWrite | None = None,
) -> Report:
    """Makes the cluster equal to the graph, writing under `manager` and only where something differs.

    `force` names managers whose fields may be taken (`*`: all), `take_over` those whose ownership becomes ours. Pruning and waiting come
    after all is written, and only if all of it was. `stop` ends a run early with a report of what was done. Raises only what makes a
    run impossible, before anything is written: `ClusterError` when what is there cannot be read, `ApplySetError`, and `Cycle`.
    """
    account, stop = Account(cluster, sink), stop or Stop()
    found = await read_and_plan(graph, cluster, manager=manager, force=force, take_over=take_over, keep=keep)
    plan, kept = found.plan, found.kept
    if kept:
        plan = replace(plan, steps=[step for step in plan.steps if step.ref in found.graph.objects])
    carrying = Carrying(sink, limit, patience, stop, dry_run, after_write)
    report = await _carry_out(plan, found.graph, kept, account, carrying)
    if wait and not dry_run and report.ok and not stop.asked:
        labels = keep.applyset.selector if keep else ""
        if not await _unless_stopped(stop, _wait(report, found.graph, cluster, wait, labels, sink)):
            report.troubles.append("the run was stopped before everything was ready")
    return _closed(account, report)


async def _carry_out(plan: Plan, graph: Graph, kept: Kept | None, account: Account, how: Carrying) -> Report:
    """Writes what the plan says. Of a set, the record is made wide enough before, and what is no longer wanted goes afterwards."""
    account.planned(plan.counts() + Counter(step.action for step in (kept.prunes if kept else ())), len(plan.waves()))
    if kept and not how.dry_run:
        await kept.pruning.widen()
    outcomes = await execute(
        plan,
        graph,
        account.cluster,
        sink=how.sink,
        limit=how.limit,
        dry_run=how.dry_run,
        exact=how.exact,
        after_write=None if how.dry_run else how.after_write,
        patience=how.patience,
        stop=how.stop,
    )
    report = Report(outcomes, approval=kept.approval if kept else "")
    if kept and kept.keep.prune:
        report.outcomes += await _prune(report, kept.pruning, how)
    return report


def _closed(account: Account, report: Report) -> Report:
    account.closed(report.outcomes)
    report.requests, report.seconds = account.requests, account.seconds
    return report


async def _prune(report: Report, pruning: Pruning, how: Carrying) -> list[Outcome]:
    if how.stop.asked:
        return [Outcome(step, Action.HELD, STOPPED, step.uid) for step in pruning.steps]
    return await pruning.finish(report.outcomes, sink=how.sink, dry_run=how.dry_run)


async def _unless_stopped(stop: Stop, waiting: Coroutine[Any, Any, None]) -> bool:
    """Waits for something, and no longer once the run is to end. Says whether it came to its end."""
    tasks = [asyncio.ensure_future(waiting), asyncio.ensure_future(stop.come())]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    if tasks[0].cancelled():
        return False
    tasks[0].result()
    return True


async def _wait(report: Report, graph: Graph, cluster: Cluster, wait: WaitFor, labels: str, sink: Sink) -> None:
    manifests = [desired.manifest for desired in graph.objects.values()]
    try:
        waited: list[Waited] = await wait_ready(manifests, cluster, seconds=wait.seconds, rules=wait.rules, labels=labels, sink=sink)
        report.waited = waited
    except ClusterError as error:
        report.troubles.append(str(error))


async def apply_saved(
    saved: SavedPlan,
    cluster: Cluster,
    *,
    dry_run: bool = False,
    sink: Sink = nowhere,
    limit: Concurrency | None = None,
    patience: Patience | None = None,
    stop: Stop | None = None,
    after_write: AfterWrite | None = None,
) -> Report:
    """Carries out a plan that was made earlier, and only over what it was decided on.

    Raises `OutOfDate`, with every reason, before anything is written; `BadPlan` and `ApplySetError` when its set cannot be used.
    """
    account, graph = Account(cluster, sink), saved.graph
    kept = await open_saved(saved, cluster) if saved.kept else None
    if kept:
        graph = kept.pruning.graph
    reasons = [f"{ref} is a Secret, whose values are not in the plan: give the input again" for ref in saved.lacks_values()]
    reasons += check(saved, await read(graph, cluster))
    reasons += kept.why_moved(saved) if kept else []
    if reasons:
        raise OutOfDate(reasons)
    if kept:
        kept.hold(saved)
    for step in saved.plan.steps:
        if step.action is Action.FAILED:  # it is not tried, and why it would have failed may be over
            step.reason = f"was planned to fail: {step.reason}; plan again if that is no longer so"
    how = Carrying(sink, limit, patience, stop or Stop(), dry_run, after_write, exact=True)
    return _closed(account, await _carry_out(saved.writes(), graph, kept, account, how))
