"""What admission refuses to change, the operator withstands: webhooks can be off, late or bypassed."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from applier.ref import Manifest
from grove_compiler.model.inputs.snapshot import ObjectList
from grove_operator.webhooks.review import Reviewer
from tests.features.compiling import shipped_program
from tests.model.sets import clique, group, pcs
from tests.simulation.sets import image, replicas
from tests.simulation.simulation import Simulation, running
from tests.simulation.watch import assert_all_ready
from tests.simulation.world import CLIQUE, GROUP, REVISION, SET
from tests.webhooks.conftest import asked

Edit = Callable[[Manifest], None]


def serving() -> Manifest:
    return pcs([clique("front", 2, 1), clique("pre", 2), clique("dec", 1)], [group("sg", ["pre", "dec"], 2, 1)])


def training() -> Manifest:
    manifest = pcs([clique("work", 2), clique("side", 1)], [group("sg", ["side"], 1, 1)])
    manifest["spec"] |= {"workloadType": "Training", "trainingSpec": {"maxRestarts": 1}}
    return manifest


def at(path: str, value: Any) -> Edit:
    """An edit of one field, null to take it away."""

    def edit(manifest: Manifest) -> None:
        steps: list[Any] = [int(step) if step.isdigit() else step for step in path.split("/")]
        *steps, last = steps
        place: Any = manifest
        for step in steps:
            place = place[step] if isinstance(place, list) else place.setdefault(step, {})
        if value is None:
            del place[last]
        elif isinstance(place, list) and last == len(place):
            place.append(value)
        else:
            place[last] = value

    return edit


TEMPLATE = "spec/template"
FRONT = f"{TEMPLATE}/cliques/0"
SG = f"{TEMPLATE}/podCliqueScalingGroups/0"
CLAIM = {"name": "gpu", "templateSpec": {"spec": {"devices": {"requests": [{"name": "a", "exactly": {"deviceClassName": "x"}}]}}}}
SHARING = [{"name": "gpu", "scope": "AllReplicas"}]


def swapped(manifest: Manifest) -> None:
    cliques = manifest["spec"]["template"]["cliques"]
    cliques[0], cliques[1] = cliques[1], cliques[0]


def with_claim(manifest: Manifest) -> Manifest:
    manifest["spec"]["template"]["resourceClaimTemplates"] = [CLAIM]
    return manifest


def without_mnnvl(manifest: Manifest) -> Manifest:
    manifest["metadata"]["annotations"] = {"grove.io/mnnvl-enabled": "false"}
    return manifest


def in_order(manifest: Manifest) -> Manifest:
    manifest["spec"]["template"]["cliqueStartupType"] = "CliqueStartupTypeInOrder"
    return manifest


CASES: dict[str, tuple[Callable[[], Manifest], Edit]] = {
    "update-cliques": (serving, at(f"{TEMPLATE}/cliques/3", clique("more"))),
    "update-clique-names": (serving, at(f"{FRONT}/name", "other")),
    "update-clique-order": (lambda: in_order(serving()), swapped),
    "update-startup-type": (serving, at(f"{TEMPLATE}/cliqueStartupType", "CliqueStartupTypeInOrder")),
    "update-clique-role": (serving, at(f"{FRONT}/spec/roleName", "other")),
    "update-clique-min-available": (serving, at(f"{FRONT}/spec/minAvailable", 2)),
    "update-clique-starts-after": (serving, at(f"{FRONT}/spec/startsAfter", ["pre"])),
    "update-clique-scheduler": (serving, at(f"{FRONT}/spec/podSpec/schedulerName", "other")),
    "update-clique-sharing": (lambda: with_claim(serving()), at(f"{FRONT}/resourceSharing", SHARING)),
    "update-groups": (serving, at(f"{TEMPLATE}/podCliqueScalingGroups", [])),
    "update-group-names": (serving, at(f"{SG}/name", "other")),
    "update-group-cliques": (serving, at(f"{SG}/cliqueNames", ["pre"])),
    "update-group-min-available": (serving, at(f"{SG}/minAvailable", 2)),
    "update-group-sharing": (lambda: with_claim(serving()), at(f"{SG}/resourceSharing", SHARING)),
    "update-claim-templates": (serving, at(f"{TEMPLATE}/resourceClaimTemplates", [CLAIM])),
    "update-set-sharing": (lambda: with_claim(serving()), at(f"{TEMPLATE}/resourceSharing", SHARING)),
    "update-mnnvl-added": (serving, at("metadata/annotations", {"grove.io/mnnvl-enabled": "true"})),
    "update-mnnvl-removed": (lambda: without_mnnvl(serving()), at("metadata/annotations", {})),
    "update-mnnvl-changed": (lambda: without_mnnvl(serving()), at("metadata/annotations", {"grove.io/mnnvl-enabled": "true"})),
    "update-compute-domain": (serving, at(f"{TEMPLATE}/computeDomainConfig", {"enabled": True})),
    "update-topology-constraint": (serving, at(f"{TEMPLATE}/topologyConstraint", {"packDomain": "rack"})),
    "update-workload-type": (serving, at("spec/workloadType", "Training")),
    "update-training-replicas": (training, at("spec/replicas", 2)),
    "update-training-clique-replicas": (training, at(f"{FRONT}/spec/replicas", 3)),
    "update-training-group-replicas": (training, at(f"{SG}/replicas", 2)),
    "update-training-pod-template": (training, image("new", 0)),
    "update-training-priority": (training, at(f"{TEMPLATE}/priorityClassName", "high")),
    "update-training-clique-order": (training, swapped),
}
ON_ADMISSION_ALONE = {"update-cluster-topology-scheduled"}
"""What may change as long as no pod has a node is not recorded."""


def stalled(simulation: Simulation) -> str:
    """The message of the condition Stalled; empty without one."""
    conditions = simulation.status().get("conditions", [])
    return next((one["message"] for one in conditions if (one["type"], one["status"]) == ("Stalled", "True")), "")


def everything(simulation: Simulation) -> dict[str, Any]:
    """All that an operator has made or could take down, by its UID, as it is desired."""
    objects = simulation.world.cluster.store.objects
    kept = {ref: one for ref, one in objects.items() if ref.kind not in ("Event", "Lease", "PodCliqueSet")}
    return {one["metadata"]["uid"]: (ref, one.get("spec"), one["metadata"].get("annotations")) for ref, one in kept.items()}


@pytest.fixture(params=list(CASES.values()), ids=list(CASES))
def case(request: pytest.FixtureRequest) -> tuple[Simulation, Edit]:
    make, edit = request.param
    return running(make()), edit


def is_told(message: str) -> bool:
    return any(words in message for words in ("immutable", "not allowed", "cannot"))


def test_a_change_of_what_cannot_change_holds_the_set_with_all_that_it_has(case: tuple[Simulation, Edit]) -> None:
    simulation, edit = case
    before, set = everything(simulation), copy.deepcopy(simulation.world.get(SET, "demo"))
    simulation.edit(edit)
    simulation.settle()
    simulation.wait(600)
    assert everything(simulation) == before
    assert is_told(stalled(simulation))
    assert any(map(is_told, simulation.world.told)), "and an event tells"
    simulation.operator.restart()
    simulation.settle()
    assert everything(simulation) == before, "a new process finds it too"
    simulation.world.apply({**simulation.world.get(SET, "demo"), "spec": set["spec"]})
    simulation.edit(lambda now: now["metadata"].update(annotations=set["metadata"].get("annotations", {})))
    simulation.settle()
    assert stalled(simulation) == ""
    assert everything(simulation) == before, "put back, it goes on without a restart"


def reviewed(simulation: Simulation, now: Manifest, stored: Manifest) -> Manifest:
    judge = Reviewer(simulation.operator.context, ObjectList([*simulation.world.cluster.store.objects.values()]))
    answer: Manifest = judge.validate(asked("UPDATE", now, stored))["response"]
    return answer


def test_webhooks_that_are_there_again_let_it_be_put_back_and_refuse_it_ever_after(case: tuple[Simulation, Edit]) -> None:
    simulation, edit = case
    before = copy.deepcopy(simulation.world.get(SET, "demo"))
    simulation.edit(edit)
    simulation.settle()
    held = simulation.world.get(SET, "demo")
    assert reviewed(simulation, before, held)["allowed"]
    assert reviewed(simulation, {**held, "metadata": {**held["metadata"], "labels": {"team": "a"}}}, held)["allowed"], "as it is stored so"
    simulation.world.put(before)
    assert not reviewed(simulation, held, before)["allowed"]


def test_every_rule_about_updates_of_sets_is_among_the_cases() -> None:
    rules = {rule.id.removeprefix("validate/") for rule in shipped_program().rules if rule.id.startswith("validate/update-")}
    about_sets = {id for id in rules if "topology-levels" not in id and not id.startswith("update-managed")}
    assert about_sets - ON_ADMISSION_ALONE == CASES.keys()


@pytest.mark.parametrize("count", [1, 3])
def test_an_edit_that_is_allowed_goes_through(count: int) -> None:
    simulation = running(serving())
    simulation.edit(at(f"{FRONT}/spec/replicas", count), image("new"))
    simulation.edit(replicas(count), kind=GROUP, name="demo-0-sg")
    simulation.settle()
    assert stalled(simulation) == ""
    assert simulation.images() == {"new"}
    assert_all_ready(simulation)


def test_a_default_that_follows_another_field_is_no_change() -> None:
    """`minAvailable` is the number of pods where nobody says another one."""
    manifest = serving()
    del manifest["spec"]["template"]["cliques"][0]["spec"]["minAvailable"]
    simulation = running(manifest)
    simulation.edit(at(f"{FRONT}/spec/replicas", 3))
    simulation.settle()
    assert stalled(simulation) == ""
    clique = simulation.world.get(CLIQUE, "demo-0-front")["spec"]
    assert (clique["replicas"], clique["minAvailable"]) == (2, 2), "the replica was no longer available, with fewer pods than it needed"
    edited = copy.deepcopy(simulation.world.get(SET, "demo"))
    at(f"{FRONT}/spec/minAvailable", 2)(edited)
    assert reviewed(simulation, edited, simulation.world.get(SET, "demo"))["allowed"], "as webhooks write it, once they are there"
    assert_all_ready(simulation)


def test_a_default_that_is_written_since_is_no_change_but_another_value_is() -> None:
    """As webhooks write it, which were off when the set was created."""
    manifest = serving()
    del manifest["spec"]["template"]["cliques"][0]["spec"]["minAvailable"]
    simulation = running(manifest)
    for edits in (at(f"{FRONT}/spec/replicas", 3), at(f"{FRONT}/spec/minAvailable", 2)), (at(f"{FRONT}/spec/replicas", 4), image("new")):
        simulation.edit(*edits)
        simulation.settle()
        assert stalled(simulation) == ""
    simulation.edit(at(f"{FRONT}/spec/minAvailable", 3))
    simulation.settle()
    assert is_told(stalled(simulation))


def test_a_set_of_an_older_release_which_recorded_nothing_goes_on() -> None:
    simulation = running(serving())
    for one in simulation.world.all(REVISION):
        simulation.world.put({**one, "data": {key: value for key, value in one["data"].items() if key != "immutable"}})
    simulation.edit(at(f"{TEMPLATE}/cliqueStartupType", "CliqueStartupTypeInOrder"))
    simulation.settle()
    assert stalled(simulation) == ""


GARBLED = [
    "text",
    [1],
    None,
    {"spec": "text"},
    {"metadata": {"annotations": None}},
    {"spec": {"template": {"cliques": ["a", {}]}}},
    {"spec": {"template": {"cliques": [{"name": [1]}]}}},
]


@pytest.mark.parametrize("record", GARBLED, ids=str)
def test_a_record_that_nobody_can_have_written_ends_in_no_exception(record: Any) -> None:
    simulation = running(serving())
    for one in simulation.world.all(REVISION):
        simulation.world.put({**one, "data": {**one["data"], "immutable": record}})
    simulation.edit(image("new"))
    simulation.settle()
    assert "Error" not in stalled(simulation)
