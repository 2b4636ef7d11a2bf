"""What must never happen while an operator runs: looked for after each of its writes."""

from __future__ import annotations

from collections import Counter

from applier.ref import Manifest, is_being_deleted
from tests.simulation.simulation import Simulation
from tests.simulation.world import CLIQUE, GROUP, POD

CLIQUE_LABEL = "grove.io/podclique"
INDEX_LABEL = "grove.io/podclique-pod-index"
GROUP_LABEL = "grove.io/podcliquescalinggroup"
MEMBER_LABEL = "grove.io/podcliquescalinggroup-replica-index"
REPLICA_LABEL = "grove.io/podcliqueset-replica-index"


def ready_pods(simulation: Simulation) -> Counter[str]:
    """How many pods of each PodClique are ready and not on their way out."""
    return Counter(label(one, CLIQUE_LABEL) for one in simulation.world.pods() if is_ready(one))


def available_members(simulation: Simulation) -> Counter[str]:
    """How many replicas of each scaling group have as many ready pods of each clique as they need."""
    ready = ready_pods(simulation)
    short = {
        (label(one, GROUP_LABEL), label(one, MEMBER_LABEL))
        for one in simulation.world.all(CLIQUE)
        if ready[one["metadata"]["name"]] < one["spec"]["minAvailable"]
    }
    members = {(label(one, GROUP_LABEL), label(one, MEMBER_LABEL)) for one in simulation.world.all(CLIQUE) if label(one, GROUP_LABEL)}
    return Counter(group for group, member in members - short)


def assert_no_index_twice(simulation: Simulation) -> None:
    """No two pods of a clique have one index, but for those on their way out."""
    taken = Counter((label(one, CLIQUE_LABEL), label(one, INDEX_LABEL)) for one in simulation.world.pods())
    assert not (twice := [place for place, count in taken.items() if count > 1]), f"two pods have one index: {twice}"


def assert_no_orphan(simulation: Simulation) -> None:
    """Everything that is left has an owner that is left, and every pod belongs to what its PodClique wants."""
    objects = simulation.world.cluster.store.objects
    uids = {one["metadata"]["uid"] for one in objects.values()}
    orphans = [ref for ref, one in objects.items() for owner in one["metadata"].get("ownerReferences", []) if owner["uid"] not in uids]
    assert not orphans
    assert not [one for one in simulation.world.all(POD) if is_being_deleted(one)]
    wanted = {one["metadata"]["name"]: one["spec"]["replicas"] for one in simulation.world.all(CLIQUE)}
    assert Counter(label(one, CLIQUE_LABEL) for one in simulation.world.pods()) == Counter(wanted)


def assert_all_ready(simulation: Simulation) -> None:
    """Every pod that is wanted is there and ready."""
    wanted = {one["metadata"]["name"]: one["spec"]["replicas"] for one in simulation.world.all(CLIQUE)}
    assert ready_pods(simulation) == Counter(wanted)
    assert simulation.operator.held == {}


def needs(simulation: Simulation) -> dict[str, int]:
    """What each PodClique outside scaling groups, and each scaling group, cannot do without: never more than one less than it has."""
    alone = [one for one in simulation.world.all(CLIQUE) if not label(one, GROUP_LABEL)]
    return {
        one["metadata"]["name"]: min(one["spec"]["minAvailable"], one["spec"]["replicas"] - 1)
        for one in [*alone, *simulation.world.all(GROUP)]
    }


def serving(simulation: Simulation) -> dict[str, int]:
    """What each of them has."""
    counts = ready_pods(simulation) + available_members(simulation)
    return {name: counts[name] for name in needs(simulation)}


def label(one: Manifest, key: str) -> str:
    return (one["metadata"].get("labels") or {}).get(key) or ""


def is_ready(pod: Manifest) -> bool:
    return any((one["type"], one["status"]) == ("Ready", "True") for one in pod.get("status", {}).get("conditions", []))
