"""Finds the states of a picture's objects in a snapshot of a cluster."""

from __future__ import annotations

from collections.abc import Iterable

from grove_cli.render.picture import Vertex
from grove_compiler.gangs.clique import CLIQUE_KIND
from grove_compiler.gangs.gang import GANG_KIND
from grove_compiler.model.inputs.snapshot import ObjectReader
from kube_objects.manifest import group_of, section


def find_states(vertices: Iterable[Vertex], existing: ObjectReader) -> dict[str, str]:
    """Returns the state of PodGangs, PodCliques and Pods, by the id of their vertex.

    The state of a PodGang or a Pod is its phase, that of a PodClique its number of ready pods: `3 of 4 ready`. An object that does not
    exist is `missing`, if the snapshot has any object of its kind: otherwise it was probably taken without that kind.
    """
    states: dict[str, str] = {}
    for vertex in vertices:
        if vertex.kind in (GANG_KIND, CLIQUE_KIND, "Pod") and vertex.object is not None:
            group = group_of(str(vertex.object.get("apiVersion", "")))
            if existing.by_label(group, vertex.kind):
                state = _state(vertex.kind, existing.get(group, vertex.kind, vertex.namespace, vertex.name))
                states |= {vertex.id: state} if state else {}
    return states


def _state(kind: str, manifest: dict[str, object] | None) -> str:
    if manifest is None:
        return "missing"
    status = section(manifest, "status")
    if kind != CLIQUE_KIND:
        return str(status.get("phase") or "")
    if "readyReplicas" not in status:
        return ""
    return f"{status['readyReplicas']} of {section(manifest, 'spec').get('replicas', 0)} ready"
