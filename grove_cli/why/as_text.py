"""Formats the causes of an object's wait as an indented tree, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from applier.ref import Ref
from grove_cli.age import age
from grove_cli.terminal import Terminal, visible
from grove_cli.tree_rows import branched
from grove_compiler.kube.timestamp import timestamp
from grove_operator.cluster.why import Reason


def why_text(root: Ref, causes: Sequence[Reason], now: float, terminal: Terminal) -> str:
    """Returns the tree of causes, or a line for an object that does not wait."""
    top = f"{terminal.paint(root.kind, '2')} {visible(root.name)}"
    if not causes:
        return f"{top} waits for nothing\n"
    return "\n".join([top, *cause_lines(causes, now, terminal)]) + "\n"


def cause_lines(causes: Sequence[Reason], now: float, terminal: Terminal, lead: str = "") -> Iterator[str]:
    """Yields the lines of the tree of causes, each behind the branches that lead to it."""
    for cause, before, below in branched(causes, lead):
        yield _line(cause, before, now, terminal)
        if cause.wait.resolve:
            yield f"{below}{'│  ' if cause.below else '   '}{terminal.paint('→ ' + visible(cause.wait.resolve), '36')}"
        yield from cause_lines(cause.below, now, terminal, below)


def why_report(root: Ref, causes: Sequence[Reason]) -> dict[str, Any]:
    """Returns an object and its causes as JSON."""
    return {"kind": root.kind, "namespace": root.namespace, "name": root.name, "waits": why_value(causes)}


def why_value(causes: Sequence[Reason]) -> list[dict[str, Any]]:
    """Returns the causes as JSON without empty fields."""
    return [_value(cause) for cause in causes]


def _line(cause: Reason, lead: str, now: float, terminal: Terminal) -> str:
    wait = cause.wait
    since = f" for {age(now - wait.since)}" if wait.since is not None else ""
    alike = f" (and {cause.alike} more like it)" if cause.alike else ""
    repeated = " (see above)" if cause.is_repeated else ""
    return f"{lead}{terminal.paint(wait.reason, '33')}{since}: {visible(wait.message)}{terminal.paint(alike + repeated, '2')}"


def _value(cause: Reason) -> dict[str, Any]:
    wait = cause.wait
    value = {
        "reason": wait.reason,
        "message": wait.message,
        "resolve": wait.resolve,
        "since": timestamp(wait.since) if wait.since is not None else "",
        "for": wait.on.id if wait.on is not None else "",
        "alike": cause.alike,
        "rule": wait.rule,
        "waits": why_value(cause.below),
    }
    return {key: part for key, part in value.items() if part not in ("", [], 0)}
