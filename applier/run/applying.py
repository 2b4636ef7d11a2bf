"""A graph made true on a cluster, at once or from a plan that was saved."""

from __future__ import annotations

import time
from collections import Counter

from applier.cluster import Cluster
from applier.desired import Graph
from applier.errors import ApplierError
from applier.events import Planned, RunEnded, Sink, nowhere
from applier.execute import Concurrency, Patience, Stop, execute
from applier.execute.state import AfterWrite
from applier.outcome import Outcome
from applier.plan import CLIENT_SIDE, Plan, SavedPlan, check
from applier.run.reading import read, survey
from applier.run.report import Report, requests_of


class OutOfDate(ApplierError):
    """A saved plan that no longer holds; `reasons` has every one."""

    def __init__(self, reasons: list[str]) -> None:
        self.reasons = reasons
        super().__init__("the plan no longer holds: " + "; ".join(reasons))


async def apply(
    graph: Graph,
    cluster: Cluster,
    *,
    manager: str,
    force: tuple[str, ...] = (),
    take_over: tuple[str, ...] = CLIENT_SIDE,
    dry_run: bool = False,
    sink: Sink = nowhere,
    limit: Concurrency | None = None,
    patience: Patience | None = None,
    stop: Stop | None = None,
    after_write: AfterWrite | None = None,
) -> Report:
    """Makes the cluster equal to the graph, writing under `manager` and only where something differs.

    `force` names managers whose fields may be taken (`*`: all), `take_over` those whose ownership becomes ours. `stop` ends a run early
    with a report of what was done. Raises only what makes a run impossible: `ClusterError` when what is there cannot be read, and
    `Cycle`. Everything else is in the report.
    """
    account = _Account(cluster, sink)
    planned = (await survey(graph, cluster, manager=manager, force=force, take_over=take_over)).plan
    account.planned(planned)
    outcomes = await execute(
        planned,
        graph,
        cluster,
        sink=sink,
        limit=limit,
        dry_run=dry_run,
        patience=patience,
        stop=stop,
        after_write=None if dry_run else after_write,
    )
    return account.report(outcomes)


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
    return account.report(outcomes)


class _Account:
    """Time and requests of one run."""

    def __init__(self, cluster: Cluster, sink: Sink) -> None:
        self.cluster, self.sink = cluster, sink
        self.started, self.before = time.monotonic(), requests_of(cluster)

    def planned(self, plan: Plan) -> None:
        self.sink(Planned(plan.counts(), len(plan.waves())))

    def report(self, outcomes: list[Outcome]) -> Report:
        requests: Counter[tuple[str, str]] = requests_of(self.cluster) - self.before
        report = Report(outcomes, time.monotonic() - self.started, requests)
        self.sink(RunEnded(report.counts, report.seconds, report.requests.total()))
        return report
