"""Charts the history of a training workload: a row for each rank, or for each PodClique if there are too many ranks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from grove_cli.age import age
from grove_cli.queries.job_moments import deadline_of
from grove_cli.queries.job_query import RecordedJob
from grove_cli.queries.job_spans import Span, spans
from grove_cli.render.as_timeline import Bar, Chart, Mark, TimelineRow
from grove_compiler.kube.timestamp import time

MAX_ROWS = 300
STATES = ("Failed", "Running", "Pending", "Ended", "Succeeded")
"""States in order of precedence: the state of a bar is the first one that any of its ranks has."""


def chart(job: RecordedJob, now: float) -> Chart:
    """Returns the chart of a workload until now, or its end."""
    ranks = spans(job)
    rows = _rows(ranks, now, by_clique=len({span.rank for span in ranks}) > MAX_ROWS)
    status, metadata = job.set.get("status") or {}, job.set["metadata"]
    end = time(status.get("completionTime") or None) or now
    begin = time(metadata.get("creationTimestamp") or None) or min((span.made for span in ranks), default=end)
    last = max((bar.end for row in rows for bar in row.bars), default=end)
    return Chart(_title(job), begin, max(end, last), rows, _marks(job, end))


def _title(job: RecordedJob) -> str:
    status = job.set.get("status") or {}
    budget = (job.set["spec"].get("trainingSpec") or {}).get("maxRestarts") or 0
    restarts = f"{status.get('restartCount') or 0} of {budget} restarts"
    return f"{job.set['metadata']['name']}: {status.get('phase') or 'Pending'}, {restarts}"


def _marks(job: RecordedJob, end: float) -> list[Mark]:
    status = job.set.get("status") or {}
    times = {"first start": time(status.get("startTime") or None), "suspended": time(status.get("suspendTime") or None)}
    if status.get("completionTime"):
        times[str(status.get("phase"))] = end
    deadline = deadline_of(job.set)
    marks = [Mark(at, label) for label, at in times.items() if at is not None]
    return [*marks, *([Mark(end, f"deadline in {age(deadline - end)}")] if deadline is not None else [])]


def _rows(ranks: Sequence[Span], now: float, *, by_clique: bool) -> list[TimelineRow]:
    lanes: dict[str, dict[int, list[Span]]] = defaultdict(lambda: defaultdict(list))
    for span in ranks:
        lanes[span.clique if by_clique else span.rank][span.attempt].append(span)
    return [TimelineRow(name, [_bar(number, lanes[name][number], now) for number in sorted(lanes[name])]) for name in lanes]


def _bar(number: int, ranks: Sequence[Span], now: float) -> Bar:
    """Returns the bar of an attempt, for one or several ranks."""
    begin, end = min(span.made for span in ranks), max(now if span.ended is None else span.ended for span in ranks)
    starts = [span.began for span in ranks if span.began is not None]
    state = min((span.state for span in ranks), key=STATES.index)
    count = f"{len(ranks)} ranks, " if len(ranks) > 1 else ""
    title = f"attempt {number}: {count}{state}, {age(end - (min(starts) if starts else begin))}"
    return Bar(begin, min(starts, default=end), end, number - 1, title if count else f"{title}\n{ranks[0].detail}", state)
