"""Generates docs/lives.md, with a diagram and a table of each life that ships: `python -m tools.generate_lives`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from grove_cli import rulebook
from grove_cli.rules.lives import as_mermaid, conditions_of, lives_of
from grove_compiler.engine.language.life import Life

PAGE = Path(__file__).parent.parent / "docs" / "lives.md"

HEAD = """# Lives

What changes over time, as states and transitions: updates, restarts, training workloads, scheduling gates, retried checks. Written by
`python -m tools.generate_lives` from `rules/lives`, where each life is one document. The
[rules language](rules-language.md#lives-what-changes-over-time) says how to read and to replace them;
`grove rules lives` shows those in force.

A transition in parentheses is made by the cluster. Of those that the operator makes, the first one that fires is taken.
"""


def page() -> str:
    """Returns the whole page."""
    lives = [rule.life for rule in lives_of(rulebook.read().sources()).values() if rule.life is not None]
    return HEAD + "".join("\n".join(_section(life)) + "\n" for life in lives)


def _section(life: Life) -> Iterator[str]:
    yield from ("", f"## {life.id}", "", life.doc, "", "```mermaid", *as_mermaid(life), "```", "")
    yield from ("| state | means |", "| --- | --- |")
    yield from (f"| {name} | {doc} |" for name, doc in life.states.items())
    yield from ("", "| from | to | transition | fires when |", "| --- | --- | --- | --- |")
    for one in life.transitions:
        when = one.observed or " and ".join(f"`{text}`" for text in conditions_of(one)).replace("|", "\\|") or "always"
        yield f"| {', '.join(one.sources)} | {one.target} | {one.name or '(observed)'} | {when} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
