"""A graph made true on a cluster, at once or from a plan that was saved."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from applier.cluster import Cluster
from applier.desired import Graph
from applier.errors import ApplierError, ClusterError
from applier.events import Planned, RunEnded, Sink, nowhere
from applier.execute import STOPPED, Concurrency, Patience, Stop, execute
from applier.execute.state import AfterWrite
from applier.outcome import Action, Outcome, Step
from applier.plan import CLIENT_SIDE, Plan, SavedPlan, check
from applier.prune import ApplySet, Budget, Pruning
from applier.readiness import Rule
from applier.run.reading import read, survey
from applier.run.report import Report, requests_of
from applier.wait.ready import Waited, wait_ready


class OutOfDate(ApplierError):
    """A saved plan that no longer holds; `reasons` has every one."""

    def __init__(self, reasons: list[str]) -> None:
        self.reasons = reasons
        super().__init__("the plan no longer holds: " + "; ".join(reasons))


@dataclass(slots=True, eq=False)
class KeepSet:
    """The graph is kept as a recorded set (`ApplySet`); with `prune`, members that are no longer in the graph are deleted.

    More than `budget` are deleted only with the `approval` that the report of an earlier run names.
    """

    applyset: ApplySet
    prune: bool = True
    budget: Budget | None = None
    approval: str = ""


@dataclass(slots=True, eq=False)
class WaitFor:
    """Afterwards it is waited until all objects are ready, by built-in rules and these, for so many seconds."""

    seconds: float
    rules: Sequence[Rule] = ()


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
    account, stop = _Account(cluster, sink), stop or Stop()
    pruning = await Pruning.of(keep.applyset, graph, cluster, budget=keep.budget, approval=keep.approval) if keep else None
    graph = pruning.graph if pruning else graph
    planned = (await survey(graph, cluster, manager=manager, force=force, take_over=take_over)).plan
    prunes = pruning.steps if pruning and keep and keep.prune else []
    account.planned(planned, prunes)
    if pruning and not dry_run:
        await pruning.widen()
    heard = None if dry_run else after_write
    outcomes = await execute(
        planned, graph, cluster, sink=sink, limit=limit, dry_run=dry_run, patience=patience, stop=stop, after_write=heard
    )
    report = Report(outcomes, approval=pruning.approval if pruning and prunes else "")
    if pruning and keep and keep.prune:
        report.outcomes += await _prune(report, pruning, stop, sink, dry_run)
    if wait and not dry_run and report.ok and not stop.asked:
        labels = keep.applyset.selector if keep else ""
        if not await _unless_stopped(stop, _wait(report, graph, cluster, wait, labels, sink)):
            report.troubles.append("the run was stopped before everything was ready")
    return account.closed(report)


async def _prune(report: Report, pruning: Pruning, stop: Stop, sink: Sink, dry_run: bool) -> list[Outcome]:
    if stop.asked:
        return [Outcome(step, Action.HELD, STOPPED, step.uid) for step in pruning.steps]
    return await pruning.finish(report.outcomes, sink=sink, dry_run=dry_run)


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

    Raises `OutOfDate`, with every reason, before anything is written.
    """
    account, graph = _Account(cluster, sink), saved.graph
    reasons = [f"{ref} is a Secret, whose values are not in the plan: give the input again" for ref in saved.lacks_values()]
    reasons += check(saved, await read(graph, cluster))
    if reasons:
        raise OutOfDate(reasons)
    account.planned(saved.plan)
    outcomes = await execute(
        saved.plan,
        graph,
        cluster,
        sink=sink,
        limit=limit,
        dry_run=dry_run,
        exact=True,
        after_write=None if dry_run else after_write,
        patience=patience,
        stop=stop,
    )
    return account.closed(Report(outcomes))


class _Account:
    """Time and requests of one run."""

    def __init__(self, cluster: Cluster, sink: Sink) -> None:
        self.cluster, self.sink = cluster, sink
        self.started, self.before = time.monotonic(), requests_of(cluster)

    def planned(self, plan: Plan, prunes: Sequence[Step] = ()) -> None:
        self.sink(Planned(plan.counts() + Counter(step.action for step in prunes), len(plan.waves())))

    def closed(self, report: Report) -> Report:
        report.requests = requests_of(self.cluster) - self.before
        report.seconds = time.monotonic() - self.started
        self.sink(RunEnded(report.counts, report.seconds, report.requests.total()))
        return report
