"""Puts the page about an object together from its sections."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from applier.ref import Manifest
from grove_compiler.decoder import SET_KIND
from grove_compiler.step import Context
from grove_operator.cli.describe.beside import event_lines, object_lines, revision_lines, wait_lines
from grove_operator.cli.describe.sections import condition_lines, head, spec_lines, status_lines
from grove_operator.cli.operator.read_objects import ReadObjects
from grove_operator.terminal import Terminal

INDENT = "  "
NONE = "<none>"


def page(object: Manifest, set: Manifest, read: ReadObjects, context: Context, now: float, terminal: Terminal) -> str:
    """Returns the page about an object of a set. A section without anything in it is `<none>`."""
    inner = terminal._replace(width=terminal.width - len(INDENT))
    sections: list[tuple[str, Iterable[str]]] = [
        ("Spec", spec_lines(object, inner)),
        ("Status", status_lines(object)),
        ("Conditions", condition_lines(object, now, inner)),
        ("Objects", object_lines(object, read.objects, context.program, inner)),
        ("Waits for", wait_lines(object, set, read, context, now, inner)),
        ("Events", event_lines(object, read.objects, now, inner)),
    ]
    if object["kind"] == SET_KIND:
        sections.append(("Revisions", revision_lines(set, read.objects, now, inner)))
    return head(object, now, terminal) + "".join(_section(title, [*lines], terminal) for title, lines in sections)


def _section(title: str, lines: Sequence[str], terminal: Terminal) -> str:
    if not lines:
        return f"{terminal.paint(f'{title}:', '1')} {NONE}\n"
    return f"{terminal.paint(f'{title}:', '1')}\n" + "".join(f"{INDENT}{line}\n" for line in lines)
