"""Puts the page about an object together from its sections."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from applier.ref import Manifest
from grove_cli.describe.beside import (
    causes_of,
    event_lines,
    events_about,
    object_lines,
    owned_by,
    revision_lines,
    revisions_of,
)
from grove_cli.describe.sections import condition_lines, head, spec_lines, status_lines
from grove_cli.events.as_text import event_value
from grove_cli.operator.read_objects import ReadObjects
from grove_cli.terminal import Terminal
from grove_cli.why.as_text import cause_lines, why_value
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
        ("Objects", object_lines(owned_by(manifest, read.objects, context.program), inner)),
        ("Waits for", cause_lines(causes_of(manifest, pcs, read, context, now), now, inner)),
        ("Events", event_lines(manifest, events_about(manifest, read.objects), now, inner)),
    ]
    if manifest["kind"] == SET_KIND:
        sections.append(("Revisions", revision_lines(revisions_of(pcs, read.objects), now, inner)))
    return head(manifest, now, terminal) + "".join(_section(title, [*lines], terminal) for title, lines in sections)


def page_value(manifest: Manifest, pcs: Manifest, read: ReadObjects, context: StepContext, now: float) -> dict[str, Any]:
    """Returns what the page tells as one document: the object as it is, and what it owns, waits for, its events, and revisions of a set."""
    metadata = {key: value for key, value in manifest["metadata"].items() if key != "managedFields"}
    owned = owned_by(manifest, read.objects, context.program)
    value: dict[str, Any] = {
        "apiVersion": manifest["apiVersion"],
        "kind": manifest["kind"],
        "metadata": metadata,
        **{key: manifest[key] for key in ("spec", "status") if key in manifest},
        "objects": [{"kind": each.kind, "count": each.number, "ready": each.ready} for each in owned],
        "waits": why_value(causes_of(manifest, pcs, read, context, now)),
        "events": [event_value(each) for each in events_about(manifest, read.objects)],
    }
    return value | ({"revisions": _revisions(revisions_of(pcs, read.objects))} if manifest["kind"] == SET_KIND else {})


def _revisions(newest: Sequence[Manifest]) -> list[dict[str, Any]]:
    return [
        {"revision": each.get("revision") or 0, "name": each["metadata"]["name"], "created": each["metadata"].get("creationTimestamp")}
        for each in newest
    ]


def _section(title: str, lines: Sequence[str], terminal: Terminal) -> str:
    if not lines:
        return f"{terminal.paint(f'{title}:', '1')} {NONE}\n"
    return f"{terminal.paint(f'{title}:', '1')}\n" + "".join(f"{INDENT}{line}\n" for line in lines)
