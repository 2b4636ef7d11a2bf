"""When an operator may say that an update has ended: once all pods that are declared are updated and ready (decisions §9)."""

from __future__ import annotations

from applier.ref import Manifest
from kube_objects.manifest import is_terminating
from tests.simulation.labels import CLIQUE_LABEL, GROUP_LABEL, MEMBER_LABEL, REPLICA_LABEL, label
from tests.simulation.simulation import Simulation
from tests.simulation.world import CLIQUE, GROUP, SET, is_ready


def check_end(simulation: Simulation, old: Manifest | None, new: Manifest | None) -> None:
    """Raises `AssertionError` where the status that was written last ends an update that is not over.

    A part whose turn is over is not asked: it says so when the set has, whatever has become of its pods since. Nor is the set asked for
    pods that were ready when it was their turn.
    """
    if old is None or new is None or not _progress(old) or _progress(old).get("updateEndedAt") or not _progress(new).get("updateEndedAt"):
        return
    set = next(iter(simulation.world.all(SET)), None)
    if set is None or (new["kind"] != "PodCliqueSet" and int(label(new, REPLICA_LABEL)) not in _updating(set)):
        return
    for clique in simulation.world.all(CLIQUE):
        if _is_declared(simulation, set, clique) and _is_part(clique, new):
            image = _image_of(set, clique)
            pods = [one for one in simulation.world.pods() if label(one, CLIQUE_LABEL) == clique["metadata"]["name"]]
            updated = [one for one in pods if _image(one["spec"]) == image]
            name = f"{new['kind']} {new['metadata']['name']} ends its update"
            assert len(updated) == len(pods), f"{name}, and pods of {clique['metadata']['name']} are not updated"
            missing = clique["spec"]["replicas"] - sum(map(is_ready, updated))
            assert new["kind"] == "PodCliqueSet" or missing <= 0, f"{name}, and {missing} pods of {clique['metadata']['name']} are missing"


def _progress(one: Manifest) -> Manifest:
    progress: Manifest = one.get("status", {}).get("updateProgress") or {}
    return progress


def _updating(set: Manifest) -> list[int]:
    return [entry["replicaIndex"] for entry in _progress(set).get("currentlyUpdating") or []]


def _is_declared(simulation: Simulation, set: Manifest, clique: Manifest) -> bool:
    """Whether a PodClique is of replicas that are still declared, of the set and of its group."""
    group = simulation.world.find(GROUP, name) if (name := label(clique, GROUP_LABEL)) else None
    member = int(label(clique, MEMBER_LABEL) or 0)
    is_wanted = int(label(clique, REPLICA_LABEL)) < set["spec"]["replicas"] and (group is None or member < group["spec"]["replicas"])
    return is_wanted and not is_terminating(clique)


def _is_part(clique: Manifest, whole: Manifest) -> bool:
    name = whole["metadata"]["name"]
    return whole["kind"] == "PodCliqueSet" or name in (clique["metadata"]["name"], label(clique, GROUP_LABEL))


def _image_of(set: Manifest, clique: Manifest) -> str:
    templates = {one["name"]: one["spec"]["podSpec"] for one in set["spec"]["template"]["cliques"]}
    return _image(templates[clique["spec"]["roleName"]])


def _image(pod_spec: Manifest) -> str:
    return str(pod_spec["containers"][0]["image"])
