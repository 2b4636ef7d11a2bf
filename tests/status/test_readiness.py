"""What `grove apply --wait` and `grove get tree` take for ready is what the operator reports once it is so."""

from __future__ import annotations

import pytest

from applier.readiness import Readiness, State
from grove_cli.queries.live_states import readiness_check
from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.step import step
from grove_operator.controller.statuses import status_writes
from tests.features.compiling import shipped_program
from tests.model.sets import clique, group, pcs
from tests.simulation.sets import NAME, demo, image
from tests.simulation.simulation import running
from tests.simulation.world import SET
from tests.step.world import complete

from .world import GROVE_KINDS, NOW, Manifest, keys_of, live_objects_of, shared_context

KINDS = {"PodCliqueSet demo", "PodClique demo-0-a", "PodCliqueScalingGroup demo-0-g", "PodClique demo-0-g-0-b", "PodGang demo-0"}


def judged(pods: dict[str, list[str]]) -> dict[str, Readiness]:
    """How ready each object of a set is, by what the operator reports of it: three looks later, for statuses rest on each other."""
    manifest = pcs([clique("a", replicas=1), clique("b", replicas=1)], [group("g", cliques=["b"], replicas=1)])
    shared = shared_context()
    objects = live_objects_of(manifest, pods, {}, shared)
    for _ in range(3):
        objects = reported(objects, manifest, shared)
    check = readiness_check(shipped_program())
    return {f"{one['kind']} {one['metadata']['name']}": check(one) for one in objects if one["kind"] in GROVE_KINDS}


def reported(objects: list[Manifest], manifest: Manifest, shared: object) -> list[Manifest]:
    view = ObjectList(objects)
    made = [complete(step(view, key, NOW, shared)) for key in keys_of(manifest)]  # type: ignore[arg-type]
    writes = [write for one in made for write in status_writes(one.statuses, one.conditions, view, NOW)]
    statuses = {(write.of.kind.kind, write.of.ref.name): write.status for write in writes}
    return [{**one, "status": statuses.get((one["kind"], one["metadata"]["name"]), one.get("status") or {})} for one in objects]


def test_all_that_runs_is_ready() -> None:
    found = judged({"demo-0-a": ["ready"], "demo-0-g-0-b": ["ready"]})
    assert {name: one.state for name, one in found.items()} == dict.fromkeys(KINDS, State.READY)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("PodCliqueSet demo", "status.availableReplicas is 0, expected >= 1, the spec.replicas"),
        ("PodClique demo-0-a", "status.readyReplicas is 0, expected >= 1, the spec.replicas"),
        ("PodCliqueScalingGroup demo-0-g", "status.availableReplicas is 0, expected >= 1, the spec.replicas"),
        ("PodGang demo-0", "condition Initialized is False: PodGangPodsCreationPending: Not all constituent pods have been created yet"),
    ],
)
def test_what_has_no_pods_yet_is_waited_for(name: str, why: str) -> None:
    found = judged({})
    assert {one.state for one in found.values()} == {State.IN_PROGRESS}
    assert found[name].reason == why


def test_a_set_is_not_ready_until_its_update_has_ended() -> None:
    simulation = running(demo(replicas=2))
    check = readiness_check(shipped_program())
    images_when_ready = []

    def look(_: str) -> None:
        if check(simulation.world.get(SET, NAME)).is_ready:
            images_when_ready.append(simulation.images("demo-"))

    simulation.operator.after_write = look
    simulation.edit(image("new"))
    simulation.settle()
    assert images_when_ready
    assert {frozenset(images) for images in images_when_ready} == {frozenset({"new"})}


def test_a_gang_of_which_nothing_is_reported_is_waited_for() -> None:
    gang = {"apiVersion": "scheduler.grove.io/v1alpha1", "kind": "PodGang", "metadata": {"name": "demo-0"}, "status": {"phase": "Pending"}}
    assert readiness_check(shipped_program())(gang) == Readiness(State.IN_PROGRESS, "condition Initialized is missing")
