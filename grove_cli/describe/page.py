"""Puts the page about an object together: from what it tells itself, and from what it owns and waits for, its events and revisions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from applier.ref import Manifest, uid_of
from grove_cli.age import since
from grove_cli.describe.sections import condition_lines, head, spec_lines, status_lines
from grove_cli.events.as_text import event_value, events_text
from grove_cli.events.read import events_in
from grove_cli.operator.read_objects import ReadObjects
from grove_cli.queries.events_query import EventLine
from grove_cli.queries.live_states import LiveStates, readiness_check
from grove_cli.queries.tree import branches, grow, owner_uid
from grove_cli.render.as_table import table
from grove_cli.terminal import Terminal, visible
from grove_cli.why.as_text import cause_lines, why_value
from grove_cli.why.causes import causes_in
from grove_compiler.decoder import SET_KIND
from grove_compiler.kube.timestamp import time
from grove_compiler.step import StepContext
from kube_objects.manifest import namespaced_name, without_managed_fields

if TYPE_CHECKING:
    from grove_compiler.engine.runtime.program import Program

INDENT = "  "
NONE = "<none>"
MAX_EVENTS = 20
"""The last events are shown, as a page is not a history."""


def page(manifest: Manifest, pcs: Manifest, read: ReadObjects, context: StepContext, now: float, terminal: Terminal) -> str:
    """Returns the page about an object of a set. A section without anything in it is `<none>`."""
    inner = terminal._replace(width=terminal.width - len(INDENT))
    sections: list[tuple[str, Iterable[str]]] = [
        ("Spec", spec_lines(manifest, inner)),
        ("Status", status_lines(manifest)),
        ("Conditions", condition_lines(manifest, now, inner)),
        ("Objects", object_lines(owned_by(manifest, read.objects, context.program), inner)),
        ("Waits for", cause_lines(causes_in(read, manifest, pcs, context, now), now, inner)),
        ("Events", event_lines(manifest, events_about(manifest, read.objects), now, inner)),
    ]
    if manifest["kind"] == SET_KIND:
        sections.append(("Revisions", revision_lines(revisions_of(pcs, read.objects), now, inner)))
    return head(manifest, now, terminal) + "".join(_section(title, [*lines], terminal) for title, lines in sections)


def page_value(manifest: Manifest, pcs: Manifest, read: ReadObjects, context: StepContext, now: float) -> dict[str, Any]:
    """Returns what the page tells as one document: the object as it is, and what it owns, waits for, its events, and revisions of a set."""
    owned = owned_by(manifest, read.objects, context.program)
    value: dict[str, Any] = {
        "apiVersion": manifest["apiVersion"],
        "kind": manifest["kind"],
        "metadata": without_managed_fields(manifest)["metadata"],
        **{key: manifest[key] for key in ("spec", "status") if key in manifest},
        "objects": [{"kind": each.kind, "count": each.number, "ready": each.ready} for each in owned],
        "waits": why_value(causes_in(read, manifest, pcs, context, now)),
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


class Owned(NamedTuple):
    """How many objects of a kind an object owns, and how many of them are ready."""

    kind: str
    number: int
    ready: int


def owned_by(manifest: Manifest, objects: Sequence[Manifest], program: Program) -> list[Owned]:
    """Counts the objects of each kind that an object owns."""
    owned = [branch.manifest for branch, _ in branches(grow(manifest, objects))][1:]
    states = LiveStates(readiness_check(program), owned)
    found = []
    for kind in dict.fromkeys(str(each["kind"]) for each in owned):
        of_kind = [each for each in owned if each["kind"] == kind]
        found.append(Owned(kind, len(of_kind), sum(str(states.readiness(each).state) == "Ready" for each in of_kind)))
    return found


def object_lines(owned: Sequence[Owned], terminal: Terminal) -> list[str]:
    """Returns a line for each kind of owned objects."""
    rows = [["KIND", "COUNT", "READY"], *([str(cell) for cell in each] for each in owned)]
    return table(rows, terminal).splitlines() if owned else []


def events_about(manifest: Manifest, objects: Sequence[Manifest]) -> list[EventLine]:
    """Returns the events of `grove events`: of a set those of its parts as well."""
    namespace, name = namespaced_name(manifest)
    return events_in(objects, f"{manifest['kind']}/{name}", namespace, ())


def event_lines(manifest: Manifest, events: Sequence[EventLine], now: float, terminal: Terminal) -> list[str]:
    """Returns the last events as a table."""
    if not events:
        return []
    more, name = len(events) - MAX_EVENTS, manifest["metadata"]["name"]
    earlier = [f"… {more} earlier ones: grove events {name}"] if more > 0 else []
    return [*earlier, *events_text(events[-MAX_EVENTS:], now, terminal, with_namespaces=False).splitlines()]


def revisions_of(pcs: Manifest, objects: Sequence[Manifest]) -> list[Manifest]:
    """Returns the ControllerRevisions of a set, the newest first."""
    found = [each for each in objects if each["kind"] == "ControllerRevision" and owner_uid(each) == uid_of(pcs) != ""]
    return sorted(found, key=lambda each: -int(each.get("revision") or 0))


def revision_lines(newest: Sequence[Manifest], now: float, terminal: Terminal) -> list[str]:
    """Returns a line for each revision."""
    rows = [["REVISION", "AGE", "NAME"]]
    for each in newest:
        metadata = each["metadata"]
        current = " (current)" if each is newest[0] else ""
        age = since(time(metadata.get("creationTimestamp") or None), now)
        rows.append([str(each.get("revision") or 0), age, visible(metadata["name"]) + current])
    return table(rows, terminal).splitlines() if newest else []
