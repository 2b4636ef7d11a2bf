"""Finds the revision that an undo goes back to.

Revisions record pod templates with the defaults of the operator's rules, also where no webhook sets them.
"""

from __future__ import annotations

from applier.cluster import Cluster
from applier.ref import Manifest
from grove_cli.queries.edits import EditRefused
from grove_cli.queries.rollout.changes import changes_between
from grove_cli.queries.rollout.edits import SetEdit, undo
from grove_cli.queries.rollout.history import RecordedRevision, matches, read_history
from grove_compiler.decoder import Decoder
from grove_compiler.engine.runtime.program import Program
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.source.document import Document


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
    """Returns a set with all defaults; as it is if it is invalid."""
    decoder = Decoder(program, {"settings": Settings()})
    decoder.take([Document(pcs)])
    entry = decoder.decoded[0]
    return entry.manifest if entry.is_defaulted and not entry.structural else pcs
