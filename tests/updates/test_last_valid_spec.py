"""A set with an edit that cannot be goes on as its last valid spec wants it: what is lost otherwise comes again (decisions §10)."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from applier.ref import Manifest
from grove_compiler.engine.runtime.results import ObjectWait
from grove_compiler.model.expanded.last_valid_spec import MAX_SIZE, last_valid_spec
from grove_compiler.model.expanded.recorded_templates import LAST_VALID_SPEC
from grove_operator.controller.waiting import RecordedCache, waits_in
from tests.simulation.sets import equipped, image, replicas, strategy
from tests.simulation.simulation import Simulation, running
from tests.simulation.world import AUTOSCALER, CLIQUE, GROUP, POD, REVISION, SET, is_ready
from tests.step.world import context
from tests.updates.test_default_scheduler import DEFAULT, KAI, with_default
from tests.updates.test_immutable import CASES, FRONT, SG, TEMPLATE, Edit, at, everything, serving, stalled, training

IN_ORDER = at(f"{TEMPLATE}/cliqueStartupType", "CliqueStartupTypeInOrder")


def held(*edits: Edit, of: Manifest | None = None) -> Simulation:
    simulation = running(of or serving())
    simulation.edit(*edits)
    simulation.settle()
    assert stalled(simulation).startswith("the last valid spec stays in effect")
    return simulation


def lose(simulation: Simulation, prefix: str) -> Manifest:
    lost = simulation.world.pods(prefix)[0]
    simulation.world.delete(POD, lost["metadata"]["name"])
    simulation.settle()
    return lost


def ready(simulation: Simulation, prefix: str = "") -> int:
    return sum(map(is_ready, simulation.world.pods(prefix)))


@pytest.mark.parametrize("name", CASES)
def test_a_lost_pod_comes_again_as_it_was(name: str) -> None:
    make, edit = CASES[name]
    simulation = held(edit, of=make())
    before = simulation.world.pods()
    lost = lose(simulation, "demo-0")
    again = simulation.world.pods()
    assert ready(simulation) == len(before) == len(again)
    assert {one["spec"].get("schedulerName") for one in again} == {lost["spec"].get("schedulerName")}
    assert [len(one["spec"].get("initContainers", ())) for one in again] == [len(one["spec"].get("initContainers", ())) for one in before]


def test_it_comes_from_the_template_before_where_the_edit_changes_that_too() -> None:
    simulation = held(IN_ORDER, image("new"))
    lose(simulation, "demo-0-front")
    lose(simulation, "demo-0-sg-0-pre")
    assert (ready(simulation), simulation.images()) == (serving_pods(), {"busybox"})


def serving_pods() -> int:
    return len(running(serving()).world.pods())


def test_nothing_is_scaled_in_and_the_mended_edit_does_it() -> None:
    simulation = held(IN_ORDER, at("spec/replicas", 1), of=serving() | {"spec": {**serving()["spec"], "replicas": 2}})
    assert ready(simulation) == 2 * serving_pods()
    simulation.edit(at(f"{TEMPLATE}/cliqueStartupType", "CliqueStartupTypeAnyOrder"))
    simulation.settle()
    assert (stalled(simulation), ready(simulation)) == ("", serving_pods())


def test_a_group_that_somebody_scales_is_followed_out_and_in_once_the_edit_is_mended() -> None:
    simulation = held(IN_ORDER)
    simulation.edit(replicas(3), kind=GROUP, name="demo-0-sg")
    simulation.settle()
    assert ready(simulation, "demo-0-sg-2") == 3
    simulation.edit(replicas(1), kind=GROUP, name="demo-0-sg")
    simulation.settle()
    assert ready(simulation, "demo-0-sg-2") == 3
    simulation.edit(at(f"{TEMPLATE}/cliqueStartupType", "CliqueStartupTypeAnyOrder"))
    simulation.settle()
    assert (ready(simulation, "demo-0-sg-0"), simulation.world.pods("demo-0-sg-1"), simulation.world.pods("demo-0-sg-2")) == (3, [], [])


def test_a_roll_on_its_way_ends_with_the_template_that_was_valid() -> None:
    simulation = running(serving())
    simulation.edit(image("good"))
    simulation.run_operator()
    simulation.edit(IN_ORDER, image("never"))
    simulation.settle()
    assert stalled(simulation)
    assert simulation.images() == {"good"}
    assert simulation.status()["updateProgress"]["updateEndedAt"]


@pytest.mark.parametrize("declared", [0, 1, 2])
def test_a_roll_comes_to_its_end_also_in_replicas_that_the_edit_takes_away(declared: int) -> None:
    simulation = running(serving() | {"spec": {**serving()["spec"], "replicas": 3}})
    simulation.edit(image("good"))
    simulation.run_operator()
    simulation.edit(IN_ORDER, replicas(declared))
    simulation.settle()
    assert (ready(simulation), simulation.images()) == (3 * serving_pods(), {"good"})
    assert stalled(simulation)


def test_a_gang_that_stays_short_is_restarted_and_the_edit_is_no_reason_for_another() -> None:
    simulation = held(IN_ORDER)
    simulation.machines.room = 0
    pods = simulation.world.pods("demo-0-front")
    for one in pods:
        simulation.world.delete(POD, one["metadata"]["name"])
    simulation.settle()
    simulation.wait(5 * 3600)
    simulation.machines.room = 1000
    simulation.settle()
    assert ready(simulation) == serving_pods()


def waits_without_room(simulation: Simulation) -> list[ObjectWait]:
    """What the set waits for once it has lost a pod for which there is no room."""
    simulation.machines.room = 0
    lose(simulation, "demo-0-front")
    simulation.wait(60)
    set = simulation.world.get(SET, "demo")
    return waits_in(RecordedCache(simulation.world.cluster.store.objects.values(), []), set, context(), simulation.world.now)


def test_what_waits_meanwhile_is_told_beside_why_the_edit_is_held() -> None:
    waits = waits_without_room(held(IN_ORDER))
    assert {"Held", "Unschedulable"} <= {wait.reason for wait in waits}
    assert ["the last valid spec stays in effect" in wait.message for wait in waits if wait.reason == "Held"] == [True]


def test_a_pod_that_is_missing_meanwhile_is_told_with_its_own_cause() -> None:
    simulation = held(IN_ORDER)
    waits_without_room(simulation)
    simulation.wait(60)
    pending = next(one for one in simulation.status()["conditions"] if one["type"] == "WhyPending")
    assert pending["reason"] == "Unschedulable"
    assert any(told.startswith("Unschedulable: Pod demo-0-front") for told in simulation.world.told), "once, in an event"
    assert sum(told.startswith("Held") for told in simulation.world.told) == 1


def test_scaling_groups_and_cliques_that_are_taken_away_stay_at_their_size_with_their_autoscalers() -> None:
    simulation = running(equipped())
    simulation.edit(replicas(3), kind=GROUP, name="demo-0-sg")
    simulation.edit(replicas(4), kind=CLIQUE, name="demo-0-front")
    simulation.settle()
    before = len(simulation.world.pods())
    autoscalers = simulation.world.all(AUTOSCALER)
    assert len(autoscalers) == 4
    simulation.edit(lambda now: now["spec"]["template"]["cliques"].pop(0), at(f"{SG}/name", "other"))
    simulation.settle()
    lose(simulation, "demo-0-front")
    lose(simulation, "demo-0-sg-2")
    assert ready(simulation) == before
    assert [one["spec"] for one in simulation.world.all(AUTOSCALER)] == [one["spec"] for one in autoscalers]


def with_strategy(type: str, of: Manifest) -> Manifest:
    strategy(type)(of)
    return of


IGNORED: dict[str, tuple[Callable[[], Manifest], Edit, Edit]] = {
    "replicas": (serving, IN_ORDER, at("spec/replicas", 2)),
    "pods of a clique": (serving, IN_ORDER, at(f"{FRONT}/spec/replicas", 4)),
    "replicas of a group": (serving, IN_ORDER, at(f"{SG}/replicas", 3)),
    "a service": (serving, IN_ORDER, at(f"{TEMPLATE}/headlessServiceConfig", {"publishNotReadyAddresses": False})),
    "an autoscaler": (serving, IN_ORDER, at(f"{SG}/scaleConfig", {"minReplicas": 2, "maxReplicas": 2})),
    "a suspension": (training, at(f"{FRONT}/spec/replicas", 3), at("spec/suspend", True)),
    "a time limit": (training, at(f"{FRONT}/spec/replicas", 3), at("spec/trainingSpec/maxRuntime", "1s")),
    "an end": (training, at(f"{FRONT}/spec/replicas", 3), at("spec/ttlSecondsAfterFinished", 1)),
}
"""What may change, in an edit that also changes what may not."""
NO_VALUES: dict[str, Edit] = {
    "a delay": at(f"{TEMPLATE}/terminationDelay", "soon"),
    "a quantity": at(f"{FRONT}/spec/podSpec/containers/0/resources", {"limits": {"cpu": "much"}}),
    "a group without replicas": at(f"{SG}/replicas", 0),
    "no container": at(f"{FRONT}/spec/podSpec/containers", []),
}


@pytest.mark.parametrize("name", IGNORED)
def test_of_an_edit_nothing_takes_effect(name: str) -> None:
    make, *edits = IGNORED[name]
    simulation = running(make())
    before = everything(simulation)
    simulation.edit(*edits)
    simulation.settle()
    simulation.wait(600)
    assert stalled(simulation)
    assert everything(simulation) == before


def test_pods_that_people_replace_by_hand_stay_where_the_edit_ends_that() -> None:
    simulation = running(with_strategy("OnDelete", serving()))
    simulation.edit(image("new"))
    simulation.settle()
    before = everything(simulation)
    simulation.edit(IN_ORDER, strategy("RollingRecreate"))
    simulation.settle()
    assert (stalled(simulation) != "", everything(simulation)) == (True, before)


def test_a_gang_has_the_time_that_it_had() -> None:
    simulation = held(IN_ORDER, at(f"{TEMPLATE}/terminationDelay", "10s"))
    simulation.machines.room = 0
    for one in simulation.world.pods("demo-0-front"):
        simulation.world.delete(POD, one["metadata"]["name"])
    simulation.settle()
    simulation.wait(600)
    assert ready(simulation) == serving_pods() - 2
    simulation.machines.room = 1000


@pytest.mark.parametrize("name", NO_VALUES)
def test_a_value_that_is_none_costs_no_pod_not_even_where_all_of_a_clique_are_lost(name: str) -> None:
    simulation = held(NO_VALUES[name])
    for one in simulation.world.pods("demo-0-front"):
        simulation.world.delete(POD, one["metadata"]["name"])
    simulation.settle()
    assert (ready(simulation), simulation.images()) == (serving_pods(), {"busybox"})


def test_what_was_valid_last_is_known_where_no_other_revision_was_needed() -> None:
    simulation = running(serving())
    simulation.edit(at("spec/replicas", 2))
    simulation.settle()
    simulation.edit(IN_ORDER, at("spec/replicas", 1))
    simulation.settle()
    lose(simulation, "demo-1-front")
    assert ready(simulation) == 2 * serving_pods()


def test_a_revision_that_somebody_deletes_is_no_reason_to_go_back_to_the_one_before() -> None:
    simulation = running(serving())
    simulation.edit(image("new"))
    simulation.settle()
    simulation.edit(IN_ORDER)
    simulation.settle()
    simulation.world.delete(REVISION, max(simulation.world.all(REVISION), key=lambda one: one["revision"])["metadata"]["name"])
    simulation.settle()
    assert stalled(simulation).startswith("nothing is changed")
    assert (ready(simulation), simulation.images()) == (serving_pods(), {"new"})


def test_a_process_that_ends_before_it_records_what_its_status_names_is_followed_by_one_that_goes_on_as_before() -> None:
    simulation = running(serving())
    before = simulation.status()["currentGenerationHash"]

    def end_between_status_and_revision(_: str) -> None:
        is_recorded = simulation.status()["currentGenerationHash"] == before or len(simulation.world.all(REVISION)) > 1
        if simulation.operator.processes == 1 and not is_recorded:
            simulation.operator.writes_left = 0
            simulation.edit(IN_ORDER)

    simulation.operator.after_write = end_between_status_and_revision
    simulation.edit(image("new"))
    simulation.settle()
    lose(simulation, "demo-0-front")
    assert stalled(simulation).startswith("the last valid spec stays in effect")
    assert (ready(simulation), simulation.images(), simulation.operator.processes) == (serving_pods(), {"busybox"}, 2)
    simulation.edit(at(f"{TEMPLATE}/cliqueStartupType", "CliqueStartupTypeAnyOrder"))
    simulation.settle()
    assert (stalled(simulation), simulation.images()) == ("", {"new"})


def test_podcliques_of_it_that_have_no_pods_yet_are_no_reason_to_change_nothing() -> None:
    """Replicas are made beside the record: that of the set ended, and that of a new replica had begun."""
    simulation = running(serving())

    def end_between_a_replica_and_the_revision(_: str) -> None:
        is_made = simulation.world.find(GROUP, "demo-1-sg") is not None
        if simulation.operator.processes == 1 and is_made and len(simulation.world.all(REVISION)) == 1:
            simulation.operator.writes_left = 0
            simulation.edit(IN_ORDER)

    simulation.operator.after_write = end_between_a_replica_and_the_revision
    simulation.edit(image("new"), replicas(2))
    simulation.settle()
    assert (simulation.operator.processes, simulation.world.find(CLIQUE, "demo-1-front") is not None) == (2, True)
    lose(simulation, "demo-0-front")
    assert stalled(simulation).startswith("the last valid spec stays in effect")
    assert (ready(simulation), simulation.images()) == (serving_pods(), {"busybox"})
    simulation.edit(at(f"{TEMPLATE}/cliqueStartupType", "CliqueStartupTypeAnyOrder"))
    simulation.settle()
    assert (stalled(simulation), ready(simulation), simulation.images()) == ("", 2 * serving_pods(), {"new"})


NO_RECORDS = ["", "x", "[1]", "[" * 10_000, '{"template": {"cliques": "x"}}', '{"template": {"cliques": []}}']
NO_SETS = ['{"template": {"cliques": [{"name": [1]}]}}', '{"replicas": 1e400, "template": {"cliques": [{"name": "front", "spec": 1}]}}']


@pytest.mark.parametrize("record", [*NO_RECORDS, *NO_SETS], ids=lambda record: record[:60])
def test_a_record_of_an_older_release_or_of_somebody_else_leaves_everything_unchanged(record: str) -> None:
    simulation = running(serving())
    simulation.operator.kill()
    for one in simulation.world.all(REVISION):
        simulation.world.put({**one, "metadata": {**one["metadata"], "annotations": {LAST_VALID_SPEC: record}}})
    simulation.edit(IN_ORDER)
    before = everything(simulation)
    simulation.operator.restart()
    simulation.settle()
    assert stalled(simulation).startswith("nothing is changed: spec.template.cliqueStartupType")
    assert everything(simulation) == before


@pytest.mark.parametrize("edit", [IN_ORDER, at(f"{TEMPLATE}/later", 1)], ids=["held", "in the set as well"])
def test_a_field_of_a_later_release_that_was_taken_back_keeps_no_lost_pod_from_coming_again(edit: Edit) -> None:
    simulation = running(serving())
    simulation.operator.kill()
    for one in simulation.world.all(REVISION):
        record = json.loads(one["metadata"]["annotations"][LAST_VALID_SPEC])
        record["template"]["later"] = 1
        simulation.world.put({**one, "metadata": {**one["metadata"], "annotations": {LAST_VALID_SPEC: json.dumps(record)}}})
    simulation.edit(edit)
    simulation.operator.restart()
    lose(simulation, "demo-0-front")
    assert (stalled(simulation) != "", ready(simulation)) == (True, serving_pods())
    assert all('"later"' in one["metadata"]["annotations"][LAST_VALID_SPEC] for one in simulation.world.all(REVISION))


def test_an_error_that_only_a_newer_configuration_finds_in_what_runs_does_not_hold_that_too() -> None:
    set = serving()
    set["metadata"]["labels"] = {"kai.scheduler/queue": "q"}
    for one in set["spec"]["template"]["cliques"]:
        one["spec"]["podSpec"]["schedulerName"] = KAI
    simulation = held(IN_ORDER, of=set)
    simulation.operator.restart(with_default(DEFAULT, (DEFAULT,)))
    simulation.settle()
    lose(simulation, "demo-0-front")
    assert stalled(simulation).startswith("the last valid spec stays in effect")
    assert len(simulation.world.pods()) == serving_pods()


def test_a_set_whose_revision_is_of_a_release_that_recorded_no_fields_is_followed_from_then_on() -> None:
    simulation = running(serving())
    for one in simulation.world.all(REVISION):
        simulation.world.put({**one, "data": {key: value for key, value in one["data"].items() if key != "immutable"}})
    simulation.operator.restart()
    simulation.settle()
    simulation.edit(NO_VALUES["a delay"])
    lose(simulation, "demo-0-front")
    assert ready(simulation) == serving_pods()


def test_a_spec_that_no_annotation_has_room_for_is_not_recorded() -> None:
    spec = serving()["spec"]
    large = {**spec, "template": {**spec["template"], "computeDomainConfig": "x" * MAX_SIZE}}
    assert '"podSpec"' not in last_valid_spec({"metadata": {}, "spec": spec})
    assert last_valid_spec({"metadata": {}, "spec": large}) == ""
    assert last_valid_spec({"metadata": {"annotations": {"a": "x" * MAX_SIZE}}, "spec": spec}), "without its metadata"


@pytest.mark.parametrize("count", [0, 2_000_000_000])
def test_what_waits_is_told_of_the_replicas_that_were_declared_last(count: int) -> None:
    waits = waits_without_room(held(IN_ORDER, at("spec/replicas", count)))
    assert {"Held", "Unschedulable"} <= {wait.reason for wait in waits}


def test_a_set_that_was_never_valid_is_held_as_a_whole() -> None:
    simulation = Simulation()
    set = serving()
    at(f"{FRONT}/spec/minAvailable", 9)(set)
    simulation.world.apply(set)
    simulation.settle()
    assert stalled(simulation).startswith("nothing is changed")
    assert simulation.world.pods() == []


def test_a_failed_training_pod_restarts_its_attempt_as_ever() -> None:
    simulation = held(at(f"{FRONT}/spec/replicas", 3), of=training())
    simulation.machines.exit(simulation.world.pods("demo-0-work")[0], 1)
    simulation.settle()
    simulation.wait(60)
    assert (ready(simulation), simulation.status()["restartCount"]) == (3, 1)


def test_a_workload_that_has_ended_is_not_deleted_while_an_edit_is_held_which_may_have_ended_its_limit() -> None:
    manifest = training()
    manifest["spec"]["ttlSecondsAfterFinished"] = 600
    simulation = held(at(f"{FRONT}/spec/replicas", 3), at("spec/ttlSecondsAfterFinished", None), of=manifest)
    for _ in range(2):
        for one in simulation.world.pods():
            simulation.machines.exit(one)
        simulation.settle()
    simulation.wait(3600)
    assert (simulation.status()["phase"], stalled(simulation) != "") == ("Succeeded", True)
    simulation.edit(at(f"{FRONT}/spec/replicas", 2))
    simulation.wait(60)
    assert simulation.world.find(SET, "demo") is not None
    simulation.edit(at("spec/ttlSecondsAfterFinished", 600))
    simulation.wait(60)
    assert simulation.world.find(SET, "demo") is None
