"""The life of a training workload as a picture: a row for each rank, or for each PodClique where there are too many ranks for that."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from grove_compiler.kube.timestamp import time
from grove_operator.age import age
from grove_operator.cluster.job_moments import deadline_of
from grove_operator.cluster.job_query import RecordedJob
from grove_operator.cluster.job_spans import Span, spans
from grove_operator.render.as_timeline import Bar, Chart, Mark, Row

MOST_ROWS = 300
STATES = ("Failed", "Running", "Pending", "Ended", "Succeeded")
"""Of several ranks in one bar the first of these is told."""


def chart(job: RecordedJob, now: float) -> Chart:
    """Returns the picture of a workload up to now, or to its end."""
    found = spans(job)
    rows = _rows(found, now, by_clique=len({one.rank for one in found}) > MOST_ROWS)
    status, metadata = job.set.get("status") or {}, job.set["metadata"]
    end = time(status.get("completionTime") or None) or now
    begin = time(metadata.get("creationTimestamp") or None) or min((one.made for one in found), default=end)
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
    due = deadline_of(job.set)
    marks = [Mark(at, words) for words, at in times.items() if at is not None]
    return [*marks, *([Mark(end, f"deadline in {age(due - end)}")] if due is not None else [])]


def _rows(found: Sequence[Span], now: float, *, by_clique: bool) -> list[Row]:
    lanes: dict[str, dict[int, list[Span]]] = defaultdict(lambda: defaultdict(list))
    for one in found:
        lanes[one.clique if by_clique else one.rank][one.attempt].append(one)
    return [Row(name, [_bar(number, lanes[name][number], now) for number in sorted(lanes[name])]) for name in lanes]


def _bar(number: int, found: Sequence[Span], now: float) -> Bar:
    """Returns one bar for the ranks of an attempt, mostly a single one."""
    begin, end = min(one.made for one in found), max(now if one.ended is None else one.ended for one in found)
    starts = [one.began for one in found if one.began is not None]
    state = min((one.state for one in found), key=STATES.index)
    many = f"{len(found)} ranks, " if len(found) > 1 else ""
    words = f"attempt {number}: {many}{state}, {age(end - (min(starts) if starts else begin))}" + (
        f"\n{found[0].detail}" if not many else ""
    )
    return Bar(begin, min(starts, default=end), end, number - 1, words, state)
