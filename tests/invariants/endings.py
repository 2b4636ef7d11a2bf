"""When an operator may say that an update has ended: once all pods that are declared are updated and ready (decisions §9)."""

from __future__ import annotations

from applier.ref import Manifest
from grove_compiler.kube.conditions import is_held
from kube_objects.manifest import is_terminating
from tests.invariants.by_hand import is_by_hand
from tests.invariants.cluster_state import ClusterState
from tests.invariants.reasons import TOLD_WITHIN
from tests.simulation.labels import CLIQUE_LABEL, GROUP_LABEL, MEMBER_LABEL, REPLICA_LABEL, SET_LABEL, index, label
from tests.simulation.world import CLIQUE, GROUP, SET, is_ready


def check_end(state: ClusterState, old: Manifest | None, new: Manifest | None) -> None:
    """Raises `AssertionError` where the status that was written last ends an update that is not over.

    A part whose turn is over is not asked: it says so when the set has, whatever has become of its pods since. Nor is the set asked for
    pods that were ready when it was their turn. An update by hand has ended as soon as it begins, and one that is paused becomes one. That
    of a set whose edit is held ends with what was declared before.
    """
    if old is None or new is None or not is_end(old, new):
        return
    set = state.find(SET, new["metadata"]["name"] if new["kind"] == SET.kind else label(new, SET_LABEL))
    if set is None or is_by_hand(set) or is_held(set) or state.is_lately_edited(set):
        return
    if new["kind"] != SET.kind and index(new, REPLICA_LABEL) not in _updating(set):
        return
    for clique in state.all(CLIQUE):
        if _is_declared(state, set, clique) and _is_part(clique, new):
            _check_clique(state, _image_of(set, clique), clique, new)


def is_end(old: Manifest, new: Manifest) -> bool:
    """Whether a status says for the first time that an update has ended."""
    return bool(_progress(old)) and not _progress(old).get("updateEndedAt") and bool(_progress(new).get("updateEndedAt"))


def _check_clique(state: ClusterState, image: str, clique: Manifest, whole: Manifest) -> None:
    pods = [one for one in state.pods() if label(one, CLIQUE_LABEL) == clique["metadata"]["name"]]
    updated = [one for one in pods if _image(one["spec"]) == image]
    lost = [one for one in state.lately_lost() if label(one, CLIQUE_LABEL) == clique["metadata"]["name"]]
    name = f"{whole['kind']} {whole['metadata']['name']} ends its update"
    surplus = max(len(pods) - clique["spec"]["replicas"], 0)  # scale-in takes them
    assert len(updated) >= len(pods) - surplus, f"{name}, and pods of {clique['metadata']['name']} are not updated"
    missing = state.declared(clique, TOLD_WITHIN) - sum(map(is_ready, updated)) - len(lost)
    assert whole["kind"] == SET.kind or missing <= 0, f"{name}, and {missing} pods of {clique['metadata']['name']} are missing"


def _progress(one: Manifest) -> Manifest:
    progress: Manifest = one.get("status", {}).get("updateProgress") or {}
    return progress


def _updating(set: Manifest) -> list[int]:
    return [entry["replicaIndex"] for entry in _progress(set).get("currentlyUpdating") or []]


def _is_declared(state: ClusterState, set: Manifest, clique: Manifest) -> bool:
    """Whether a PodClique is of replicas that are still declared, of the set and of its group."""
    group = state.find(GROUP, name) if (name := label(clique, GROUP_LABEL)) else None
    is_wanted = index(clique, REPLICA_LABEL) < set["spec"]["replicas"] and (
        group is None or index(clique, MEMBER_LABEL) < group["spec"]["replicas"]
    )
    return is_wanted and not is_terminating(clique)


def _is_part(clique: Manifest, whole: Manifest) -> bool:
    name: str = whole["metadata"]["name"]
    if whole["kind"] == SET.kind:
        return name == label(clique, SET_LABEL)
    return name in (clique["metadata"]["name"], label(clique, GROUP_LABEL))


def _image_of(set: Manifest, clique: Manifest) -> str:
    templates = {one["spec"].get("roleName") or one["name"]: one["spec"]["podSpec"] for one in set["spec"]["template"]["cliques"]}
    return _image(templates[clique["spec"]["roleName"]])


def _image(pod_spec: Manifest) -> str:
    return str(pod_spec["containers"][0]["image"])
