"""A set is restored from a backup, as docs/operator.md says: without owners and UIDs, and without statuses unless they are asked for."""

from __future__ import annotations

import copy

import pytest

from applier.ref import Kind, Manifest, Ref
from tests.simulation.sets import demo
from tests.simulation.simulation import Simulation, running
from tests.simulation.world import CLIQUE, GANG, GROUP, POD, REVISION, SERVICE, SET, is_ready
from tests.training.jobs import finish, phase, started

KEPT = ("name", "namespace", "labels", "annotations", "managedFields")
"""What a backup has of an object's metadata."""
FIRST = ("Secret", "ServiceAccount", "Pod")
PARTS = (CLIQUE, GROUP, GANG, SERVICE, REVISION)
NEVER = ("CustomResourceDefinition", "Namespace", "Event", "Lease")


def backup(simulation: Simulation, *, with_status: bool = False) -> list[Manifest]:
    """What is stored, in the order in which it is restored: some kinds first, the others by name, which has PodCliques before their set."""
    stored = {ref: copy.deepcopy(one) for ref, one in simulation.world.cluster.store.objects.items() if ref.kind not in NEVER}
    for ref, one in stored.items():
        one["metadata"] = {key: value for key, value in one["metadata"].items() if key in KEPT}
        if not (with_status and ref.kind == SET.kind):
            one.pop("status", None)
        if ref.kind == POD.kind:
            one["spec"].pop("nodeName", None)
        else:
            one["metadata"]["generation"] = 1
    order = sorted(stored, key=lambda ref: (FIRST.index(ref.kind) if ref.kind in FIRST else len(FIRST), ref.kind.lower(), ref.name))
    return [stored[ref] for ref in order]


def lose(simulation: Simulation) -> None:
    """The set goes, with all that is of it."""
    simulation.world.delete(SET, "demo")
    simulation.settle()
    assert [ref for ref in simulation.world.cluster.store.objects if ref.kind not in NEVER] == []


def restore(simulation: Simulation, objects: list[Manifest], seconds: float) -> None:
    """Restores what is not there yet, one object after the other, and lets follow what does."""
    for one in objects:
        if simulation.world.cluster.find(Ref.of(one)) is None:
            simulation.world.cluster.seed(one)
        simulation.let_pass(seconds)
    simulation.settle()
    simulation.wait(120)


def uids(simulation: Simulation, *kinds: Kind) -> set[str]:
    return {one["metadata"]["uid"] for kind in kinds for one in simulation.world.all(kind)}


@pytest.mark.parametrize("seconds", [0.0, 0.4])
def test_a_set_takes_over_its_parts_and_leaves_pods_of_nobody(seconds: float) -> None:
    simulation = running(demo())
    objects = backup(simulation)
    lose(simulation)
    restore(simulation, objects, seconds)
    owned = [one for one in simulation.world.pods() if one["metadata"].get("ownerReferences")]
    left = [one["metadata"]["name"] for one in simulation.world.pods() if one not in owned]
    assert (len(owned), all(map(is_ready, owned))) == (11, True)
    assert left == sorted(one["metadata"]["name"] for one in objects if one["kind"] == POD.kind)
    assert [
        one["metadata"]["name"] for kind in PARTS for one in simulation.world.all(kind) if not one["metadata"].get("ownerReferences")
    ] == []
    assert not any(one["type"] == "Stalled" for one in simulation.status().get("conditions", []))
    before = uids(simulation, *PARTS)
    simulation.wait(3600)
    assert uids(simulation, *PARTS) == before


@pytest.mark.parametrize(("with_status", "outcome"), [(True, "Succeeded"), (False, "Running")])
def test_a_job_that_has_ended_runs_again_unless_its_status_is_restored(with_status: bool, outcome: str) -> None:
    simulation = started()
    finish(simulation)
    objects = [one for one in backup(simulation, with_status=with_status) if one["kind"] == SET.kind]
    lose(simulation)
    restore(simulation, objects, 0.0)
    assert (phase(simulation), len(simulation.world.pods())) == (outcome, 0 if with_status else 3)
