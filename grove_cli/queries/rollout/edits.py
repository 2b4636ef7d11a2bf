"""Defines the edits of a set that start, hold and undo a rollout."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from applier.ref import Manifest
from grove_cli.queries.tree_query import EditRefused, is_training
from grove_compiler.graph.field_path import ABSENT, FieldPath, replace
from grove_compiler.kube.timestamp import timestamp
from kube_objects import json_pointer

RESTARTED_AT = "kubectl.kubernetes.io/restartedAt"
"""The annotation of a pod template by which `kubectl rollout restart` restarts pods."""
PAUSED = "grove.io/rollout-paused"
"""The annotation of a paused set: its updateStrategy before, as JSON."""
ON_DELETE = "OnDelete"


class SetEdit(NamedTuple):
    """Changes of a set: a value for each path, `ABSENT` to remove it. `word` is the past participle in messages.

    `unchanged` replaces `WORD already` where there is nothing to change; `details` describe the changes for a dry run.
    """

    word: str
    changes: Sequence[tuple[FieldPath, Any]] = ()
    unchanged: str = ""
    details: Sequence[str] = ()

    def applied_to(self, pcs: Manifest) -> Manifest:
        """Returns the set after the edit."""
        for path, value in self.changes:
            pcs = replace(pcs, path, value)
        return pcs

    def patch(self, version: str) -> list[dict[str, Any]]:
        """Returns the edit as a JSON patch of one version of the set."""
        test = {"op": "test", "path": "/metadata/resourceVersion", "value": version}
        return [test, *(_operation(path, value) for path, value in self.changes)]


def _operation(path: FieldPath, value: Any) -> dict[str, Any]:
    pointer = json_pointer.join(path)
    return {"op": "remove", "path": pointer} if value is ABSENT else {"op": "add", "path": pointer, "value": value}


def refuse_training(pcs: Manifest) -> None:
    """Raises `EditRefused` for a training workload, whose pods are never updated."""
    if is_training(pcs):
        name = pcs["metadata"]["name"]
        why = f"PodCliqueSet {name!r} is a training workload, whose pods are never updated"
        raise EditRefused(f"{why}; to end the running attempts and begin new ones: grove job restart {name}")


def restart(pcs: Manifest, now: float) -> SetEdit:
    """Returns the edit that gives all pods a new template. Raises `EditRefused` for a paused set."""
    if PAUSED in annotations_of(pcs):
        name = pcs["metadata"]["name"]
        raise EditRefused(f"the rollout of PodCliqueSet {name!r} is paused; resume it first: grove rollout resume {name}")
    stamp = timestamp(now)
    cliques = pcs["spec"]["template"]["cliques"]
    annotated = [{**(clique.get("annotations") or {}), RESTARTED_AT: stamp} for clique in cliques]
    return SetEdit("restarted", [(_clique(index, "annotations"), value) for index, value in enumerate(annotated)])


def pause(pcs: Manifest) -> SetEdit:
    """Returns the edit that sets OnDelete, and records the strategy before; an edit without changes if it is set already."""
    strategy = pcs["spec"].get("updateStrategy")
    if strategy_of(pcs) == ON_DELETE:
        return SetEdit("paused")
    record = _annotated(pcs, PAUSED, json.dumps(strategy))
    return SetEdit("paused", [(("spec", "updateStrategy"), {**(strategy or {}), "type": ON_DELETE}), record])


def resume(pcs: Manifest) -> SetEdit:
    """Returns the edit that puts the recorded strategy back. Raises `EditRefused` for a set with OnDelete that was not paused here."""
    recorded = annotations_of(pcs).get(PAUSED)
    if recorded is None:
        if strategy_of(pcs) == ON_DELETE:
            name = pcs["metadata"]["name"]
            why = f"PodCliqueSet {name!r} has the updateStrategy {ON_DELETE} without a pause by `grove rollout pause`"
            raise EditRefused(f"{why}: change spec.updateStrategy in its manifest")
        return SetEdit("resumed", unchanged="is not paused")
    forget = (("metadata", "annotations", PAUSED), ABSENT)
    if strategy_of(pcs) != ON_DELETE:  # somebody has changed it since
        return SetEdit("resumed", [forget])
    strategy = _strategy(recorded)
    return SetEdit("resumed", [(("spec", "updateStrategy"), ABSENT if strategy is None else strategy), forget])


def undo(pcs: Manifest, complete: Manifest, data: Manifest, number: int) -> SetEdit:
    """Returns the edit that writes the pod templates of a revision with this `data` back.

    `complete` is the set with defaults, as revisions record it: what differs in defaults only is left as it is. So are numbers of replicas,
    and all else of the set.
    """
    changes: list[tuple[FieldPath, Any]] = []
    recorded = {entry.get("name"): entry.get("template") or {} for entry in data.get("cliques") or []}
    template = pcs["spec"]["template"]
    for index, (clique, defaulted) in enumerate(zip(template["cliques"], complete["spec"]["template"]["cliques"], strict=True)):
        parts = recorded.get(clique.get("name"))
        if parts is not None:
            changes += _change(clique, "labels", parts.get("labels"), _clique(index, "labels"))
            changes += _change(clique, "annotations", parts.get("annotations"), _clique(index, "annotations"))
            wanted = _as_declared(clique["spec"].get("podSpec") or {}, defaulted["spec"].get("podSpec") or {}, parts.get("podSpec") or {})
            changes += _change(clique["spec"], "podSpec", wanted, _clique(index, "spec", "podSpec"))
    path: FieldPath = ("spec", "template", "priorityClassName")
    changes += _change(template, "priorityClassName", data.get("priorityClassName") or None, path)
    return SetEdit(f"rolled back to revision {number}", changes)


def _as_declared(live: Manifest, complete: Manifest, recorded: Manifest) -> Manifest:
    """Returns a recorded pod spec; fields that are recorded as they are now, with defaults, are as the live one declares them."""
    same = {key: live.get(key, ABSENT) for key, value in recorded.items() if value == complete.get(key, ABSENT)}
    return {key: value for key, value in {**recorded, **same}.items() if value is not ABSENT}


def annotations_of(pcs: Manifest) -> dict[str, str]:
    """Returns the annotations of a set."""
    return pcs["metadata"].get("annotations") or {}


def strategy_of(pcs: Manifest) -> str:
    """Returns the type of a set's updateStrategy."""
    return ((pcs.get("spec") or {}).get("updateStrategy") or {}).get("type") or "RollingRecreate"


def _strategy(recorded: str) -> Manifest | None:
    """Returns the recorded strategy. None, for the default, where it was absent, or the record is broken."""
    try:
        strategy = json.loads(recorded)
    except ValueError:
        return None
    return strategy if isinstance(strategy, dict) else None


def _annotated(pcs: Manifest, name: str, value: str) -> tuple[FieldPath, Any]:
    if pcs["metadata"].get("annotations"):
        return ("metadata", "annotations", name), value
    return ("metadata", "annotations"), {name: value}


def _change(fields: Manifest, key: str, wanted: Any, path: FieldPath) -> list[tuple[FieldPath, Any]]:
    """Returns the change that makes a field `wanted`, none if it is so; None stands for no such field."""
    if (fields.get(key) or None) == (wanted or None):
        return []
    return [(path, ABSENT if wanted is None else wanted)]


def _clique(index: int, *path: str) -> FieldPath:
    return ("spec", "template", "cliques", index, *path)
