"""Formats the parts of a page that other objects tell: what an object owns and waits for, its events, and the revisions of a set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from applier.ref import Manifest, Ref, uid_of
from grove_cli.age import since
from grove_cli.events.as_text import events_text
from grove_cli.events.read import events_in
from grove_cli.operator.read_objects import ReadObjects
from grove_cli.queries.live_states import LiveStates
from grove_cli.queries.readiness import readiness_check
from grove_cli.queries.tree import branches, grow, owner_uid
from grove_cli.render.as_table import table
from grove_cli.terminal import Terminal, visible
from grove_cli.why.as_text import cause_lines
from grove_compiler.kube.timestamp import time
from grove_compiler.step import StepContext
from grove_operator.cluster.why import reasons
from grove_operator.controller.waiting import waits_of

if TYPE_CHECKING:
    from grove_compiler.engine.runtime.program import Program

MAX_EVENTS = 20
"""The last events are shown, as a page is not a history."""


def object_lines(manifest: Manifest, objects: Sequence[Manifest], program: Program, terminal: Terminal) -> list[str]:
    """Returns how many objects of each kind an object owns, and how many are ready."""
    owned = [branch.manifest for branch, _ in branches(grow(manifest, objects))][1:]
    states = LiveStates(readiness_check(program), owned)
    kinds = dict.fromkeys(str(each["kind"]) for each in owned)
    rows = [["KIND", "COUNT", "READY"]]
    for kind in kinds:
        of_kind = [each for each in owned if each["kind"] == kind]
        rows.append([kind, str(len(of_kind)), str(sum(str(states.readiness(each).state) == "Ready" for each in of_kind))])
    return table(rows, terminal).splitlines() if owned else []


def wait_lines(manifest: Manifest, pcs: Manifest, read: ReadObjects, context: StepContext, now: float, terminal: Terminal) -> list[str]:
    """Returns the tree of causes of `grove why`."""
    causes = reasons(Ref.of(manifest), waits_of(pcs, read.objects, read.unserved, context, now, manifest))
    return [*cause_lines(causes, now, terminal)]


def event_lines(manifest: Manifest, objects: Sequence[Manifest], now: float, terminal: Terminal) -> list[str]:
    """Returns the last events of `grove events`: of a set those of its parts as well."""
    metadata = manifest["metadata"]
    events = events_in(objects, f"{manifest['kind']}/{metadata['name']}", metadata.get("namespace") or "", ())
    if not events:
        return []
    earlier = [f"… {len(events) - MAX_EVENTS} earlier ones: grove events {metadata['name']}"] if len(events) > MAX_EVENTS else []
    return [*earlier, *events_text(events[-MAX_EVENTS:], now, terminal, with_namespaces=False).splitlines()]


def revision_lines(pcs: Manifest, objects: Sequence[Manifest], now: float, terminal: Terminal) -> list[str]:
    """Returns the ControllerRevisions of a set, the newest first."""
    found = [each for each in objects if each["kind"] == "ControllerRevision" and owner_uid(each) == uid_of(pcs) != ""]
    newest = sorted(found, key=lambda each: -int(each.get("revision") or 0))
    rows = [["REVISION", "AGE", "NAME"]]
    for each in newest:
        metadata = each["metadata"]
        current = " (current)" if each is newest[0] else ""
        age = since(time(metadata.get("creationTimestamp") or None), now)
        rows.append([str(each.get("revision") or 0), age, visible(metadata["name"]) + current])
    return table(rows, terminal).splitlines() if found else []
