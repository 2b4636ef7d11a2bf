"""Formats the history of a training workload as text and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from grove_compiler.kube.timestamp import timestamp
from grove_operator.age import age
from grove_operator.cluster.job_moments import Moment, deadline_of, moments
from grove_operator.cluster.job_query import RecordedJob
from grove_operator.cluster.job_spans import Span, spans
from grove_operator.render.as_tree import SHORTEST, shortened
from grove_operator.terminal import Terminal, visible

HEAD = ("TIME", "AFTER", "REPLICA", "ATTEMPT", "WHAT", "MESSAGE")


def timeline_text(job: RecordedJob, terminal: Terminal) -> str:
    """Returns a line for each entry; on a terminal messages are truncated to the width."""
    history = moments(job)
    rows = [HEAD, *(_row(one, history[0].at) for one in history)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    colours = ["1", *("33" if one.is_bad else "" for one in history)]
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
        "moments": [_moment(one) for one in moments(job)],
        "pods": [_span(one) for one in spans(job)],
    }
    return _filled(value)


def _row(one: Moment, begin: float) -> tuple[str, ...]:
    numbers = ("" if number is None else str(number) for number in (one.replica, one.attempt))
    return timestamp(one.at), f"+{age(one.at - begin)}", *numbers, visible(one.what), visible(" ".join(one.message.split()))


def _line(row: Sequence[str], widths: Sequence[int], terminal: Terminal) -> str:
    *cells, message = row
    left = "  ".join(f"{cell:{width}}" for cell, width in zip(cells, widths, strict=True)) + "  "
    room = terminal.width - len(left) if terminal.wraps else len(message)
    return (left + shortened(message, max(room, min(SHORTEST, len(message))))).rstrip()


def _moment(one: Moment) -> dict[str, Any]:
    return _filled({"time": _stamp(one.at), **{name.name: getattr(one, name.name) for name in fields(Moment)[1:-1]}})


def _span(one: Span) -> dict[str, Any]:
    times = {"created": _stamp(one.made), "started": _stamp(one.began), "ended": _stamp(one.ended)}
    where = {"rank": one.rank, "podClique": one.clique, "index": one.index, "replica": one.replica, "attempt": one.attempt}
    return _filled({**where, **times, "state": one.state, "detail": one.detail})


def _stamp(at: float | None) -> str | None:
    return None if at is None else timestamp(at)


def _filled(value: dict[str, Any]) -> dict[str, Any]:
    return {key: part for key, part in value.items() if part not in ("", None)}
