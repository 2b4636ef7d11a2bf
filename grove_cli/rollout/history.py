"""Prints the revisions of a set, and the pod templates of one."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

from grove_cli import output as outputs
from grove_cli.age import age
from grove_cli.cluster.session import Session
from grove_cli.queries.rollout.history import RecordedRevision, find, read_history
from grove_cli.queries.tree_query import read_set
from grove_cli.terminal import MIN_NAME_WIDTH, Terminal, fitted, terminal_of, visible
from grove_compiler.kube.timestamp import timestamp

HEAD = ("REVISION", "CURRENT", "AGE", "CHANGES")
FIRST = "<first recorded>"
NOTHING = "<none>"


async def show_history(session: Session, name: str, revision: int | None, output: str) -> int:
    """Prints all revisions, or the templates of one. Raises `ClusterError`, `NoSuchObject`, and `EditRefused` for one that is not there."""
    _, pcs = await read_set(session.cluster, name, session.namespace)
    history = await read_history(session.cluster, pcs)
    if revision is not None:
        outputs.write_report(template_value(find(history, revision, pcs)), "yaml" if output == "text" else output)
    elif output == "text":
        text = history_text(history, time.time(), terminal_of(sys.stdout)) if history else "no revisions recorded\n"
        outputs.write_text(text)
    else:
        outputs.write_report([recorded_value(each) for each in history], output)
    return 0


def history_text(history: Sequence[RecordedRevision], now: float, terminal: Terminal) -> str:
    """Returns a table with a line for each change of each revision; on a terminal changes are truncated to the width."""
    rows = [HEAD, *(row for position, each in enumerate(history) for row in _rows(each, now, is_first=position == 0))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    head, *lines = (_line(row, widths, terminal) for row in rows)
    return "".join(f"{line}\n" for line in (terminal.paint(head, "1"), *lines))


def recorded_value(recorded: RecordedRevision) -> dict[str, Any]:
    """Returns a revision as a JSON value, without its templates."""
    return {
        "revision": recorded.number,
        "name": recorded.revision.name,
        "current": recorded.is_current,
        **({} if recorded.created is None else {"created": timestamp(recorded.created)}),
        "changes": list(recorded.changes),
    }


def template_value(recorded: RecordedRevision) -> dict[str, Any]:
    """Returns a revision as a JSON value, with its templates in the form of a set's cliques."""
    data = recorded.revision.data
    cliques = []
    for entry in data.get("cliques") or []:
        parts = entry.get("template") or {}
        outer = {key: parts[key] for key in ("labels", "annotations") if parts.get(key)}
        cliques.append({"name": entry.get("name"), **outer, "spec": {"podSpec": parts.get("podSpec") or {}}})
    priority = data.get("priorityClassName")
    template = {"cliques": cliques, **({"priorityClassName": priority} if priority else {})}
    return {**{key: value for key, value in recorded_value(recorded).items() if key != "changes"}, "template": template}


def _rows(recorded: RecordedRevision, now: float, *, is_first: bool) -> Iterator[tuple[str, ...]]:
    changes = list(recorded.changes) or [FIRST if is_first else NOTHING]
    since = "" if recorded.created is None else age(now - recorded.created)
    yield str(recorded.number), "*" if recorded.is_current else "", since, visible(changes[0])
    yield from (("", "", "", visible(change)) for change in changes[1:])


def _line(row: Sequence[str], widths: Sequence[int], terminal: Terminal) -> str:
    *cells, changes = row
    left = "  ".join(f"{cell:{width}}" for cell, width in zip(cells, widths, strict=True)) + "  "
    room = terminal.width - len(left) if terminal.wraps else len(changes)
    return (left + fitted(changes, max(room, min(MIN_NAME_WIDTH, len(changes))))).rstrip()
