"""Formats the parts of a page that an object tells about itself: its head, spec, status and conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from applier.ref import Manifest
from grove_cli.age import since
from grove_cli.queries.facts import facts, gates_of
from grove_cli.queries.sets_query import gpus_of
from grove_cli.render.as_table import table
from grove_cli.terminal import Terminal, visible
from grove_compiler.kube.conditions import status_of
from grove_compiler.kube.timestamp import time
from kube_objects.manifest import LAST_APPLIED

Table = list[list[str]]

OMITTED = ("podSpec", "podTemplate", "template.cliques")
"""Fields of a spec that are tables of their own, or too long."""
OF_POD = ("nodeName", "schedulerName", "priorityClassName", "hostname", "serviceAccountName")
"""Fields of a pod's spec that are shown; a server fills many others."""


def head(manifest: Manifest, now: float, terminal: Terminal) -> str:
    """Returns name, namespace, kind, labels, annotations and age. As in kubectl, what `kubectl apply` has recorded is left out."""
    metadata = manifest["metadata"]
    created, deleted = metadata.get("creationTimestamp"), metadata.get("deletionTimestamp")
    rows = [
        ("Name", [metadata["name"]]),
        ("Namespace", [metadata.get("namespace") or ""]),
        ("Kind", [f"{manifest['kind']} ({manifest['apiVersion']})"]),
        ("Labels", _pairs(metadata.get("labels"))),
        ("Annotations", _pairs(metadata.get("annotations"))),
        ("Created", [f"{created} ({since(time(created), now)} ago)" if created else ""]),
        ("Deleted", [f"{deleted}, held by {', '.join(metadata.get('finalizers') or ['nobody'])}"] if deleted else []),
    ]
    lines = ((f"{title}:" if not number else "", value) for title, values in rows for number, value in enumerate(values or []))
    return "".join(f"{terminal.paint(f'{title:<14}', '1')}{visible(value) or '<none>'}\n" for title, value in lines)


def spec_lines(manifest: Manifest, terminal: Terminal) -> list[str]:
    """Returns the single values of a spec, and its cliques, scaling groups, gang or containers as tables."""
    spec = manifest.get("spec") or {}
    values = {key: spec[key] for key in OF_POD if spec.get(key)} if manifest["kind"] == "Pod" else spec
    lines = _fields(values)
    if gates := gates_of(manifest):
        lines.append(f"gates: {', '.join(gates)}")
    for title, rows in TABLES.get(manifest["kind"], _no_tables)(manifest):
        if len(rows) > 1:
            lines += [f"{title}:", *(f"  {line}" for line in table(_visible(rows), terminal).splitlines())]
    return lines


def status_lines(manifest: Manifest) -> list[str]:
    """Returns the facts of an object, and the counts and other single values of its status."""
    errors = [f"{each.get('code') or 'error'}: {each.get('description') or ''}" for each in status_of(manifest).get("lastErrors") or []]
    summary = "; ".join(facts(manifest))
    return [*([visible(summary)] if summary else []), *_fields(status_of(manifest)), *map(visible, errors)]


def condition_lines(manifest: Manifest, now: float, terminal: Terminal) -> list[str]:
    """Returns the table of conditions."""
    rows = [["TYPE", "STATUS", "SINCE", "REASON", "MESSAGE"]]
    for each in status_of(manifest).get("conditions") or []:
        began = since(time(each.get("lastTransitionTime") or None), now)
        rows.append(
            [str(each.get(key) or "") for key in ("type", "status")] + [began, str(each.get("reason") or ""), _line(each.get("message"))]
        )
    return table(_visible(rows), terminal).splitlines() if len(rows) > 1 else []


def _fields(values: Manifest, path: str = "") -> list[str]:
    """Returns the single values in maps, at any depth: `template.cliqueStartupType: …`; lists are left out."""
    lines: list[str] = []
    for key, value in values.items():
        name = f"{path}{key}"
        if isinstance(value, dict) and key not in OMITTED:
            lines += _fields(value, f"{name}.")
        elif not isinstance(value, dict | list) and value is not None:
            lines.append(f"{name}: {visible(str(value).lower() if isinstance(value, bool) else str(value))}")
        elif isinstance(value, list) and value and all(isinstance(item, str) for item in value):
            lines.append(f"{name}: {visible(', '.join(value))}")
    return lines


def _cliques_of_set(pcs: Manifest) -> Iterator[tuple[str, Table]]:
    template = (pcs.get("spec") or {}).get("template") or {}
    cliques = [[str(each.get("name")), *_clique(each.get("spec") or {})] for each in template.get("cliques") or []]
    yield "Cliques", [["NAME", *CLIQUE], *cliques]
    groups = template.get("podCliqueScalingGroups") or []
    rows = [[str(each.get("name")), *_counts(each, 1), ", ".join(map(str, each.get("cliqueNames") or []))] for each in groups]
    yield "Scaling groups", [["NAME", "REPLICAS", "MIN", "CLIQUES"], *rows]


def _clique_itself(clique: Manifest) -> Iterator[tuple[str, Table]]:
    yield "Pods", [list(CLIQUE), _clique(clique.get("spec") or {})]


def _groups_of_gang(gang: Manifest) -> Iterator[tuple[str, Table]]:
    groups = (gang.get("spec") or {}).get("podgroups") or []
    rows = [[str(each.get("name")), str(len(each.get("podReferences") or [])), str(each.get("minReplicas") or 0)] for each in groups]
    yield "Pod groups", [["NAME", "PODS", "MIN"], *rows]


def _containers_of_pod(pod: Manifest) -> Iterator[tuple[str, Table]]:
    states = {each.get("name"): each for key in ("initContainerStatuses", "containerStatuses") for each in status_of(pod).get(key) or []}
    spec, rows = pod.get("spec") or {}, [["NAME", "STATE", "RESTARTS", "IMAGE"]]
    for container in (*(spec.get("initContainers") or []), *(spec.get("containers") or [])):
        status = states.get(container.get("name")) or {}
        state = next(iter(status.get("state") or {"": None}))
        rows.append([str(container.get("name")), state, str(status.get("restartCount") or 0), str(container.get("image") or "")])
    yield "Containers", rows


def _no_tables(_: Manifest) -> Iterator[tuple[str, Table]]:
    return iter(())


CLIQUE = ("REPLICAS", "MIN", "GPUS", "IMAGE")
TABLES: dict[str, Callable[[Manifest], Iterator[tuple[str, Table]]]] = {
    "PodCliqueSet": _cliques_of_set,
    "PodClique": _clique_itself,
    "PodGang": _groups_of_gang,
    "Pod": _containers_of_pod,
}
"""What the lists in the spec of a kind are shown as."""


def _clique(spec: Manifest) -> list[str]:
    pod = spec.get("podSpec") or {}
    images = dict.fromkeys(str(each.get("image") or "") for each in pod.get("containers") or [])
    return [*_counts(spec), str(gpus_of({"spec": pod})), ", ".join(images)]


def _counts(holder: Manifest, least: int | None = None) -> list[str]:
    """Returns replicas and minAvailable, whose default is `least`, or else all replicas."""
    replicas = holder.get("replicas", 1)
    return [str(replicas), str(holder.get("minAvailable", replicas if least is None else least))]


def _pairs(values: Any) -> list[str]:
    return [f"{key}={_line(value)}" for key, value in (values or {}).items() if key != LAST_APPLIED] or [""]


def _line(value: Any) -> str:
    return " ".join(str(value or "").split())


def _visible(rows: Sequence[Sequence[str]]) -> Table:
    return [[visible(cell) for cell in row] for row in rows]
