"""Prints lives: their states and transitions as tables, as JSON, or as a diagram that Markdown pages can show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from grove_compiler.engine.language.life import Life, Transition
from grove_compiler.engine.language.load import load
from grove_compiler.engine.language.rule import Rule
from grove_compiler.engine.sources import RuleSource


def lives_of(sources: Sequence[RuleSource]) -> dict[str, Rule]:
    """Returns the lives in force, sorted by their ids, each as one of the rules that it became."""
    lives: dict[str, Rule] = {}
    for rule in load(sources).rules:
        if rule.life is not None:
            lives.setdefault(rule.life.id, rule)
    return dict(sorted(lives.items()))


def as_text(life: Life, place: str) -> Iterator[str]:
    """Yields the lines of a life: its states with what they mean, and its transitions in order of precedence."""
    yield f"{life.id}  {place}"
    yield life.doc
    yield ""
    names = max(len(name) for name in life.states)
    for name, doc in life.states.items():
        yield f"  {name.ljust(names)}  {doc}{' (final)' if name in life.final else ''}"
    yield ""
    rows = [("FROM", "TO", "TRANSITION", "WHEN"), *(_row(one) for one in life.transitions)]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, [*widths, 0], strict=True)).rstrip()


def _row(one: Transition) -> tuple[str, str, str, str]:
    return ", ".join(one.sources), one.target, one.name or "(observed)", one.observed or " and ".join(conditions_of(one)) or "always"


def conditions_of(one: Transition) -> list[str]:
    """Returns the conditions of a transition, its time first, as they are written."""
    at = [] if one.at is None else [f"now >= {one.at}"]
    return [*at, *(" ".join(str(text).split()) for text in one.when)]


def as_mermaid(life: Life) -> Iterator[str]:
    """Yields the lines of a state diagram in Mermaid. Dotted transitions do not exist there: what the cluster does is in parentheses."""
    yield "stateDiagram-v2"
    yield f"  [*] --> {next(iter(life.states))}"
    for one in life.transitions:
        for source in one.sources:
            yield f"  {source} --> {one.target}: {one.name or f'({one.observed})'}"
    yield from (f"  {name} --> [*]" for name in life.states if name in life.final)


def as_manifest(life: Life, place: str) -> dict[str, Any]:
    """Returns a life as JSON data."""
    file, _, line = place.rpartition(":")
    states = [{"name": name, "doc": doc, "final": name in life.final} for name, doc in life.states.items()]
    transitions = [
        {"name": one.name, "from": one.sources, "to": one.target, "at": one.at, "when": one.when, "observed": one.observed, "doc": one.doc}
        for one in life.transitions
    ]
    kept = [{key: value for key, value in one.items() if value not in (None, "", [])} for one in transitions]
    return {"id": life.id, "doc": life.doc, "file": file, "line": int(line), "states": states, "transitions": kept}
