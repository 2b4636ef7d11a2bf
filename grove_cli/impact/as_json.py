"""Formats the result of `grove impact` as JSON."""

from __future__ import annotations

from typing import Any

from grove_cli import findings
from grove_cli.output import json_report
from grove_compiler.gangs.clique import MIG, CompiledClique
from grove_compiler.graph.diagnostic import has_errors
from grove_compiler.graph.field_path import ABSENT, render
from grove_compiler.impact.account import account
from grove_compiler.impact.fate import Fate
from grove_compiler.impact.impact import EditImpact, Impact, SetImpact
from grove_compiler.impact.pods import ReplicaRestart


def as_json(result: Impact) -> bytes:
    """Returns the result. `allowed` is false for an edit that admission rejects; nothing else is known then."""
    value = {
        "allowed": not has_errors(result.forbidden),
        "changes": result.touches,
        "forbidden": findings.as_manifest(result.forbidden),
        "findings": findings.as_manifest(result.findings),
        "sets": [_set(each, whole=True) for each in result.sets],
        "causes": [_cause(cause) for cause in result.causes],
    }
    return json_report(value)


def _set(impact: SetImpact, whole: bool) -> dict[str, Any]:
    namespace, name = impact.place
    head: dict[str, Any] = {"namespace": namespace, "name": name, "updateStrategy": impact.strategy} if name else {}
    if name:
        head["generationHash"] = dict(zip(("before", "after"), impact.hashes, strict=True))
    totals = account([impact])
    head |= {"pods": totals.pods, "gpus": totals.gpus}
    if any(totals.mig_devices.values()):
        head["migDevices"] = totals.mig_devices
    head |= {"gangs": totals.gangs, "counts": totals.objects}
    if whole:
        head["objects"] = [_fate(fate) for fate in impact.fates]
        head["restarts"] = [_restart(replica) for replica in impact.pods.restarts]
    return head


def _fate(fate: Fate) -> dict[str, Any]:
    fields = {"fields": fate.fields, "reason": fate.reason, "kept": fate.kept}
    return {"what": fate.what, "object": fate.node.id, "rule": fate.node.rule} | {key: value for key, value in fields.items() if value}


def _restart(replica: ReplicaRestart) -> dict[str, Any]:
    groups = [
        {"name": name, "replicas": [{"index": index, "cliques": _cliques(part)} for index, part in parts.items()]}
        for name, parts in replica.groups.items()
    ]
    pace = {"atATime": replica.at_a_time} if replica.at_a_time else {}
    return {"replica": replica.index, "cliques": _cliques(replica.cliques), "scalingGroups": groups, **pace}


def _cliques(cliques: list[CompiledClique]) -> list[dict[str, Any]]:
    return [{"name": clique.name, "pods": clique.pods, "gpusEach": clique.gpus, **_mig(clique)} for clique in cliques]


def _mig(clique: CompiledClique) -> dict[str, int]:
    return {"migDevicesEach": clique.devices[MIG]} if MIG in clique.devices else {}


def _cause(cause: EditImpact) -> dict[str, Any]:
    edit = cause.edit
    result: dict[str, Any] = {"object": edit.subject, "path": render(edit.change.path), "file": edit.file, "line": edit.line}
    values = {"before": edit.change.before, "after": edit.change.after}
    result |= {key: value for key, value in values.items() if value is not ABSENT}
    if cause.alone is None:
        return result | {"effect": None, "reason": cause.reason}
    return result | {"effect": [_set(impact, whole=False) for impact in cause.alone]}
