"""Puts the page about an object together from its sections."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from applier.ref import Manifest
from grove_cli.describe.beside import event_lines, object_lines, revision_lines, wait_lines
from grove_cli.describe.sections import condition_lines, head, spec_lines, status_lines
from grove_cli.operator.read_objects import ReadObjects
from grove_cli.terminal import Terminal
from grove_compiler.decoder import SET_KIND
from grove_compiler.step import StepContext

INDENT = "  "
NONE = "<none>"


def page(manifest: Manifest, pcs: Manifest, read: ReadObjects, context: StepContext, now: float, terminal: Terminal) -> str:
    """Returns the page about an object of a set. A section without anything in it is `<none>`."""
    inner = terminal._replace(width=terminal.width - len(INDENT))
    sections: list[tuple[str, Iterable[str]]] = [
        ("Spec", spec_lines(manifest, inner)),
        ("Status", status_lines(manifest)),
        ("Conditions", condition_lines(manifest, now, inner)),
        ("Objects", object_lines(manifest, read.objects, context.program, inner)),
        ("Waits for", wait_lines(manifest, pcs, read, context, now, inner)),
        ("Events", event_lines(manifest, read.objects, now, inner)),
    ]
    if manifest["kind"] == SET_KIND:
        sections.append(("Revisions", revision_lines(pcs, read.objects, now, inner)))
    return head(manifest, now, terminal) + "".join(_section(title, [*lines], terminal) for title, lines in sections)


def _section(title: str, lines: Sequence[str], terminal: Terminal) -> str:
    if not lines:
        return f"{terminal.paint(f'{title}:', '1')} {NONE}\n"
    return f"{terminal.paint(f'{title}:', '1')}\n" + "".join(f"{INDENT}{line}\n" for line in lines)
