"""What must never happen while an operator runs: looked for after each of its writes."""

from __future__ import annotations

from collections import Counter

from applier.ref import Manifest, Ref
from kube_objects.manifest import is_terminating
from tests.invariants.alike import check_alike
from tests.invariants.endings import check_end
from tests.invariants.reasons import Reasons
from tests.invariants.serving import owner, ready_pods
from tests.simulation.labels import CLIQUE_LABEL, INDEX_LABEL, label
from tests.simulation.operator import Operator
from tests.simulation.simulation import Simulation
from tests.simulation.world import CLIQUE, POD, World, is_ready


def assert_no_index_twice(simulation: Simulation) -> None:
    """No two pods of a clique have one index, but for those on their way out.

    Those of a clique that is gone are the garbage collector's, also where a set of that name has been made anew.
    """
    taken = Counter((label(one, CLIQUE_LABEL), owner(one), label(one, INDEX_LABEL)) for one in simulation.world.pods())
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
    assert ready_pods(simulation.world) == Counter(wanted)
    assert [one.held for one in simulation.operators if one.leads and one.held] == []


def watched(simulation: Simulation) -> Simulation:
    """After each write of an operator it is looked whether it was right."""
    reasons, news = Reasons(simulation.world), News(simulation.world)
    for one in simulation.operators:
        one.after_write = lambda reason, operator=one: check(simulation, operator, reason, reasons, news)  # type: ignore[misc]
    return simulation


class News:
    """Tells of which kinds anything has changed since it was last asked; nothing where the history does not go back that far."""

    def __init__(self, world: World) -> None:
        self._world, self._asked = world, -1

    def kinds(self) -> set[str] | None:
        store, since = self._world.cluster.store, self._asked
        self._asked = store.version
        return None if since < store.oldest else {ref.kind for ref, *_ in self._world.changes_since(since)}


def check(simulation: Simulation, operator: Operator, reason: str, reasons: Reasons, news: News) -> None:
    """Raises `AssertionError` where a write was wrong: where a ready pod goes without a reason, or where a pod is there twice."""
    changed = news.kinds()
    if changed is None or POD.kind in changed:
        assert_no_index_twice(simulation)
        check_alike(simulation.world)
    reasons.look()
    if not simulation.network.is_calm:  # who is told late may take what somebody else has taken meanwhile
        return
    if (change := next(reversed(simulation.world.cluster.store.changes), None)) is not None:
        check_end(simulation.world, change.old, change.new)
    if reason and operator.deleted[-1][0].kind == "Pod":
        pod = as_it_was(simulation, operator.deleted[-1][0])
        if is_ready(pod):
            reasons.check(pod, reason)


def as_it_was(simulation: Simulation, ref: Ref) -> Manifest:
    """An object before it was deleted."""
    changes = (change for change in reversed(simulation.world.cluster.store.changes) if change.ref == ref)
    return next(change.old for change in changes if change.old is not None and not is_terminating(change.old))
