"""While the server refuses pods of one clique, those of others are looked after, and what is scaled in frees what they wait for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from applier.ref import Kind
from tests.model.sets import clique, group, pcs
from tests.simulation.admission import REFUSED
from tests.simulation.sets import image
from tests.simulation.simulation import Simulation, running
from tests.simulation.world import CLIQUE, GROUP

TWO = pcs([clique("front", 3, 1), clique("back", 3, 1)])
GROUPED = pcs([clique("front", 4, 1), clique("unit", 2, 2)], podCliqueScalingGroups=[group("sg", ["unit"], 2, 1)])


def scale(simulation: Simulation, kind: Kind, name: str, replicas: int) -> None:
    simulation.edit(lambda one: one["spec"].update(replicas=replicas), kind=kind, name=name)


def pods(simulation: Simulation) -> dict[str, int]:
    """How many pods run, by their PodClique."""
    return dict(Counter(one["metadata"]["labels"]["grove.io/podclique"] for one in simulation.world.pods() if is_running(one)))


def is_running(pod: dict[str, dict[str, str]]) -> bool:
    return pod["status"]["phase"] == "Running"


def test_pods_that_end_are_replaced_while_those_of_another_clique_are_refused() -> None:
    simulation = running(TWO)
    simulation.edit(image(REFUSED, 1))
    simulation.settle()
    for pod in simulation.world.pods("demo-0-front")[:2]:
        simulation.machines.exit(pod, 1)
    simulation.settle()
    simulation.wait(60)
    assert pods(simulation) == {"demo-0-front": 3, "demo-0-back": 2}


SCALED_IN: dict[str, tuple[dict[str, object], Callable[[Simulation], None], dict[str, int]]] = {
    "pods": (TWO, lambda simulation: scale(simulation, CLIQUE, "demo-0-back", 1), {"demo-0-front": 5, "demo-0-back": 1}),
    "units": (GROUPED, lambda simulation: scale(simulation, GROUP, "demo-0-sg", 1), {"demo-0-front": 6, "demo-0-sg-0-unit": 2}),
}


@pytest.mark.parametrize(("manifest", "scale_in", "wanted"), SCALED_IN.values(), ids=SCALED_IN)
def test_what_is_scaled_in_makes_room_in_a_quota_for_what_waits(
    manifest: dict[str, object], scale_in: Callable[[Simulation], None], wanted: dict[str, int]
) -> None:
    simulation = running(manifest)
    simulation.admission.quota = len(simulation.world.pods())
    scale(simulation, CLIQUE, "demo-0-front", wanted["demo-0-front"])
    simulation.settle()
    scale_in(simulation)
    simulation.settle()
    simulation.wait(60)
    assert pods(simulation) == wanted
