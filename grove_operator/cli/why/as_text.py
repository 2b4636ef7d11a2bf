"""Formats the causes of an object's wait as an indented tree, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from applier.ref import Ref
from grove_compiler.kube.timestamp import timestamp
from grove_operator.age import age
from grove_operator.cluster.why import Reason
from grove_operator.terminal import Terminal, visible


def why_text(root: Ref, causes: Sequence[Reason], now: float, terminal: Terminal) -> str:
    """Returns the tree of causes, or a line for an object that does not wait."""
    top = f"{terminal.paint(root.kind, '2')} {visible(root.name)}"
    if not causes:
        return f"{top} waits for nothing\n"
    return "\n".join([top, *_lines(causes, "", now, terminal)]) + "\n"


def why_value(causes: Sequence[Reason]) -> list[dict[str, Any]]:
    """Returns the causes as JSON without empty fields."""
    return [_value(one) for one in causes]


def _lines(causes: Sequence[Reason], lead: str, now: float, terminal: Terminal) -> Iterator[str]:
    for position, one in enumerate(causes):
        is_last = position == len(causes) - 1
        below = lead + ("   " if is_last else "│  ")
        yield _line(one, lead + ("└─ " if is_last else "├─ "), now, terminal)
        if one.wait.resolve:
            yield f"{below}{'│  ' if one.below else '   '}{terminal.paint('→ ' + visible(one.wait.resolve), '36')}"
        yield from _lines(one.below, below, now, terminal)


def _line(one: Reason, lead: str, now: float, terminal: Terminal) -> str:
    wait = one.wait
    since = f" for {age(now - wait.since)}" if wait.since is not None else ""
    alike = f" (and {one.alike} more alike)" if one.alike else ""
    repeated = " (see above)" if one.is_repeated else ""
    return f"{lead}{terminal.paint(wait.reason, '33')}{since}: {visible(wait.message)}{terminal.paint(alike + repeated, '2')}"


def _value(one: Reason) -> dict[str, Any]:
    wait = one.wait
    value = {
        "reason": wait.reason,
        "message": wait.message,
        "resolve": wait.resolve,
        "since": timestamp(wait.since) if wait.since is not None else "",
        "for": wait.on.id if wait.on is not None else "",
        "alike": one.alike,
        "rule": wait.rule,
        "waits": why_value(one.below),
    }
    return {key: part for key, part in value.items() if part not in ("", [], 0)}
