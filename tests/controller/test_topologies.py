"""A binding whose levels somebody edits, or that is new, reports no drift while the operator has yet to write KAI's Topology after it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from applier.errors import Invalid
from applier.ref import Kind, Manifest
from grove_compiler.source.document import Document
from grove_compiler.step import StepContext
from tests.simulation.sets import demo
from tests.simulation.simulation import Simulation
from tests.simulation.world import EVENT, KAI_TOPOLOGY, SET, TOPOLOGY
from tests.step.world import context

BINDING = Kind("grove.io", "v1alpha1", "ClusterTopologyBinding")
CONFIG = {
    "apiVersion": "operator.config.grove.io/v1alpha1",
    "kind": "OperatorConfiguration",
    "topologyAwareScheduling": {"enabled": True},
    "scheduler": {"profiles": [{"name": "default-scheduler"}, {"name": "kai-scheduler"}]},
}


def levels(*domains: str) -> list[Manifest]:
    return [{"domain": domain, "key": f"example.com/{domain}"} for domain in domains]


def binding(**spec: Any) -> Manifest:
    spec = {"levels": levels("zone", "rack"), **spec}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding", "metadata": {"name": "lab"}, "spec": spec}


@pytest.fixture
def simulation() -> Simulation:
    return Simulation(StepContext(context().program, context().settings, Document(CONFIG)))


def reported(simulation: Simulation, version: int = 0) -> list[str]:
    """The statuses of the condition that the binding has had since a version, each once in a row."""
    found: list[str] = []
    for ref, _, new in reversed([*simulation.world.changes_since(version)]):
        if ref.kind == BINDING.kind and new is not None:
            conditions = (new.get("status") or {}).get("conditions") or []
            found += [one["status"] for one in conditions if one["type"] == "SchedulerTopologyDrift" and one["status"] not in found[-1:]]
    return found


def events(simulation: Simulation) -> list[str]:
    return [one["reason"] for one in simulation.world.all(EVENT) if one["involvedObject"]["kind"] == BINDING.kind]


def edit_levels(manifest: Manifest) -> None:
    manifest["spec"]["levels"] = levels("zone", "host")


def keys(simulation: Simulation, name: str = "lab") -> list[str]:
    return [one["nodeLabel"] for one in simulation.world.get(KAI_TOPOLOGY, name)["spec"]["levels"]]


def test_a_new_binding_is_in_sync_from_its_first_status_on(simulation: Simulation) -> None:
    simulation.world.apply(binding())
    simulation.settle()
    assert (reported(simulation), events(simulation)) == (["False"], [])


def test_an_edit_of_levels_is_followed_without_a_word_of_drift(simulation: Simulation) -> None:
    simulation.world.apply(binding())
    simulation.settle()
    before = simulation.world.version
    simulation.edit(edit_levels, kind=BINDING, name="lab")
    simulation.settle()
    assert keys(simulation) == ["example.com/zone", "example.com/host"]
    assert (reported(simulation, before), events(simulation)) == (["False"], [])
    status = simulation.status(BINDING, "lab")
    assert status["observedGeneration"] == simulation.world.get(BINDING, "lab")["metadata"]["generation"]


def test_a_topology_of_somebody_else_that_drifts_is_told(simulation: Simulation) -> None:
    theirs = {"apiVersion": "kai.scheduler/v1alpha1", "kind": "Topology", "metadata": {"name": "theirs"}}
    simulation.world.apply({**theirs, "spec": {"levels": [{"nodeLabel": "example.com/zone"}, {"nodeLabel": "example.com/rack"}]}})
    simulation.world.apply(binding(schedulerTopologyBindings=[{"schedulerName": "kai-scheduler", "topologyReference": "theirs"}]))
    simulation.settle()
    before = simulation.world.version
    simulation.edit(edit_levels, kind=BINDING, name="lab")
    simulation.settle()
    assert (reported(simulation, before), events(simulation)) == (["False", "True"], ["TopologyDriftDetected"])


def test_a_binding_whose_topology_nobody_serves_says_so_in_its_status(simulation: Simulation) -> None:
    """As where KAI is enabled, as in the chart, and not installed."""
    refused = Invalid(404, "NotFound", "the server does not serve Topology in kai.scheduler/v1alpha1")
    simulation.world.cluster.fail(lambda request: request.resource.kind == KAI_TOPOLOGY and request.writes, refused, times=-1)
    simulation.world.apply(binding())
    simulation.settle()
    status = simulation.status(BINDING, "lab")
    assert [one["reason"] for one in status["conditions"] if one["type"] == "Stalled"] == ["Refused"]
    assert status["observedGeneration"] == 1


DESCRIBED = {**CONFIG, "topologyAwareScheduling": {"enabled": True, "levels": levels("zone", "rack")}}
DEFAULT = "grove-topology"


def placed_by_default() -> Simulation:
    """A set in the default topology that the configuration describes."""
    simulation = Simulation(StepContext(context().program, context().settings, Document(DESCRIBED)))
    simulation.settle()
    simulation.world.apply(demo(1, clusterTopologyName=DEFAULT, topologyConstraint={"packDomain": "zone"}))
    simulation.settle()
    return simulation


def configure(simulation: Simulation, config: Manifest) -> None:
    simulation.operator.restart(StepContext(context().program, context().settings, Document(config)))
    simulation.settle()


def content(topology: Manifest) -> Manifest:
    """Returns an object without what each write changes."""
    metadata = {key: value for key, value in topology["metadata"].items() if key not in ("managedFields", "resourceVersion")}
    return {**topology, "metadata": metadata}


def test_a_default_topology_that_the_configuration_drops_stays_whole_while_a_set_refers_to_it() -> None:
    """The finalizer alone, applied by the manager that has made the rest, would take the levels with it."""
    simulation = placed_by_default()
    before = simulation.world.get(TOPOLOGY, DEFAULT)
    configure(simulation, CONFIG)
    assert content(simulation.world.get(TOPOLOGY, DEFAULT)) == content(before)
    assert simulation.operator.held == {}
    simulation.world.delete(SET, "demo")
    simulation.settle()
    assert simulation.world.find(TOPOLOGY, DEFAULT) is None


def without_our_label(manifest: Manifest) -> None:
    manifest["metadata"].pop("labels")


def by_its_author_as_us(manifest: Manifest) -> None:
    """As `grove adopt` leaves it, or `kubectl apply --server-side --field-manager grove-operator`."""
    without_our_label(manifest)
    manifest["metadata"]["finalizers"] = []


@pytest.mark.parametrize("change", [without_our_label, by_its_author_as_us])
def test_so_does_one_that_is_not_known_as_ours_any_more(change: Callable[[Manifest], None]) -> None:
    """Its finalizer belongs to a manager of its own, so that nothing else goes with it, or because of it."""
    simulation = placed_by_default()
    simulation.operator.kill()
    edited = copy.deepcopy(simulation.world.get(TOPOLOGY, DEFAULT))
    change(edited)
    simulation.world.put(edited)
    configure(simulation, CONFIG)
    live = simulation.world.get(TOPOLOGY, DEFAULT)
    assert (live["spec"], live["metadata"]["finalizers"]) == ({"levels": levels("zone", "rack")}, ["grove.io/clustertopology.grove.io"])
    assert simulation.operator.held == {}
    configure(simulation, DESCRIBED)
    configure(simulation, CONFIG)
    assert simulation.world.get(TOPOLOGY, DEFAULT)["spec"] == live["spec"], "ours again, and not again"
    simulation.world.delete(SET, "demo")
    simulation.settle()
    assert simulation.world.find(TOPOLOGY, DEFAULT) is None


def a_topology_of_somebody_else(**metadata: Any) -> Manifest:
    """One that people have made by the name of the default one."""
    spec = {"levels": levels("block", "rack")}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopology", "metadata": {"name": DEFAULT, **metadata}, "spec": spec}


OFF = {**CONFIG, "topologyAwareScheduling": {"enabled": False}}


@pytest.mark.parametrize("config", [CONFIG, OFF, DESCRIBED], ids=["on", "off", "default"])
def test_one_of_somebody_else_with_its_name_and_our_label_stays_as_it_is(config: Manifest) -> None:
    """As where people have exported the default one of another cluster, or a backup is restored: labels make nothing ours."""
    simulation = Simulation(StepContext(context().program, context().settings, Document(config)))
    [theirs] = simulation.world.cluster.seed(
        a_topology_of_somebody_else(labels={"app.kubernetes.io/managed-by": "grove-operator"}), manager="kubectl"
    )
    simulation.settle()
    live = simulation.world.get(TOPOLOGY, DEFAULT)
    assert (live["metadata"]["uid"], live["spec"]) == (theirs["metadata"]["uid"], theirs["spec"])
