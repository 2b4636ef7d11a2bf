"""The path of an apply, from top to bottom: read what is there and plan, write in waves, prune, wait, report.

A plan that was kept takes the same path; it is not made anew but held against what is there, and refused where that has moved.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from applier.cluster import Cluster
from applier.desired import Graph
from applier.errors import ApplierError, ClusterError
from applier.events import Account, Finished
from applier.execute.executor import execute
from applier.execute.options import ExecuteOptions
from applier.outcome import UNDONE, WRITTEN, Action, Outcome
from applier.plan import Plan, SavedPlan, check
from applier.prune import Deletion, OpenApplySet
from applier.ref import NAMESPACE, Ref
from applier.run.identity import OtherCluster, identity_of
from applier.run.live_state import read, read_and_plan
from applier.run.options import ApplyOptions, WaitFor
from applier.run.report import Report
from applier.stop import STOPPED
from applier.wait import wait_ready


class OutOfDate(ApplierError):
    """A saved plan that no longer holds; `reasons` has every one."""

    def __init__(self, reasons: list[str]) -> None:
        self.reasons = reasons
        super().__init__("the plan no longer holds: " + "; ".join(reasons))


async def apply(graph: Graph, cluster: Cluster, options: ApplyOptions) -> Report:
    """Makes the cluster equal to the graph.

    A run that is stopped ends early with a report of what was done. Raises only what makes a run impossible, before anything is
    written: `ClusterError` when what is there cannot be read, `ApplySetError`, and `Cycle`.
    """
    account = Account(cluster, options.sink)
    survey = await read_and_plan(graph, cluster, options)
    report = await _carry_out(survey.plan, survey.graph, survey.applyset, account, options)
    await _wait(report, survey.graph, survey.applyset, account, options.wait, options)
    return _closed(account, report)


async def apply_saved(saved: SavedPlan, cluster: Cluster, options: ExecuteOptions | None = None, wait: WaitFor | None = None) -> Report:
    """Carries out a plan that was made earlier, only on the cluster that it was made for, and only over what it was decided on.

    Raises `OutOfDate`, with every reason, before anything is written; `OtherCluster`; `BadPlan` and `ApplySetError` when its set cannot
    be used.
    """
    options = replace(options or ExecuteOptions(), exact=True)
    account = Account(cluster, options.sink)
    # What is to be created is nowhere either on another cluster, so that no object would tell the difference.
    if saved.cluster and (now := await identity_of(cluster)) != saved.cluster:
        raise OtherCluster(saved.cluster, now)
    opened = await OpenApplySet.open_saved(saved, cluster) if saved.applyset else None
    graph = opened.graph if opened else saved.graph
    reasons = [f"{ref} is a Secret, whose values are not in the plan: give the input again" for ref in saved.lacks_values()]
    reasons += check(saved, await read(graph, cluster))
    reasons += opened.why_moved(saved) if opened else []
    if reasons:
        raise OutOfDate(reasons)
    if opened:
        opened.hold(saved)
    for step in saved.plan.steps:
        if step.action is Action.FAILED:  # it is not tried, and why it would have failed may be over
            step.reason = f"was planned to fail: {step.reason}; plan again if that is no longer so"
    report = await _carry_out(saved.plan, graph, opened, account, options)
    await _wait(report, graph, opened, account, wait, options)
    return _closed(account, report)


async def _carry_out(plan: Plan, graph: Graph, opened: OpenApplySet | None, account: Account, options: ExecuteOptions) -> Report:
    """Writes what the plan says. Of a set, the record is made wide enough before, and what is no longer wanted goes afterwards."""
    writes = plan.writes(graph)
    prunes = opened.steps if opened else []
    account.planned(writes.counts() + Counter(step.action for step in prunes), len(writes.waves()))
    # Before the first member, and for all of them at once: who dies in between leaves a record that names kinds without members, and the
    # next run makes it true. The other way round, members would be in the cluster that no record leads to.
    first: list[Outcome] = []
    if opened and not options.dry_run:
        first = await _make_home(writes, graph, opened, account.cluster, options)
        writes = replace(writes, steps=[step for step in writes.steps if all(step is not outcome.step for outcome in first)])
        if not any(outcome.action in UNDONE for outcome in first):
            await opened.widen()
    report = Report(first + await execute(writes, graph, account.cluster, options), approval=opened.approval if opened else "")
    if opened and opened.options.prune:
        if options.stop.is_cancelled:
            report.outcomes += [Outcome(step, Action.HELD, STOPPED, step.uid) for step in prunes]
        else:
            deletion = Deletion(account.cluster, sink=options.sink, dry_run=options.dry_run, stop=options.stop)
            report.outcomes += await opened.finish(report.outcomes, deletion)
    return report


async def _make_home(plan: Plan, graph: Graph, opened: OpenApplySet, cluster: Cluster, options: ExecuteOptions) -> list[Outcome]:
    """Makes the namespace in which the record stands, where the graph makes it; what became of it, and of all else if that failed.

    It is the one member that is written before the record can be: who dies in between leaves a namespace that the record does not name
    yet, and the next run, which wants it as well, names it.
    """
    home = Ref(*NAMESPACE, "", opened.options.applyset.namespace)
    steps = [step for step in plan.steps if step.ref == home and step.action is Action.CREATED]
    outcomes = await execute(Plan(steps, plan.intent, live=plan.live, schemas=plan.schemas), graph, cluster, options) if steps else []
    if not any(outcome.action in UNDONE for outcome in outcomes):
        return outcomes
    fate = "failed" if outcomes[0].action is Action.FAILED else "is held"
    for step in plan.steps:
        if step.ref != home:
            held = Outcome(step, step.action, step.reason, step.uid)
            if step.action in WRITTEN:
                held.action, held.reason = Action.HELD, f"waits for {home}, in which the record of the set stands and which {fate}"
            options.sink(Finished(held))
            outcomes.append(held)
    return outcomes


async def _wait(
    report: Report, graph: Graph, opened: OpenApplySet | None, account: Account, wait: WaitFor | None, options: ExecuteOptions
) -> None:
    """Waits until all is ready, if all was done, and no longer once the run is to end; the report says what came of it."""
    if wait is None or options.dry_run or options.stop.is_cancelled or not report.ok:
        return
    manifests = [desired.manifest for desired in graph.objects.values()]
    labels = opened.options.applyset.selector if opened else ""
    waiting = wait_ready(manifests, account.cluster, seconds=wait.seconds, rules=wait.rules, labels=labels, sink=options.sink)
    try:
        waited = await options.stop.unless(waiting)
    except ClusterError as error:
        report.troubles.append(str(error))
        return
    if waited is None:
        report.troubles.append("the run was stopped before everything was ready")
    else:
        report.waited = waited


def _closed(account: Account, report: Report) -> Report:
    account.closed(report.outcomes)
    report.requests, report.seconds = account.requests, account.seconds
    return report
