"""Another default scheduler is for new sets: a gang is scheduled by one scheduler, and one pod of another would wait for ever."""

from __future__ import annotations

from typing import Any

from applier.ref import Manifest
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.source.document import Document
from grove_compiler.step import StepContext
from tests.simulation.sets import NAME, demo, image, replicas
from tests.simulation.simulation import PLATFORM, Simulation
from tests.simulation.watch import assert_all_ready
from tests.simulation.world import GANG, GROUP, POD, POD_GROUP, REVISION
from tests.step.world import context

DEFAULT, KAI = "default-scheduler", "kai-scheduler"


def with_default(name: str, profiles: tuple[str, ...] = (DEFAULT, KAI)) -> StepContext:
    scheduler: dict[str, Any] = {"profiles": [{"name": one} for one in profiles], "defaultProfileName": name}
    return context(Settings(pods=True, kube_version="1.35"), Document({**PLATFORM, "scheduler": scheduler}))


def named(name: str) -> Manifest:
    return {**demo(), "metadata": {"name": name, "namespace": "default", "labels": {"kai.scheduler/queue": "q"}}}


def running_with(name: str) -> Simulation:
    simulation = Simulation(with_default(name))
    simulation.world.apply(named(NAME))
    simulation.settle()
    return simulation


def schedulers(simulation: Simulation, prefix: str = NAME) -> set[str]:
    return {one["spec"]["schedulerName"] for one in simulation.world.pods(prefix)}


def test_a_set_that_runs_keeps_its_scheduler_and_a_new_one_has_the_new_default() -> None:
    simulation = running_with(DEFAULT)
    before = {one["metadata"]["uid"] for one in simulation.world.pods()}
    simulation.operator.restart(with_default(KAI))
    simulation.settle()
    assert {one["metadata"]["uid"] for one in simulation.world.pods()} == before
    simulation.world.delete(POD, simulation.world.pods()[0]["metadata"]["name"])
    simulation.edit(replicas(4), kind=GROUP, name="demo-0-sg")
    simulation.settle()
    simulation.edit(image("new"))
    simulation.settle()
    assert_all_ready(simulation)
    assert (simulation.images(), schedulers(simulation), simulation.world.all(POD_GROUP)) == ({"new"}, {DEFAULT}, [])
    assert {one["metadata"]["labels"]["grove.io/scheduler-name"] for one in simulation.world.all(GANG)} == {DEFAULT}
    simulation.world.apply(named("other"))
    simulation.settle()
    assert schedulers(simulation, "other") == {KAI}


def test_the_one_that_a_set_began_with_is_known_where_somebody_deletes_its_newest_revision() -> None:
    simulation = running_with(DEFAULT)
    simulation.edit(image("new"))
    simulation.settle()
    simulation.operator.restart(with_default(KAI))
    simulation.settle()
    simulation.world.delete(REVISION, max(simulation.world.all(REVISION), key=lambda one: one["revision"])["metadata"]["name"])
    simulation.settle()
    simulation.world.delete(POD, simulation.world.pods()[0]["metadata"]["name"])
    simulation.settle()
    assert (schedulers(simulation), simulation.images()) == ({DEFAULT}, {"new"})
    assert_all_ready(simulation)


def test_a_default_that_is_no_longer_configured_is_given_up() -> None:
    simulation = running_with(KAI)
    simulation.operator.restart(with_default(DEFAULT, (DEFAULT,)))
    simulation.world.delete(POD, simulation.world.pods()[0]["metadata"]["name"])
    simulation.settle()
    assert schedulers(simulation) == {DEFAULT, KAI}
    assert simulation.operator.held == {}


def test_a_default_that_is_not_configured_for_a_while_is_that_of_the_set_again_as_long_as_a_pod_has_it() -> None:
    simulation = running_with(KAI)
    for configured in (with_default(DEFAULT, (DEFAULT,)), with_default(DEFAULT)):
        simulation.operator.restart(configured)
        simulation.settle()
    simulation.world.delete(POD, simulation.world.pods()[0]["metadata"]["name"])
    simulation.settle()
    assert schedulers(simulation) == {KAI}
    assert_all_ready(simulation)
    simulation.operator.restart(with_default(DEFAULT, (DEFAULT,)))
    for one in simulation.world.pods():
        simulation.world.delete(POD, one["metadata"]["name"])
    simulation.settle()
    simulation.operator.restart(with_default(KAI))
    simulation.settle()
    simulation.world.delete(POD, simulation.world.pods()[0]["metadata"]["name"])
    simulation.settle()
    assert schedulers(simulation) == {DEFAULT}


def test_a_set_of_a_release_that_did_not_record_it_has_the_present_default_from_then_on() -> None:
    simulation = running_with(DEFAULT)
    for one in simulation.world.all(REVISION):
        simulation.world.put({**one, "metadata": {**one["metadata"], "annotations": {}}})
    simulation.operator.restart(with_default(DEFAULT))
    simulation.settle()
    assert [one["metadata"]["annotations"]["grove.io/default-scheduler"] for one in simulation.world.all(REVISION)] == [DEFAULT]
