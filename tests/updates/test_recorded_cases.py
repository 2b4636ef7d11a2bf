"""The shipped operator's recorded cases of updates and terminations: what there is after each step is the same, whatever lay between."""

from __future__ import annotations

import gzip
import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from applier.ref import Manifest
from tests.conformance.cases import FOLDER
from tests.simulation.simulation import Simulation
from tests.simulation.world import NAMESPACE, POD

LIVE = FOLDER / "live"
KINDS = ("Pod", "PodClique", "PodCliqueScalingGroup", "PodGang", "Service")
Intervention = Callable[[Simulation], None]


def recorded(case: str) -> list[Manifest]:
    """The steps of a case, as if it had run in the namespace that simulations have."""
    text = gzip.decompress((LIVE / f"{case}.json.gz").read_bytes()).decode()
    steps: list[Manifest] = json.loads(text.replace(f"live-{case}", NAMESPACE))
    return steps


def comparison() -> Any:
    """The program that comes with the cases, which knows what cannot be equal."""
    spec = importlib.util.spec_from_file_location("compare", LIVE / "compare.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def declared(step: Manifest) -> Manifest:
    """The set as somebody wrote it before a step."""
    set = next(one for one in step["objects"] if one["kind"] == "PodCliqueSet")
    metadata = {"name": set["metadata"]["name"], "namespace": NAMESPACE}
    return {"apiVersion": set["apiVersion"], "kind": set["kind"], "metadata": metadata, "spec": set["spec"]}


def differences(simulation: Simulation, step: Manifest) -> list[str]:
    """Where what there is differs from what was recorded."""
    compare = comparison()
    ours, theirs = (
        compare.view([one for one in objects if one["kind"] in KINDS])
        for objects in (simulation.world.cluster.store.objects.values(), step["objects"])
    )
    return list(compare.differences(ours, theirs))


def lose(*prefixes: str) -> Intervention:
    """Somebody deletes a pod of each of these cliques."""

    def intervention(simulation: Simulation) -> None:
        for prefix in prefixes:
            simulation.world.delete(POD, simulation.world.pods(prefix)[0]["metadata"]["name"])

    return intervention


def break_for(seconds: float, prefix: str) -> Intervention:
    """The pods of a clique are not ready for so long."""

    def intervention(simulation: Simulation) -> None:
        simulation.wait(60)  # long after the start
        simulation.machines.fail(prefix)
        simulation.settle()
        simulation.wait(seconds)
        simulation.machines.failing.clear()

    return intervention


def nothing(_: Simulation) -> None:
    """Only the set is edited."""


CASES: dict[str, list[Intervention]] = {
    "roll-clique": [nothing, nothing],
    "roll-two-cliques": [nothing, nothing],
    "on-delete": [nothing, nothing, lose("ondelete-0-front")],
    "gang-termination": [nothing, break_for(20, "frail-0-sg-0-dec")],
    "breach-recovered": [nothing, break_for(1, "frail-0-sg-0-dec"), break_for(1, "frail-0-front")],
    "node-deleted": [nothing, lose("doom-0-sg-0-dec", "doom-0-sg-1-pre", "doom-0-sg-1-dec"), nothing],
}
"""What happens before each step that was recorded, besides that somebody writes the set."""


@pytest.mark.skipif(not Path(LIVE).is_dir(), reason="the recorded cases are not there")
@pytest.mark.parametrize("case", CASES)
def test_each_step_ends_as_it_did_with_the_shipped_operator(case: str) -> None:
    simulation = Simulation()
    steps = recorded(case)
    assert len(steps) == len(CASES[case])
    for step, intervention in zip(steps, CASES[case], strict=True):
        simulation.world.apply(declared(step))
        simulation.settle()
        intervention(simulation)
        simulation.settle()
        assert differences(simulation, step) == [], step["step"]
