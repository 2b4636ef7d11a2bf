"""The size of a training workload is what its set declares: what somebody writes past admission is put back (GREP-0285)."""

from __future__ import annotations

import pytest

from applier.ref import Kind, Manifest
from tests.model.sets import clique, group
from tests.simulation.simulation import Simulation, running
from tests.simulation.world import CLIQUE, GROUP
from tests.training.jobs import attempts, job, phase, uids

WRITERS = {"an edit": ("kubectl-edit", "Update"), "a scale": ("kubectl", "Update"), "an apply": ("somebody", "Apply")}
OBJECTS = {
    "a clique of its own": (CLIQUE, "demo-0-lead", 1),
    "a clique of a scaling group": (CLIQUE, "demo-0-ranks-1-worker", 2),
    "a scaling group": (GROUP, "demo-0-ranks", 2),
}


def training() -> Simulation:
    return running(job([clique("lead"), clique("worker", 2)], template={"podCliqueScalingGroups": [group("ranks", ["worker"], 2)]}))


def resize(simulation: Simulation, kind: Kind, name: str, replicas: int, manager: str = "kubectl", operation: str = "Update") -> None:
    """Somebody writes another number into an object, and owns that field from then on."""
    fields: Manifest = {"f:spec": {"f:replicas": {}}}
    entry = {"manager": manager, "operation": operation, "apiVersion": "grove.io/v1alpha1", "fieldsType": "FieldsV1", "fieldsV1": fields}

    def change(manifest: Manifest) -> None:
        manifest["spec"]["replicas"] = replicas
        for other in manifest["metadata"]["managedFields"]:
            other["fieldsV1"].get("f:spec", {}).pop("f:replicas", None)
        manifest["metadata"]["managedFields"].append(entry)

    simulation.world.change(kind, name, change)


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("where", OBJECTS)
@pytest.mark.parametrize("replicas", [0, 5])
def test_a_number_that_somebody_has_written_is_put_back(writer: str, where: str, replicas: int) -> None:
    simulation = training()
    kind, name, declared = OBJECTS[where]
    before = uids(simulation)
    resize(simulation, kind, name, replicas, *WRITERS[writer])
    simulation.settle()
    assert simulation.world.get(kind, name)["spec"]["replicas"] == declared
    assert (uids(simulation), attempts(simulation), phase(simulation)) == (before, {"1"}, "Running")


def test_a_number_that_was_written_while_no_operator_ran_is_put_back() -> None:
    simulation = training()
    simulation.operator.kill()
    resize(simulation, GROUP, "demo-0-ranks", 7)
    simulation.operator.start()
    simulation.settle()
    assert simulation.world.get(GROUP, "demo-0-ranks")["spec"]["replicas"] == 2


def test_a_service_keeps_the_number_that_an_autoscaler_has_written() -> None:
    manifest = job([clique("worker", 2)])
    del manifest["spec"]["workloadType"], manifest["spec"]["trainingSpec"]
    manifest["spec"]["template"]["terminationDelay"] = "4h"
    manifest["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["restartPolicy"] = "Always"
    simulation = running(manifest)
    resize(simulation, CLIQUE, "demo-0-worker", 5, "kube-controller-manager")
    simulation.settle()
    assert simulation.world.get(CLIQUE, "demo-0-worker")["spec"]["replicas"] == 5
