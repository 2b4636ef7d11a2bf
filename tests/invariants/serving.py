"""Counts what serves: the ready pods of PodCliques, and the replicas of scaling groups that have as many as they need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from applier.ref import Manifest
from kube_objects.manifest import is_terminating
from tests.invariants.cluster_state import ClusterState
from tests.simulation.labels import CLIQUE_LABEL, GROUP_LABEL, MEMBER_LABEL, label
from tests.simulation.world import CLIQUE, GROUP, POD, SET, is_ready


def ready_pods(state: ClusterState, *others: Manifest, without: Collection[str] = ()) -> Counter[str]:
    """How many pods of each PodClique are ready and not on their way out; `others` count as if they were there, UIDs in `without` do not.

    Those of a PodClique that is gone, or going, are on their way out, too, unless it is among the `others`.
    """
    staying = {one["metadata"]["uid"] for one in _cliques(state, others)}
    pods = [one for one in [*state.pods(), *others] if owner(one) in staying and one["kind"] == POD.kind]
    return Counter(label(one, CLIQUE_LABEL) for one in pods if is_ready(one) and one["metadata"]["uid"] not in without)


def available_members(state: ClusterState, ready: Counter[str], others: Collection[Manifest] = ()) -> Counter[str]:
    """How many replicas of each scaling group have all their PodCliques, and as many ready pods of each as it needs."""
    of_groups = [one for one in _cliques(state, others) if label(one, GROUP_LABEL)]
    enough = Counter(
        (label(one, GROUP_LABEL), label(one, MEMBER_LABEL))
        for one in of_groups
        if ready[one["metadata"]["name"]] >= one["spec"]["minAvailable"]
    )
    wanted = {one["metadata"]["name"]: len(one["spec"]["cliqueNames"]) for one in state.all(GROUP)}
    return Counter(group for (group, _), count in enough.items() if count == wanted.get(group))


def needs(state: ClusterState) -> dict[str, int]:
    """What each PodClique outside scaling groups, and each scaling group, cannot do without: never what an update may take at a time.

    A scaling group does not have those of its replicas of which a clique is scaled below what it needs.
    """
    alone = [one for one in state.all(CLIQUE) if not label(one, GROUP_LABEL)]
    scaled_in = {(label(one, GROUP_LABEL), label(one, MEMBER_LABEL)) for one in _cliques(state) if _is_low(one)}
    low = Counter(group for group, _ in scaled_in)
    parts = {one["metadata"]["name"]: one["spec"] for one in [*alone, *state.all(GROUP)]}
    taken = at_a_time(state)
    return {name: min(spec["minAvailable"], spec["replicas"] - low[name] - taken.get(name, 1)) for name, spec in parts.items()}


def at_a_time(state: ClusterState) -> dict[str, int]:
    """How many of each of them an update may take at a time, where its set says so (`rollingUpdate.maxUnavailable`)."""
    return {
        f"{set['metadata']['name']}-{replica}-{part['name']}": part["rollingUpdate"]["maxUnavailable"]
        for set in state.all(SET)
        for parts in ("cliques", "podCliqueScalingGroups")
        for part in set["spec"].get("template", {}).get(parts) or ()
        if (part.get("rollingUpdate") or {}).get("maxUnavailable")
        for replica in range(set["spec"].get("replicas", 0))
    }


def serving(state: ClusterState, *others: Manifest, without: Collection[str] = ()) -> dict[str, int]:
    """What each of them has."""
    ready = ready_pods(state, *others, without=without)
    counts = ready + available_members(state, ready, others)
    return {name: counts[name] for name in needs(state)}


def owner(one: Manifest) -> str:
    """The UID of an object's first owner; empty without one."""
    return next((owner["uid"] for owner in one["metadata"].get("ownerReferences") or []), "")


def _is_low(clique: Manifest) -> bool:
    return bool(clique["spec"]["replicas"] < clique["spec"]["minAvailable"])


def _cliques(state: ClusterState, others: Collection[Manifest] = ()) -> list[Manifest]:
    return [one for one in state.all(CLIQUE) if not is_terminating(one)] + [one for one in others if one["kind"] == CLIQUE.kind]
