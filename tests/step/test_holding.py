"""Which findings hold a set is said by the rule that has them, whatever it is called."""

from __future__ import annotations

import pytest

from applier.ref import Manifest
from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.source.document import Document
from grove_compiler.step import StepHold, step
from tests.features.compiling import program_with
from tests.model.sets import clique, pcs
from tests.simulation.sets import image, replicas
from tests.simulation.simulation import Simulation
from tests.simulation.world import POD

from .world import NOW, context, key_of, stored

IMAGES = """
rule: {id}
doc: Wants images by their digests.
validate: [create, update]
{holds}
forEach: {{container: set.structs_of('Container')}}
assert: "'@sha256:' in (container.manifest.image or '')"
path: "{{{{ container.path }}}}.image"
message: has no digest
"""
CONFIGURATION = {"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration"}


def rule(id: str, holds: str = "") -> str:
    return IMAGES.format(id=id, holds=f"holds: {holds}" if holds else "")


@pytest.mark.parametrize("id", ["policy/digest", "pod/digest"])
@pytest.mark.parametrize("holds", ["", "all"])
def test_a_users_finding_holds_a_set_whatever_its_rule_is_called(id: str, holds: str) -> None:
    objects = stored([pcs([clique("worker")])])
    outcome = step(ObjectList(objects), key_of(objects[0], 0), NOW, context(program=program_with(rule(id, holds))))
    assert isinstance(outcome, StepHold)


def test_one_that_the_api_server_has_too_lets_a_new_set_come_up_and_holds_an_update() -> None:
    shared = context(program=program_with(rule("policy/digest", "updates")))
    simulation = Simulation(shared)
    simulation.world.apply(pcs([clique("worker", 2)]))
    simulation.settle()
    before = {one["metadata"]["uid"] for one in simulation.world.pods()}
    assert len(before) == 2
    simulation.edit(image("new", 0))
    simulation.settle()
    assert {one["metadata"]["uid"] for one in simulation.world.pods()} == before
    assert [one["status"] for one in simulation.status()["conditions"] if one["type"] == "Stalled"] == ["True"]


def test_what_the_configuration_allows_no_new_set_holds_none_that_runs() -> None:
    """Its annotation cannot be removed any more, so that nothing could end that."""
    allowed = Document({**CONFIGURATION, "network": {"autoMNNVLEnabled": True}})
    simulation = Simulation(context(config=allowed))
    simulation.world.apply(pcs([clique("worker", 2)], metadata={"name": "demo", "annotations": {"grove.io/mnnvl-group": "racks"}}))
    simulation.settle()
    simulation.operator.restart(context(config=Document(CONFIGURATION)))
    simulation.edit(image("new", 0))
    simulation.settle()
    assert simulation.images("demo") == {"new"}
    assert simulation.operator.held == {}


def test_a_release_that_validates_more_holds_no_set_that_runs_and_what_is_added_later_as_ever() -> None:
    """Decisions §10: where pods are lost they come again, the set is scaled and rolled, and an event names what is wrong."""
    simulation = Simulation(context())
    simulation.world.apply(pcs([clique("front", 2), clique("back", 2)]))
    simulation.settle()
    simulation.operator.restart(context(program=program_with(rule("policy/digest"))))
    simulation.settle()
    simulation.world.delete(POD, simulation.world.pods()[0]["metadata"]["name"])
    simulation.settle()
    assert (len(simulation.world.pods()), simulation.operator.held) == (4, {})
    assert any(one.startswith("InvalidAsBefore: ") for one in simulation.world.told)
    simulation.edit(replicas(2), image("new", 0))
    simulation.operator.restart()
    simulation.settle()
    assert (len(simulation.world.pods()), simulation.operator.held) == (8, {})
    simulation.edit(with_init_container)
    simulation.settle()
    simulation.operator.restart()
    simulation.settle()
    assert ["initContainers[0].image: has no digest" in why for why in set(simulation.operator.held.values())] == [True]


def test_whoever_takes_the_condition_of_a_set_that_is_held_lets_nothing_pass() -> None:
    simulation = Simulation(context(program=program_with(rule("policy/digest"))))
    simulation.world.apply(pcs([clique("front", 2, podSpec={"containers": [{"name": "main", "image": "old@sha256:0"}]})]))
    simulation.settle()
    simulation.edit(image("new", 0))
    simulation.settle()
    simulation.edit(without_conditions)
    simulation.settle()
    assert simulation.images("demo") == {"old@sha256:0"}
    assert [one["reason"] for one in simulation.status()["conditions"] if one["type"] == "Stalled"] == ["Held"]


def without_conditions(set: Manifest) -> None:
    set["status"]["conditions"] = []


def with_init_container(set: Manifest) -> None:
    pod = set["spec"]["template"]["cliques"][0]["spec"]["podSpec"]
    pod["initContainers"] = [{"name": "first", "image": "first"}]
