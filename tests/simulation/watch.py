"""What must never happen while an operator runs: looked for after each of its writes."""

from __future__ import annotations

from collections import Counter

from applier.ref import Manifest, Ref
from kube_objects.manifest import is_terminating
from tests.simulation.endings import check_end
from tests.simulation.labels import CLIQUE_LABEL, GROUP_LABEL, INDEX_LABEL, MEMBER_LABEL, label
from tests.simulation.operator import Operator
from tests.simulation.reasons import ROLLING, Reasons
from tests.simulation.simulation import Simulation
from tests.simulation.world import CLIQUE, GROUP, POD, is_ready


def ready_pods(simulation: Simulation, *others: Manifest) -> Counter[str]:
    """How many pods of each PodClique are ready and not on their way out; `others` count as if they were there.

    Those of a PodClique that is gone, or going, are on their way out, too.
    """
    staying = {one["metadata"]["uid"] for one in _cliques(simulation)}
    pods = [one for one in [*simulation.world.pods(), *others] if _owner(one) in staying]
    return Counter(label(one, CLIQUE_LABEL) for one in pods if is_ready(one))


def available_members(simulation: Simulation, ready: Counter[str]) -> Counter[str]:
    """How many replicas of each scaling group have all their PodCliques, and as many ready pods of each as it needs."""
    of_groups = [one for one in _cliques(simulation) if label(one, GROUP_LABEL)]
    enough = Counter(
        (label(one, GROUP_LABEL), label(one, MEMBER_LABEL))
        for one in of_groups
        if ready[one["metadata"]["name"]] >= one["spec"]["minAvailable"]
    )
    wanted = {one["metadata"]["name"]: len(one["spec"]["cliqueNames"]) for one in simulation.world.all(GROUP)}
    return Counter(group for (group, _), count in enough.items() if count == wanted.get(group))


def _cliques(simulation: Simulation) -> list[Manifest]:
    return [one for one in simulation.world.all(CLIQUE) if not is_terminating(one)]


def assert_no_index_twice(simulation: Simulation) -> None:
    """No two pods of a clique have one index, but for those on their way out.

    Those of a clique that is gone are the garbage collector's, also where a set of that name has been made anew.
    """
    taken = Counter((label(one, CLIQUE_LABEL), _owner(one), label(one, INDEX_LABEL)) for one in simulation.world.pods())
    assert not (twice := [place for place, count in taken.items() if count > 1]), f"two pods have one index: {twice}"


def assert_no_orphan(simulation: Simulation) -> None:
    """Everything that is left has an owner that is left, and every pod belongs to what its PodClique wants."""
    objects = simulation.world.cluster.store.objects
    uids = {one["metadata"]["uid"] for one in objects.values()}
    orphans = [ref for ref, one in objects.items() for owner in one["metadata"].get("ownerReferences", []) if owner["uid"] not in uids]
    assert not orphans
    assert not [one for one in simulation.world.all(POD) if is_terminating(one)]
    wanted = {one["metadata"]["name"]: one["spec"]["replicas"] for one in simulation.world.all(CLIQUE)}
    assert Counter(label(one, CLIQUE_LABEL) for one in simulation.world.pods()) == Counter(wanted)


def assert_all_ready(simulation: Simulation) -> None:
    """Every pod that is wanted is there and ready."""
    wanted = {one["metadata"]["name"]: one["spec"]["replicas"] for one in simulation.world.all(CLIQUE)}
    assert ready_pods(simulation) == Counter(wanted)
    assert [one.held for one in simulation.operators if one.leads and one.held] == []


def needs(simulation: Simulation) -> dict[str, int]:
    """What each PodClique outside scaling groups, and each scaling group, cannot do without: never more than one less than it has."""
    alone = [one for one in simulation.world.all(CLIQUE) if not label(one, GROUP_LABEL)]
    return {
        one["metadata"]["name"]: min(one["spec"]["minAvailable"], one["spec"]["replicas"] - 1)
        for one in [*alone, *simulation.world.all(GROUP)]
    }


def serving(simulation: Simulation, *others: Manifest) -> dict[str, int]:
    """What each of them has."""
    ready = ready_pods(simulation, *others)
    counts = ready + available_members(simulation, ready)
    return {name: counts[name] for name in needs(simulation)}


def _owner(one: Manifest) -> str:
    return next((owner["uid"] for owner in one["metadata"].get("ownerReferences") or []), "")


def watched(simulation: Simulation) -> Simulation:
    """After each write of an operator it is looked whether it was right."""
    reasons = Reasons(simulation, serving)
    for one in simulation.operators:
        one.after_write = lambda reason, operator=one: check(simulation, operator, reason, reasons)  # type: ignore[misc]
    return simulation


def check(simulation: Simulation, operator: Operator, reason: str, reasons: Reasons) -> None:
    """Raises `AssertionError` where a write was wrong: where a ready pod goes without a reason, or where a pod is there twice."""
    assert_no_index_twice(simulation)
    reasons.look()
    if simulation.network.is_calm and (change := next(reversed(simulation.world.cluster.store.changes), None)) is not None:
        check_end(simulation, change.old, change.new)
    if reason and simulation.network.is_calm and operator.deleted[-1][0].kind == "Pod":
        pod = as_it_was(simulation, operator.deleted[-1][0])
        if is_ready(pod):
            reasons.check(pod, reason)
    if reason == ROLLING and simulation.network.is_calm:  # who is told late may take what somebody else has taken meanwhile
        pod = as_it_was(simulation, operator.deleted[-1][0])
        before, now, least = serving(simulation, pod), serving(simulation), needs(simulation)
        taken = {name: count for name, count in now.items() if count < before[name] and count < least[name]}
        assert not taken, f"an update takes what is needed: {taken} of {least}"


def as_it_was(simulation: Simulation, ref: Ref) -> Manifest:
    """An object before it was deleted."""
    changes = (change for change in reversed(simulation.world.cluster.store.changes) if change.ref == ref)
    return next(change.old for change in changes if change.old is not None and not is_terminating(change.old))
