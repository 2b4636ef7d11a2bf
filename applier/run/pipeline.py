"""Runs an apply from beginning to end: read the live state, plan, write in waves, prune, wait, report.

A saved plan takes the same path; instead of planning, it is checked against the live state, and not executed if that has changed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from applier.cluster import Cluster
from applier.desired import Graph
from applier.errors import ApplierError, ClusterError
from applier.events import Finished, RunMeter
from applier.execute.executor import execute
from applier.execute.options import ExecuteOptions
from applier.outcome import UNDONE, WRITTEN, Action, Outcome
from applier.plan import Plan, SavedPlan, check
from applier.prune import Deleter, OpenApplySet
from applier.ref import NAMESPACE, Ref
from applier.run.live_state import OtherCluster, identity_of, read, read_and_plan
from applier.run.options import ApplyOptions, Report, WaitFor
from applier.stop import STOPPED
from applier.wait import wait_ready


class OutOfDate(ApplierError):
    """Reports a saved plan that no longer matches the live state; `reasons` holds every difference."""

    def __init__(self, reasons: list[str]) -> None:
        self.reasons = reasons
        super().__init__("the plan is no longer valid: " + "; ".join(reasons))


async def apply(graph: Graph, cluster: Cluster, options: ApplyOptions) -> Report:
    """Makes the cluster equal to the graph.

    A run that is stopped ends early with a report of what was done. Raises only before anything is written: `ClusterError` if the live
    state cannot be read, `ApplySetError`, and `Cycle`.
    """
    account = RunMeter(cluster, options.sink)
    prepared = await read_and_plan(graph, cluster, options)
    report = await _execute(prepared.plan, prepared.graph, prepared.applyset, account, options)
    await _wait(report, prepared.graph, prepared.applyset, account, options.wait, options)
    return _closed(account, report)


async def apply_saved(saved: SavedPlan, cluster: Cluster, options: ExecuteOptions | None = None, wait: WaitFor | None = None) -> Report:
    """Executes a saved plan, only on the cluster that it was made for, and only on the versions of objects that it was decided on.

    Raises, before anything is written: `OutOfDate` with every reason, `OtherCluster`, and `InvalidPlan` or `ApplySetError` if its set
    cannot be used.
    """
    options = replace(options or ExecuteOptions(), exact=True)
    account = RunMeter(cluster, options.sink)
    # Objects to be created are missing on any other cluster as well, so that comparing objects would not reveal the wrong one.
    if saved.cluster and (now := await identity_of(cluster)) != saved.cluster:
        raise OtherCluster(saved.cluster, now)
    opened = await OpenApplySet.open_saved(saved, cluster) if saved.applyset else None
    graph = opened.graph if opened else saved.graph
    reasons = [f"{ref} is a Secret, whose values are not in the plan: pass the input again" for ref in saved.lacks_values()]
    reasons += check(saved, await read(graph, cluster))
    reasons += opened.why_moved(saved) if opened else []
    if reasons:
        raise OutOfDate(reasons)
    if opened:
        opened.hold(saved)
    for step in saved.plan.steps:
        if step.action is Action.FAILED:  # it is not tried, although the cause of its failure may be gone
            step.reason = f"was planned to fail: {step.reason}; create a new plan if this is fixed"
    report = await _execute(saved.plan, graph, opened, account, options)
    await _wait(report, graph, opened, account, wait, options)
    return _closed(account, report)


async def _execute(plan: Plan, graph: Graph, opened: OpenApplySet | None, account: RunMeter, options: ExecuteOptions) -> Report:
    """Executes the writes of a plan. For an ApplySet, widens its record before and prunes afterwards."""
    writes = plan.writes(graph)
    prunes = opened.steps if opened else []
    account.planned(writes.counts() + Counter(step.action for step in prunes), len(writes.waves()))
    # The record is widened for all members before the first is written: a crash then leaves a record that names kinds without members,
    # which the next run corrects. The other way round it would leave members that no record leads to.
    first: list[Outcome] = []
    if opened and not options.dry_run:
        first = await _create_record_namespace(writes, graph, opened, account.cluster, options)
        writes = replace(writes, steps=[step for step in writes.steps if all(step is not outcome.step for outcome in first)])
        if not any(outcome.action in UNDONE for outcome in first):
            await opened.widen()
    report = Report(first + await execute(writes, graph, account.cluster, options), approval=opened.approval if opened else "")
    if opened and opened.options.prune:
        if options.stop.is_cancelled:
            report.outcomes += [Outcome(step, Action.HELD, STOPPED, step.uid) for step in prunes]
        else:
            deletion = Deleter(account.cluster, sink=options.sink, dry_run=options.dry_run, stop=options.stop)
            report.outcomes += await opened.finish(report.outcomes, deletion)
    return report


async def _create_record_namespace(
    plan: Plan, graph: Graph, opened: OpenApplySet, cluster: Cluster, options: ExecuteOptions
) -> list[Outcome]:
    """Creates the namespace of the set's record if it is a member itself; returns its outcome, and if that failed, those of all others.

    It is the only member that is written before the record. A crash in between leaves a namespace that the record does not name yet; the
    next run, which has it as a member as well, names it.
    """
    namespace = Ref(*NAMESPACE, "", opened.options.applyset.namespace)
    steps = [step for step in plan.steps if step.ref == namespace and step.action is Action.CREATED]
    outcomes = await execute(Plan(steps, plan.intent, live=plan.live, schemas=plan.schemas), graph, cluster, options) if steps else []
    if not any(outcome.action in UNDONE for outcome in outcomes):
        return outcomes
    fate = "failed" if outcomes[0].action is Action.FAILED else "is held"
    for step in plan.steps:
        if step.ref != namespace:
            held = Outcome.of(step)
            if step.action in WRITTEN:
                held.action, held.reason = Action.HELD, f"waits for {namespace}, which contains the record of the ApplySet and which {fate}"
            options.sink(Finished(held))
            outcomes.append(held)
    return outcomes


async def _wait(
    report: Report, graph: Graph, opened: OpenApplySet | None, account: RunMeter, wait: WaitFor | None, options: ExecuteOptions
) -> None:
    """Waits until all objects are ready, if all were written and unless the run is stopped; adds the result to the report."""
    if wait is None or options.dry_run or options.stop.is_cancelled or not report.ok:
        return
    manifests = [desired.manifest for desired in graph.objects.values()]
    labels = opened.options.applyset.selector if opened else ""
    waiting = wait_ready(manifests, account.cluster, seconds=wait.seconds, rules=wait.rules, labels=labels, sink=options.sink)
    try:
        waited = await options.stop.unless(waiting)
    except ClusterError as error:
        report.errors.append(str(error))
        return
    if waited is None:
        report.errors.append("the run was stopped before everything was ready")
    else:
        report.waited = waited


def _closed(account: RunMeter, report: Report) -> Report:
    account.closed(report.outcomes)
    report.requests, report.seconds = account.requests, account.seconds
    return report
