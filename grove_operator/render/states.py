"""How far each object is, where a snapshot of a cluster knows it."""

from __future__ import annotations

from collections.abc import Iterable

from grove_compiler.gangs.clique import CLIQUE_KIND, section
from grove_compiler.gangs.gang import GANG_KIND
from grove_compiler.model.inputs.snapshot import Objects, group_of
from grove_operator.render.picture import Vertex


def find_states(vertices: Iterable[Vertex], existing: Objects) -> dict[str, str]:
    """Returns a few words about PodGangs, PodCliques and Pods that exist, by the id of their vertex.

    A PodGang and a Pod say their phase, a PodClique how many of its pods are ready: `3 of 4 ready`. An object that was not made yet
    is `missing`, but only where the snapshot holds something of its kind: one without any was most likely taken without that kind.
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
