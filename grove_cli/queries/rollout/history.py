"""Reads the revisions of a set, with what each of them changed in its pods, and finds the one that an undo goes back to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from applier.cluster import Cluster
from applier.ref import Kind, Manifest, owner_uids
from grove_cli.queries.rollout.edits import SetEdit, undo
from grove_cli.queries.tree_query import EditRefused
from grove_compiler.decoder import Decoder
from grove_compiler.engine.runtime.program import Program
from grove_compiler.graph.field_path import ABSENT, FieldPath, render, value_at
from grove_compiler.kube.timestamp import time
from grove_compiler.labels import PART_OF
from grove_compiler.model.expanded.recorded_templates import Revision
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.spec.templates import templates_in
from grove_compiler.record import record
from grove_compiler.source.document import Document
from kube_objects.manifest import is_terminating
from kube_objects.words import shortened

REVISION = Kind("apps", "v1", "ControllerRevision")


@record
class RecordedRevision:
    """A revision, created at a time in seconds since the epoch. `changes` are those since the revision before, a line each."""

    revision: Revision
    is_current: bool
    created: float | None
    changes: Sequence[str]

    @property
    def number(self) -> int:
        """The number of the revision."""
        return self.revision.number


async def read_history(cluster: Cluster, pcs: Manifest) -> list[RecordedRevision]:
    """Returns the revisions of a set, the oldest first. Raises `ClusterError`."""
    metadata = pcs["metadata"]
    labels = f"{PART_OF}={metadata['name']}"
    listing = await cluster.list(await cluster.resource(REVISION), metadata["namespace"], labels=labels)
    return history_of(pcs, listing.items)


def history_of(pcs: Manifest, manifests: Sequence[Manifest]) -> list[RecordedRevision]:
    """Returns the revisions among these objects that belong to a set, the oldest first."""
    uid = str(pcs["metadata"].get("uid"))
    owned = [each for each in manifests if each["kind"] == REVISION.kind and uid in owner_uids(each) and not is_terminating(each)]
    revisions = sorted(map(Revision, owned), key=lambda revision: (revision.number, revision.name))
    current = (pcs.get("status") or {}).get("currentGenerationHash")
    known = any(revision.generation_hash == current for revision in revisions)
    history: list[RecordedRevision] = []
    for index, revision in enumerate(revisions):
        is_current = revision.generation_hash == current if known else revision is revisions[-1]
        changes = changes_between(revisions[index - 1].data, revision.data) if index else []
        history.append(RecordedRevision(revision, is_current, time(revision.manifest["metadata"].get("creationTimestamp")), changes))
    return history


def matches(revision: Revision, pcs: Manifest) -> bool:
    """Reports whether the pod templates of a set mean the same as those of a revision."""
    template = pcs["spec"]["template"]
    priority_class = template.get("priorityClassName") or ""
    if priority_class != (revision.data.get("priorityClassName") or ""):
        return False
    return all(revision.has_template(clique, priority_class) for clique in templates_in(template).cliques)


async def undo_to(cluster: Cluster, pcs: Manifest, number: int, program: Program) -> SetEdit:
    """Returns the edit that goes back to a revision, for 0 the previous one. Raises `ClusterError`, `EditRefused` where there is none."""
    history = await read_history(cluster, pcs)
    complete = _with_defaults(pcs, program)
    target = find(history, number, pcs) if number else _previous(history, complete)
    if matches(target.revision, complete):
        return SetEdit("", unchanged=f"skipped rollback (current templates already match revision {target.number})")
    edit = undo(pcs, complete, target.revision.data, target.number)
    return edit._replace(details=changes_between(_data_of(complete), target.revision.data))


def find(history: list[RecordedRevision], number: int, pcs: Manifest) -> RecordedRevision:
    """Returns the revision with a number. Raises `EditRefused`, with those that there are."""
    found = next((each for each in history if each.number == number), None)
    if found is None:
        numbers = ", ".join(str(each.number) for each in history)
        there = f"there are {numbers}" if numbers else "none is recorded yet"
        raise EditRefused(f"PodCliqueSet {pcs['metadata']['name']!r} has no revision {number}: {there}")
    return found


def _previous(history: list[RecordedRevision], pcs: Manifest) -> RecordedRevision:
    """Returns the newest revision with other templates than those of the set."""
    others = [each for each in history if not matches(each.revision, pcs)]
    if not others:
        raise EditRefused(f"PodCliqueSet {pcs['metadata']['name']!r} has no earlier revision to go back to")
    return others[-1]


def _data_of(pcs: Manifest) -> Manifest:
    """Returns the templates of a set in the form of a revision."""
    template = pcs["spec"]["template"]
    cliques = []
    for clique in template["cliques"]:
        parts = {key: clique[key] for key in ("labels", "annotations") if clique.get(key)}
        cliques.append({"name": clique["name"], "template": {**parts, "podSpec": clique["spec"].get("podSpec") or {}}})
    return {"cliques": cliques, "priorityClassName": template.get("priorityClassName")}


def _with_defaults(pcs: Manifest, program: Program) -> Manifest:
    """Returns a set with all defaults, as revisions record it; as it is if it is invalid."""
    decoder = Decoder(program, {"settings": Settings()})
    decoder.take([Document(pcs)])
    entry = decoder.decoded[0]
    return entry.manifest if entry.is_defaulted and not entry.structural else pcs


MAX_LENGTH = 60
"""Characters of a value, such as a command, that are shown."""


def changes_between(before: Manifest, after: Manifest) -> list[str]:
    """Returns the fields in which the templates of two revisions differ in meaning: `front, back: containers[main].image a:1 -> a:2`."""
    from grove_compiler.kube.semantic_difference import pod_template_differences  # brings many tables

    old = {entry.get("name"): _template(entry) for entry in before.get("cliques") or []}
    cliques: dict[str, list[str]] = defaultdict(list)
    for entry in after.get("cliques") or []:
        name, new = str(entry.get("name")), _template(entry)
        for change in pod_template_differences(old.get(name, new), new):
            cliques[f"{_place(change.path, new, old[name])} {_values(change.before, change.after)}"].append(name)
    lines = [f"{', '.join(names)}: {change}" for change, names in cliques.items()]
    classes = [str(data.get("priorityClassName") or "none") for data in (before, after)]
    return [*lines, *([f"priorityClassName {classes[0]} -> {classes[1]}"] if classes[0] != classes[1] else [])]


def _template(entry: Manifest) -> Manifest:
    parts = entry.get("template") or {}
    return {"metadata": {key: parts.get(key) or {} for key in ("labels", "annotations")}, "spec": parts.get("podSpec") or {}}


def _place(path: FieldPath, *templates: Manifest) -> str:
    """Returns a path without its first step, with the names of list items in place of indices: `containers[main].image`."""
    steps: list[str | int] = []
    values: list[Any] = list(templates)
    for step in path:
        values = [value_at(value, (step,)) for value in values]
        names = (value.get("name") for value in values if isinstance(value, dict))
        name = next((name for name in names if name), None) if isinstance(step, int) else None
        steps.append(step if name is None else f"[{name}]")
    return "".join(
        str(step) if str(step)[:1] == "[" else render([step]) if number == 0 else _dotted(step) for number, step in enumerate(steps[1:])
    )


def _dotted(step: str | int) -> str:
    text = render([step])
    return text if text.startswith("[") else f".{text}"


def _values(before: Any, after: Any) -> str:
    if isinstance(before, list) or isinstance(after, list):
        return _items(before, after)
    return f"{_shown(before)} -> {_shown(after)}"


def _items(before: Any, after: Any) -> str:
    """Describes a changed list by the names of its items: `+DEBUG -LEVEL`."""
    old, new = ([_name(item) for item in value] if isinstance(value, list) else [] for value in (before, after))
    signs = [f"+{name}" for name in new if name not in old] + [f"-{name}" for name in old if name not in new]
    return shortened(" ".join(signs), MAX_LENGTH) or "changed"


def _name(item: Any) -> str:
    names = (str(item[key]) for key in ("name", "key", "mountPath", "containerPort") if key in item) if isinstance(item, dict) else ()
    return next(iter(names), str(item))


def _shown(value: Any) -> str:
    return "none" if value is ABSENT or value is None else shortened(str(value), MAX_LENGTH)
