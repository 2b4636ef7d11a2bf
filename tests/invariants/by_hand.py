"""Tells what is short only of pods with an edit that people bring out one by one (OnDelete, `grove rollout pause`) and that do not run.

A restart of its gang would bring that edit to all that serves.
"""

from __future__ import annotations

from applier.ref import Manifest
from grove_compiler.labels import POD_HASH_LABEL
from kube_objects.manifest import is_terminating
from tests.invariants.cluster_state import ClusterState
from tests.invariants.serving import available_members, owner, ready_pods
from tests.simulation.labels import GROUP_LABEL, MEMBER_LABEL, label
from tests.simulation.world import CLIQUE, is_ready


def is_by_hand(pcs: Manifest) -> bool:
    """Reports whether people replace the pods of a set."""
    return bool((pcs["spec"].get("updateStrategy") or {}).get("type") == "OnDelete")


def lacks_what_people_bring(state: ClusterState, part: Manifest, pcs: Manifest | None, deleted: Manifest) -> bool:
    """Reports whether a part would have enough if its pods of the newest template ran, while it has older ones.

    A part is a PodClique or a scaling group. The pod that was just `deleted` counts as if it were there.
    """
    if pcs is None or not is_by_hand(pcs):
        return False
    if part["kind"] == CLIQUE.kind:
        return _lacks_newer_pods(state, part, deleted)
    name, available = part["metadata"]["name"], available_members(state, ready_pods(state, deleted))
    cliques = [one for one in state.all(CLIQUE) if label(one, GROUP_LABEL) == name and not is_terminating(one)]
    lacking = {label(one, MEMBER_LABEL) for one in cliques if _lacks_newer_pods(state, one, deleted)}
    return bool(lacking) and available[name] + len(lacking) >= part["spec"]["minAvailable"]


def _lacks_newer_pods(state: ClusterState, clique: Manifest, deleted: Manifest) -> bool:
    pods = [one for one in [*state.pods(), deleted] if owner(one) == clique["metadata"]["uid"]]
    older = [one for one in pods if label(one, POD_HASH_LABEL) != label(clique, POD_HASH_LABEL)]
    newer = clique["spec"]["replicas"] - len(older)
    ready, needed = sum(map(is_ready, older)), clique["spec"]["minAvailable"]
    return bool(older) and sum(map(is_ready, pods)) < needed <= ready + newer
