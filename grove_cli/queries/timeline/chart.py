"""Charts the history of a set: its updates, and a row for each pod, or for each PodClique if there are too many pods."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import inf

from grove_cli.age import age
from grove_cli.queries.events_query import time_in
from grove_cli.queries.timeline.moments import Moment, deadline_of, moments
from grove_cli.queries.timeline.objects import TimelineObjects
from grove_cli.queries.timeline.spans import Span, spans
from grove_cli.queries.tree_query import is_training
from grove_cli.render.timeline import Bar, Chart, Mark, TimelineRow
from kube_objects.manifest import mapping
from kube_objects.words import counted

MAX_ROWS = 300
MAX_MARKS = 16
STATES = ("Failed", "Running", "Pending", "Ended", "Succeeded")
"""States in order of precedence: the state of a bar is the first one that any of its pods has."""
UPDATES = "updates"
RESCALED = "SuccessfulRescale"
"""The reason of events of autoscalers. When somebody else has scaled, only new pods tell."""


def chart(of: TimelineObjects, now: float | None, *, max_rows: int = MAX_ROWS) -> Chart:
    """Returns the chart of a set until now, or the end of a job. Without `now` the last time that the objects tell is now."""
    ranks, history, status = spans(of), moments(of), mapping(of.set.get("status"))
    known = [*(moment.at for moment in history), *(at for span in ranks for at in (span.made, span.began, span.ended) if at is not None)]
    now = max(known, default=0.0) if now is None else now
    end = time_in(status.get("completionTime")) or now
    by_clique = len({span.rank for span in ranks}) > max_rows
    rows = [*_updates(history, end), *_rows(ranks, now, by_clique=by_clique, is_job=is_training(of.set))]
    begin = time_in(of.set["metadata"].get("creationTimestamp")) or min(known, default=end)
    last = max((bar.end for row in rows for bar in row.bars), default=end)
    marks = [*_of_job(of, end), *_points(history)]
    return Chart(_title(of), begin, max(end, last), rows, *_newest(marks))


def since(whole: Chart, begin: float) -> Chart:
    """Returns the part of a chart from a time on."""
    rows = [TimelineRow(row.name, [bar for bar in row.bars if bar.end >= begin]) for row in whole.rows]
    marks = [mark for mark in whole.marks if mark.at >= begin]
    return Chart(whole.title, max(whole.begin, begin), whole.end, [row for row in rows if row.bars], marks, whole.left_out)


def _title(of: TimelineObjects) -> str:
    spec, status = mapping(of.set.get("spec")), mapping(of.set.get("status"))
    if is_training(of.set):
        budget = mapping(spec.get("trainingSpec")).get("maxRestarts") or 0
        return f"{of.name}: {status.get('phase') or 'Pending'}, {status.get('restartCount') or 0} of {budget} restarts"
    replicas = spec.get("replicas", 1)
    return f"{of.name}: {status.get('availableReplicas') or 0} of {counted(replicas, 'replica')} available"


def _of_job(of: TimelineObjects, end: float) -> list[Mark]:
    status = mapping(of.set.get("status"))
    times = {"first start": time_in(status.get("startTime")), "suspended": time_in(status.get("suspendTime"))}
    if status.get("completionTime"):
        times[str(status.get("phase"))] = end
    deadline = deadline_of(of.set)
    marks = [Mark(at, label) for label, at in times.items() if at is not None]
    return [*marks, *([Mark(end, f"deadline in {age(deadline - end)}")] if deadline is not None else [])]


def _points(history: Sequence[Moment]) -> list[Mark]:
    """Returns the marks of what happens at once: terminations of gangs, and other numbers of replicas."""
    marks = []
    for moment in history:
        if moment.what == "GangTerminated":
            whose = "" if moment.replica is None else f" of replica {moment.replica}"
            marks.append(Mark(moment.at, f"gang{whose} terminated"))
        elif moment.what == RESCALED:
            name, _, size = moment.message.partition(";")[0].partition(": New size: ")
            marks.append(Mark(moment.at, f"{name} scaled to {size}" if size else f"{name} scaled"))
    return marks


def _newest(marks: Sequence[Mark]) -> tuple[list[Mark], str]:
    """Returns the last marks, and how many others there are: labels of more would hide the rows."""
    newest = sorted(marks, key=lambda mark: mark.at)[-MAX_MARKS:]
    return newest, f"{len(marks) - MAX_MARKS} earlier marks are left out" if len(marks) > MAX_MARKS else ""


def _updates(history: Sequence[Moment], end: float) -> list[TimelineRow]:
    """Returns the row of updates: each until its end, or until the next one begins."""
    bars: list[Bar] = []
    for moment in history:
        if moment.what in ("UpdateStarted", "UpdateEnded") and bars and bars[-1].state == "Running":
            bars[-1].end, bars[-1].state = moment.at, "Ended"
        if moment.what == "UpdateStarted":
            bars.append(Bar(moment.at, moment.at, moment.at, max(end, moment.at), len(bars), f"update {len(bars) + 1}", "Running"))
    for bar in bars:
        bar.title = f"{bar.title}: {age(bar.end - bar.begin)}{' so far' if bar.state == 'Running' else ''}"
    return [TimelineRow(UPDATES, bars)] if bars else []


def _rows(ranks: Iterable[Span], now: float, *, by_clique: bool, is_job: bool) -> list[TimelineRow]:
    lanes: dict[str, dict[int, list[Span]]] = defaultdict(lambda: defaultdict(list))
    for span in ranks:
        lanes[span.clique if by_clique else span.rank][span.attempt].append(span)
    word = "attempt" if is_job else "pod"
    return [TimelineRow(name, [_bar(number, lane[number], now, word) for number in sorted(lane)]) for name, lane in lanes.items()]


def _bar(number: int, ranks: Sequence[Span], now: float, word: str) -> Bar:
    """Returns the bar of an attempt, or of the n-th pods, for one or several indices."""
    begin, end = min(span.made for span in ranks), max(now if span.ended is None else span.ended for span in ranks)
    opened = min((span.opened for span in ranks if span.opened is not None), default=inf)
    starts = [span.began for span in ranks if span.began is not None]
    state = min((span.state for span in ranks), key=STATES.index)
    count = f"{len(ranks)} {'ranks' if word == 'attempt' else 'pods'}, " if len(ranks) > 1 else ""
    title = f"{word} {number}: {count}{state}, {age(end - (min(starts) if starts else begin))}"
    label = title if count else f"{title}\n{ranks[0].detail}"
    return Bar(begin, opened, min(starts, default=inf), end, number - 1, label, state)
