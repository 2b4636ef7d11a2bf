"""Formats the history of a training workload as text and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from grove_cli.age import age
from grove_cli.queries.job_moments import Moment, deadline_of, moments
from grove_cli.queries.job_query import RecordedJob
from grove_cli.queries.job_spans import Span, spans
from grove_cli.render.as_tree import MIN_WIDTH, shortened
from grove_cli.terminal import Terminal, visible
from grove_compiler.kube.timestamp import timestamp

HEAD = ("TIME", "AFTER", "REPLICA", "ATTEMPT", "WHAT", "MESSAGE")


def timeline_text(job: RecordedJob, terminal: Terminal) -> str:
    """Returns a line for each entry; on a terminal messages are truncated to the width."""
    history = moments(job)
    rows = [HEAD, *(_row(moment, history[0].at) for moment in history)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    colours = ["1", *("33" if moment.is_bad else "" for moment in history)]
    lines = [_line(row, widths, terminal) for row in rows]
    return "".join(f"{terminal.paint(line, colour) if colour else line}\n" for line, colour in zip(lines, colours, strict=True))


def timeline_value(job: RecordedJob) -> dict[str, Any]:
    """Returns the history and the ranks by attempt, without empty fields."""
    status, metadata = job.set.get("status") or {}, job.set["metadata"]
    value = {
        "kind": job.set["kind"],
        "namespace": metadata.get("namespace"),
        "name": metadata["name"],
        "phase": status.get("phase"),
        "restartCount": status.get("restartCount") or 0,
        "maxRestarts": (job.set["spec"].get("trainingSpec") or {}).get("maxRestarts") or 0,
        "deadline": _stamp(deadline_of(job.set)),
        "moments": [_moment(moment) for moment in moments(job)],
        "pods": [_span(span) for span in spans(job)],
    }
    return _filled(value)


def _row(moment: Moment, begin: float) -> tuple[str, ...]:
    numbers = ("" if number is None else str(number) for number in (moment.replica, moment.attempt))
    return timestamp(moment.at), f"+{age(moment.at - begin)}", *numbers, visible(moment.what), visible(" ".join(moment.message.split()))


def _line(row: Sequence[str], widths: Sequence[int], terminal: Terminal) -> str:
    *cells, message = row
    left = "  ".join(f"{cell:{width}}" for cell, width in zip(cells, widths, strict=True)) + "  "
    room = terminal.width - len(left) if terminal.wraps else len(message)
    return (left + shortened(message, max(room, min(MIN_WIDTH, len(message))))).rstrip()


def _moment(moment: Moment) -> dict[str, Any]:
    return _filled({"time": _stamp(moment.at), **{name.name: getattr(moment, name.name) for name in fields(Moment)[1:-1]}})


def _span(span: Span) -> dict[str, Any]:
    times = {"created": _stamp(span.made), "started": _stamp(span.began), "ended": _stamp(span.ended)}
    where = {"rank": span.rank, "podClique": span.clique, "index": span.index, "replica": span.replica, "attempt": span.attempt}
    return _filled({**where, **times, "state": span.state, "detail": span.detail})


def _stamp(at: float | None) -> str | None:
    return None if at is None else timestamp(at)


def _filled(value: dict[str, Any]) -> dict[str, Any]:
    return {key: part for key, part in value.items() if part not in ("", None)}
