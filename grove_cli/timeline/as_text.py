"""Formats the history of a set as text and JSON."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from grove_cli.age import age
from grove_cli.queries.timeline.moments import Moment, deadline_of, moments
from grove_cli.queries.timeline.objects import TimelineObjects
from grove_cli.queries.timeline.spans import Span, spans
from grove_cli.queries.tree_query import is_training
from grove_cli.render.as_table import HEADER, WAITING, table
from grove_cli.terminal import Terminal, visible
from grove_compiler.kube.timestamp import timestamp
from kube_objects.manifest import mapping

HEAD = ("TIME", "AFTER", "REPLICA", "ATTEMPT", "WHAT", "MESSAGE")
ATTEMPT = HEAD.index("ATTEMPT")


def moments_text(of: TimelineObjects, terminal: Terminal, since: float) -> str:
    """Returns a line for each entry from a time on; on a terminal messages are truncated to the width. Only jobs have attempts."""
    history = moments(of)
    shown = [moment for moment in history if moment.at >= since]
    rows = [HEAD, *(_row(moment, history[0].at) for moment in shown)]
    columns = [column for column in range(len(HEAD)) if column != ATTEMPT or is_training(of.set)]
    styles = [HEADER, *(WAITING if moment.is_bad else "" for moment in shown)]
    return table([[row[column] for column in columns] for row in rows], terminal, styles)


def timeline_value(of: TimelineObjects, since: float) -> dict[str, Any]:
    """Returns the history and the pods by attempt from a time on, without empty fields."""
    metadata = of.set["metadata"]
    value = {
        "kind": of.set["kind"],
        "namespace": metadata.get("namespace"),
        "name": metadata["name"],
        **(_job(of) if is_training(of.set) else {}),
        "moments": [_moment(moment) for moment in moments(of) if moment.at >= since],
        "pods": [_span(span) for span in spans(of) if span.ended is None or span.ended >= since],
    }
    return _filled(value)


def _job(of: TimelineObjects) -> dict[str, Any]:
    spec, status = mapping(of.set.get("spec")), mapping(of.set.get("status"))
    return {
        "phase": status.get("phase"),
        "restartCount": status.get("restartCount") or 0,
        "maxRestarts": mapping(spec.get("trainingSpec")).get("maxRestarts") or 0,
        "deadline": _stamp(deadline_of(of.set)),
    }


def _row(moment: Moment, begin: float) -> tuple[str, ...]:
    numbers = ("" if number is None else str(number) for number in (moment.replica, moment.attempt))
    return timestamp(moment.at), f"+{age(moment.at - begin)}", *numbers, visible(moment.what), visible(" ".join(moment.message.split()))


def _moment(moment: Moment) -> dict[str, Any]:
    return _filled({"time": _stamp(moment.at), **{name.name: getattr(moment, name.name) for name in fields(Moment)[1:-1]}})


def _span(span: Span) -> dict[str, Any]:
    times = {"created": _stamp(span.made), "gatesOpened": _stamp(span.opened), "started": _stamp(span.began), "ended": _stamp(span.ended)}
    where = {"rank": span.rank, "podClique": span.clique, "index": span.index, "replica": span.replica, "attempt": span.attempt}
    return _filled({**where, **times, "state": span.state, "detail": span.detail})


def _stamp(at: float | None) -> str | None:
    return None if at is None else timestamp(at)


def _filled(value: dict[str, Any]) -> dict[str, Any]:
    return {key: part for key, part in value.items() if part not in ("", None)}
