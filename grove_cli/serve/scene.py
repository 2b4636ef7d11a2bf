"""Draws the page of a snapshot: the graph of desired objects with their live states, and the waits of sets."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from applier.readiness import State
from applier.ref import GroupKind, Kind, Manifest, Ref
from grove_cli.operator.read_objects import ReadObjects, decisive
from grove_cli.queries.live_states import LiveStates, readiness_check
from grove_cli.queries.sets_query import why_of
from grove_cli.render.as_html import page_data
from grove_cli.render.picture import DECLARED, Picture, Vertex, draw, simplify
from grove_compiler.compile import CompileResult, Inputs
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.decoder import SET_KIND
from grove_compiler.graph.graph import CompiledGraph
from grove_compiler.graph.node import ObjectRef
from grove_compiler.graph.order import GraphCycle
from grove_compiler.model.inputs.snapshot import Snapshot
from grove_compiler.old_states import all_as_followed
from grove_compiler.record import record
from grove_compiler.replay.plain import redacted
from grove_compiler.source.document import Document
from grove_compiler.step import StepContext, StepHold
from grove_operator.controller.live_objects import LiveObjects
from grove_operator.controller.operator import watched
from grove_operator.controller.stalled_condition import hold_message
from grove_operator.controller.waiting import RecordedCache
from kube_objects.manifest import group_of, is_terminating, namespaced_name

MOODS = {State.READY: "ready", State.FAILED: "failed", State.TERMINATING: "going"}
DECLARED_FIELDS = ("name", "namespace", "labels", "annotations", "generation")
"""The metadata of a set on the page; the rest is set by servers and controllers."""

Row = list[Any]


@record
class SceneObjects:
    """Objects, and the kinds that the server does not serve. `doubts` are the reasons for which it may be stale.

    If it `is_complete`, objects that it lacks do not exist, but for what may not be read (`unread`, in words); a file may lack some kinds.
    """

    objects: Sequence[Manifest]
    unserved: frozenset[Kind] = frozenset()
    doubts: Sequence[str] = ()
    is_complete: bool = True
    unread: Sequence[str] = ()

    def read(self) -> ReadObjects:
        """Returns what was read, for those who find what objects wait for."""
        return ReadObjects([*self.objects], set(self.unserved), set(), decisive(self.unread))


@record
class Scene:
    """The data of the page. `graph` is that of `page_data` without states, and `id` its hash.

    `rows` are states: the position of an object, a summary, and one of `ready`, `waiting`, `failed`, `going`, `missing`. `notes` are
    messages at the top of the page: the id of an object, and a text. `of` says what is shown: `live`, or `a snapshot`.
    """

    graph: Manifest
    id: str
    rows: list[Row]
    notes: list[tuple[str, str]]
    of: str = "live"

    def page(self) -> Manifest:
        """Returns the data of a page with this scene."""
        return {**self.graph, "states": self.rows, "live": self.id, "of": self.of, "notes": self.notes}


def draw_scene(snapshot: SceneObjects, context: StepContext, namespace: str = "", name: str = "") -> Scene:
    """Draws the sets of a namespace, or of all if it is empty; with `name` only that set."""
    cache = RecordedCache(snapshot.objects, snapshot.unserved)
    sets = [pcs for pcs in cache.by_label("grove.io", SET_KIND, "", namespace) if name in ("", pcs["metadata"]["name"])]
    alive = [pcs for pcs in sets if not is_terminating(pcs)]
    view = LiveObjects(cache.view())
    followed = all_as_followed(map(Document, alive), Snapshot((), view))
    inputs = Inputs(followed, config=context.document, settings=context.settings, view=view)
    result = compile_inputs(inputs, context.program) if alive else CompileResult({})
    notes = [("", doubt) for doubt in snapshot.doubts]
    notes += [(_id(pcs), why) for pcs in sets if (why := why_of(pcs))]
    is_known = not decisive(snapshot.unread)  # or what seems to be wrong may be right
    held = [subject for subject in result.subjects if is_known and subject.hold and subject.kind == SET_KIND]
    notes += [(subject.ref.id, hold_message(StepHold(subject.hold, subject.findings))) for subject in held]
    picture, cycle = _picture(result, {_id(pcs): _declared(pcs) for pcs in sets})
    data = page_data(picture, {rule.id: rule.doc for rule in context.program.rules}, {}, {})
    digest = hashlib.sha256(json.dumps(data).encode()).hexdigest()[:16]
    states = LiveStates(readiness_check(context.program), snapshot.objects)
    of = "live" if snapshot.is_complete else "a snapshot"
    return Scene(data, digest, _rows(picture, cache, states, _known_kinds(snapshot, context)), [*notes, *cycle], of)


def _picture(result: CompileResult, declared: dict[str, Manifest]) -> tuple[Picture, list[tuple[str, str]]]:
    """Returns the picture, with hidden values of Secrets and including sets without objects, and the note about a dependency cycle."""
    nodes = [node._replace(object=redacted(node.object)) for node in result.graph.nodes]
    try:
        picture = draw(CompiledGraph(nodes, result.graph.after), declared)
        cycle = []
    except GraphCycle as error:
        picture, cycle = Picture([], [], []), [("", str(error))]
    drawn = {vertex.id for vertex in picture.vertices}
    others = [_vertex(pcs) for object_id, pcs in declared.items() if object_id not in drawn]
    return simplify(Picture([*others, *picture.vertices], picture.edges, picture.domains, picture.startup)), cycle


def _vertex(pcs: Manifest) -> Vertex:
    namespace, name = namespaced_name(pcs)
    return Vertex(_id(pcs), SET_KIND, name, namespace, "", DECLARED, "", "", pcs)


def _known_kinds(snapshot: SceneObjects, context: StepContext) -> set[GroupKind]:
    """Returns the kinds whose missing objects are known not to exist."""
    if not snapshot.is_complete:
        return {Ref.of(manifest)[:2] for manifest in snapshot.objects}
    unserved = {kind.group_kind for kind in snapshot.unserved}
    kinds = (watch.kind for watch in watched("", context.settings))
    return {(kind.group, kind.kind) for kind in kinds if kind.group_kind not in unserved and kind.kind not in snapshot.unread}


def _rows(picture: Picture, cache: RecordedCache, states: LiveStates, kinds: set[GroupKind]) -> list[Row]:
    rows: list[Row] = []
    for position, vertex in enumerate(picture.vertices):
        ref = Ref(group_of(str((vertex.object or {}).get("apiVersion", ""))), vertex.kind, vertex.namespace, vertex.name)
        if vertex.object is not None and ref[:2] in kinds:
            rows.append([position, *_state(cache.get(ref), states)])
    return rows


def _state(live: Manifest | None, states: LiveStates) -> tuple[str, str]:
    if live is None:
        return "missing", "missing"
    readiness = states.readiness(live)
    mood = MOODS.get(readiness.state, "waiting")
    summary = sorted(states.facts(live), key=lambda fact: not fact.startswith("gated"))  # gates first: a card truncates the summary
    return ", ".join(summary) or readiness.reason or mood, mood


def _declared(pcs: Manifest) -> Manifest:
    metadata = {key: value for key, value in pcs["metadata"].items() if key in DECLARED_FIELDS}
    return {"apiVersion": pcs["apiVersion"], "kind": SET_KIND, "metadata": metadata, "spec": pcs.get("spec") or {}}


def _id(pcs: Manifest) -> str:
    return ObjectRef("", SET_KIND, *namespaced_name(pcs)).id
