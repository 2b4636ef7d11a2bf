"""Sets of the shipped operator that we take over: what runs goes on running, whichever version of Kubernetes' types it was hashed with."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from applier.ref import Manifest
from tests.simulation.sets import image, replicas
from tests.simulation.simulation import Simulation
from tests.simulation.watch import assert_no_orphan
from tests.simulation.world import CLIQUE, NAMESPACE, POD, REVISION, SET

from .test_recorded_cases import LIVE

pytestmark = pytest.mark.skipif(not LIVE.is_dir(), reason="the recorded cases are not there")
HASH = "grove.io/pod-template-hash"
BY_MACHINES = ("phase", "conditions", "containerStatuses")
"""What the machines of a simulation say of a pod; what else nodes say would stay as it is for ever, and be news to them for ever."""
HASHES = re.compile(r'(?<=ash": ")([0-9a-f]{16,20})(?=")')


def recorded(case: str, step: str, hash: str) -> list[Manifest]:
    """What there was after a step of the shipped operator; `hash` is what another version of it makes of one of its hashes."""
    text = gzip.decompress((LIVE / f"{case}.json.gz").read_bytes()).decode().replace(f"live-{case}", NAMESPACE)
    [objects] = [one["objects"] for one in json.loads(text) if one["step"] == step]
    found: list[Manifest] = json.loads(HASHES.sub(hash, json.dumps(objects)))
    return found


def taken_over(objects: list[Manifest]) -> Simulation:
    """A cluster in which another operator has run until now."""
    simulation = Simulation()
    for one in objects:
        said = {key: value for key, value in one.get("status", {}).items() if one["kind"] != "Pod" or key in BY_MACHINES}
        simulation.world.put({**one, "status": said})
    simulation.settle()
    simulation.wait(120)
    return simulation


def uids(objects: list[Manifest]) -> set[str]:
    return {one["metadata"]["uid"] for one in objects}


def pods_of(objects: list[Manifest]) -> list[Manifest]:
    return [one for one in objects if one["kind"] == "Pod"]


OTHER = r"f\1"
CASES = [("roll-clique", "create"), ("roll-clique", "image"), ("on-delete", "image"), ("scale-group", "up"), ("scale-clique", "up")]


@pytest.mark.parametrize("hash", [r"\1", OTHER], ids=["same types", "other types"])
@pytest.mark.parametrize(("case", "step"), CASES)
def test_709_a_set_that_the_shipped_operator_has_hashed_is_not_restarted(case: str, step: str, hash: str) -> None:
    objects = recorded(case, step, hash)
    simulation = taken_over(objects)
    assert uids(simulation.world.all(POD)) == uids(pods_of(objects))
    assert [why for _, why in simulation.operator.deleted] == []
    before = {one["metadata"]["name"]: one["metadata"]["labels"][HASH] for one in objects if one["kind"] == "PodClique"}
    assert {one["metadata"]["name"]: one["metadata"]["labels"][HASH] for one in simulation.world.all(CLIQUE)} == before
    assert len(simulation.world.all(REVISION)) == 1
    assert_no_orphan(simulation)


def test_what_is_edited_later_is_rolled_and_nothing_else() -> None:
    simulation = taken_over(recorded("roll-clique", "create", OTHER))
    kept = uids(simulation.world.pods("two-0-sg") + simulation.world.pods("two-1-sg"))
    simulation.edit(image("new", 0), name="two")
    simulation.settle()
    assert simulation.images("two-0-front") == simulation.images("two-1-front") == {"new"}
    assert uids(simulation.world.pods("two-0-sg") + simulation.world.pods("two-1-sg")) == kept


def test_new_replicas_have_the_hashes_of_the_old_ones() -> None:
    simulation = taken_over(recorded("roll-clique", "create", OTHER))
    simulation.edit(replicas(3), name="two")
    simulation.settle()
    hashes: dict[str, set[Any]] = {}
    for one in simulation.world.all(CLIQUE):
        hashes.setdefault(one["metadata"]["name"].rpartition("-")[2], set()).add(one["metadata"]["labels"][HASH])
    assert {name: len(found) for name, found in hashes.items()} == {"front": 1, "pre": 1, "dec": 1}


def test_a_set_that_was_edited_while_no_operator_ran_is_compared_by_hashes() -> None:
    """Nothing tells what its pods were made from: the hashes of this version decide."""
    objects = recorded("roll-clique", "create", r"\1")
    [set] = [one for one in objects if one["kind"] == "PodCliqueSet"]
    set["metadata"]["generation"] += 1
    image("new", 0)(set)
    simulation = taken_over(objects)
    assert simulation.images("two-0-front") == {"new"}
    assert uids(pods_of(objects)) - uids(simulation.world.all(POD)) == uids(
        [one for one in pods_of(objects) if "-front-" in one["metadata"]["name"]]
    )
    assert simulation.world.get(SET, "two")["status"]["observedGeneration"] == 2


def stricter(objects: list[Manifest]) -> list[Manifest]:
    """The set with what only our validation refuses, as if the shipped operator had let it pass: a group without cliques."""
    [set] = [one for one in objects if one["kind"] == "PodCliqueSet"]
    set["spec"]["template"]["podCliqueScalingGroups"].append(EMPTY)
    return objects


EMPTY = {"name": "empty", "cliqueNames": [], "replicas": 1, "minAvailable": 1}


def groups(*added: Manifest) -> Callable[[Manifest], None]:
    """An edit: the first group and these."""

    def edit(set: Manifest) -> None:
        template = set["spec"]["template"]
        template["podCliqueScalingGroups"] = [template["podCliqueScalingGroups"][0], *added]

    return edit


def stalled(simulation: Simulation) -> str:
    conditions = simulation.status(SET, "two").get("conditions", [])
    return next((one["message"] for one in conditions if (one["type"], one["status"]) == ("Stalled", "True")), "")


def accepted(simulation: Simulation) -> list[str]:
    notes = [one["metadata"].get("annotations", {}).get("grove.io/accepted-findings") for one in simulation.world.all(REVISION)]
    return [note for note in notes if note]


def test_767_a_set_with_what_only_we_refuse_goes_on_and_can_be_scaled_rolled_and_given_new_pods() -> None:
    objects = stricter(recorded("roll-clique", "create", r"\1"))
    simulation = taken_over(objects)
    assert stalled(simulation) == ""
    assert uids(pods_of(objects)) == uids(simulation.world.all(POD))
    simulation.world.delete(POD, pods_of(objects)[0]["metadata"]["name"])
    simulation.edit(replicas(3), name="two")
    simulation.edit(image("new", 0), name="two")
    simulation.settle()
    assert stalled(simulation) == ""
    assert simulation.images("two-0-front") == simulation.images("two-2-front") == {"new"}
    assert len(simulation.world.all(POD)) == len(pods_of(objects)) // 2 * 3
    [told] = [each for each in simulation.world.told if each.startswith("InvalidAsBefore")]
    assert "podCliqueScalingGroups[1].cliqueNames: at least one clique is required" in told


def test_767_what_is_added_to_such_a_set_holds_it_as_ever() -> None:
    simulation = taken_over(stricter(recorded("roll-clique", "create", r"\1")))
    simulation.edit(groups(EMPTY, {**EMPTY, "name": "more"}), name="two")
    simulation.settle()
    assert "podCliqueScalingGroups[2]" in stalled(simulation)


def test_767_it_can_be_repaired_and_what_was_repaired_is_not_accepted_again() -> None:
    simulation = taken_over(stricter(recorded("roll-clique", "create", r"\1")))
    assert accepted(simulation) == ["validate/group-cliques spec.template.podCliqueScalingGroups[1].cliqueNames"]
    simulation.edit(groups(), name="two")
    simulation.settle()
    assert stalled(simulation) == ""
    simulation.edit(image("new", 0), name="two")  # until then the revision records the groups as they were
    simulation.settle()
    assert (stalled(simulation), accepted(simulation)) == ("", [])
    simulation.edit(groups(EMPTY), name="two")
    simulation.settle()
    assert "podCliqueScalingGroups" in stalled(simulation)
