"""Draws what there is now: the graph of what should be, with how far each object of it has come, and what sets wait for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from applier.readiness import State
from applier.ref import GroupKind, Kind, Manifest, Ref
from grove_compiler.compile import Inputs, Result
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.decoder import SET_KIND
from grove_compiler.graph.graph import Graph
from grove_compiler.graph.node import ObjectRef
from grove_compiler.graph.order import GraphCycle
from grove_compiler.model.inputs.snapshot import group_of, is_terminating
from grove_compiler.record import record
from grove_compiler.replay.plain import redacted
from grove_compiler.source.document import Document
from grove_compiler.step import Context, Hold
from grove_operator.cluster.facts import facts
from grove_operator.cluster.readiness import ReadinessCheck, readiness_check
from grove_operator.cluster.sets_query import why_of
from grove_operator.controller.live_objects import LiveObjects
from grove_operator.controller.operator import watched
from grove_operator.controller.recorded_cache import RecordedCache
from grove_operator.controller.stalled_condition import hold_message
from grove_operator.render.as_html import page_data
from grove_operator.render.picture import DECLARED, Picture, Vertex, draw, simplified

MOODS = {State.READY: "ready", State.FAILED: "failed", State.TERMINATING: "going"}
DECLARED_FIELDS = ("name", "namespace", "labels", "annotations", "generation")
"""What the page shows of a set's metadata: the rest changes with each report, and nobody declared it."""

Row = list[Any]


@record
class Seen:
    """What there is: objects, and the kinds that the server does not serve. `doubts` say why it may not be what is there by now.

    It `is_whole` where an object that is not among them is not there. A file may have been written without some kinds.
    """

    objects: Sequence[Manifest]
    unserved: frozenset[Kind] = frozenset()
    doubts: Sequence[str] = ()
    is_whole: bool = True


@record
class Scene:
    """What the page shows. `graph` is as `page_data` has it, without states, and `id` tells one from another.

    `rows` are states: the position of an object, a few words, and one of `ready`, `waiting`, `failed`, `going`, `missing`. `notes` are
    what people are told first: the id of an object, and words.
    """

    graph: Manifest
    id: str
    rows: list[Row]
    notes: list[tuple[str, str]]

    def page(self) -> Manifest:
        """Returns the data of a page that begins with this scene."""
        return {**self.graph, "states": self.rows, "live": self.id, "notes": self.notes}


def draw_scene(seen: Seen, context: Context, namespace: str = "", name: str = "") -> Scene:
    """Draws the scene of the sets of a namespace, of all where it is empty, or of the one of that `name`."""
    cache = RecordedCache(seen.objects, seen.unserved)
    sets = [one for one in cache.by_label("grove.io", SET_KIND, "", namespace) if name in ("", one["metadata"]["name"])]
    alive = [one for one in sets if not is_terminating(one)]
    inputs = Inputs([Document(one) for one in alive], config=context.document, settings=context.settings, view=LiveObjects(cache.view()))
    result = compile_inputs(inputs, context.program) if alive else Result({})
    notes = [("", doubt) for doubt in seen.doubts]
    notes += [(_id(one), why) for one in sets if (why := why_of(one))]
    held = [one for one in result.subjects if one.hold and one.kind == SET_KIND]
    notes += [(one.ref.id, hold_message(Hold(one.hold, one.findings))) for one in held]
    picture, cycle = _picture(result, {_id(one): _declared(one) for one in sets})
    data = page_data(picture, {rule.id: rule.doc for rule in context.program.rules}, {}, {})
    digest = hashlib.sha256(json.dumps(data).encode()).hexdigest()[:16]
    return Scene(data, digest, _rows(picture, cache, readiness_check(context.program), _known_kinds(seen, context)), [*notes, *cycle])


def _picture(result: Result, declared: dict[str, Manifest]) -> tuple[Picture, list[tuple[str, str]]]:
    """Returns the picture, with values of Secrets hidden and with sets of which nothing is made.

    And why, where objects wait for each other.
    """
    nodes = [node._replace(object=redacted(node.object)) for node in result.graph.nodes]
    try:
        picture = draw(Graph(nodes, result.graph.after), declared)
        cycle = []
    except GraphCycle as error:
        picture, cycle = Picture([], [], []), [("", str(error))]
    known = {vertex.id for vertex in picture.vertices}
    alone = [_alone(one) for id, one in declared.items() if id not in known]
    return simplified(Picture([*alone, *picture.vertices], picture.edges, picture.domains, picture.startup)), cycle


def _alone(set: Manifest) -> Vertex:
    metadata = set["metadata"]
    return Vertex(_id(set), SET_KIND, metadata["name"], metadata.get("namespace") or "", "", DECLARED, "", "", set)


def _known_kinds(seen: Seen, context: Context) -> set[GroupKind]:
    """Returns the kinds of which it is known what there is."""
    if not seen.is_whole:
        return {Ref.of(one)[:2] for one in seen.objects}
    unserved = {kind.group_kind for kind in seen.unserved}
    kinds = (one.kind for one in watched("", context.settings))
    return {(kind.group, kind.kind) for kind in kinds if kind.group_kind not in unserved}


def _rows(picture: Picture, cache: RecordedCache, check: ReadinessCheck, kinds: set[GroupKind]) -> list[Row]:
    rows: list[Row] = []
    for position, vertex in enumerate(picture.vertices):
        ref = Ref(group_of(str((vertex.object or {}).get("apiVersion", ""))), vertex.kind, vertex.namespace, vertex.name)
        if vertex.object is not None and ref[:2] in kinds:
            rows.append([position, *_state(cache.get(ref), check)])
    return rows


def _state(live: Manifest | None, check: ReadinessCheck) -> tuple[str, str]:
    if live is None:
        return "missing", "missing"
    said = check(live)
    mood = MOODS.get(said.state, "waiting")
    told = sorted(facts(live), key=lambda fact: not fact.startswith("gated"))  # a card has room for few words
    return ", ".join(told) or said.reason or mood, mood


def _declared(set: Manifest) -> Manifest:
    metadata = {key: value for key, value in set["metadata"].items() if key in DECLARED_FIELDS}
    return {"apiVersion": set["apiVersion"], "kind": SET_KIND, "metadata": metadata, "spec": set.get("spec") or {}}


def _id(set: Manifest) -> str:
    return ObjectRef("", SET_KIND, set["metadata"].get("namespace") or "", set["metadata"]["name"]).id
