"""Sets that run and with which nobody does anything: nothing is asked, looked at or kept for them, however long that lasts."""

from __future__ import annotations

import asyncio
import gc
import os
from pathlib import Path

import pytest

from grove_compiler.step import Key
from tests.model.sets import clique, pcs
from tests.simulation.operator import Operator
from tests.simulation.simulation import Simulation
from tests.suite.effort import runs

SETS = min(runs(20), 200)
TEN_MINUTES = 600.0
OBJECTS = 500
"""Of Python, that may be more afterwards: the cluster in memory logs each watch that is renewed. An object a second would be more."""


def held(simulation: Simulation) -> tuple[int, int, int]:
    """Tasks, file descriptors and objects of the process."""
    gc.collect()
    descriptors = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
    return len(asyncio.all_tasks(simulation.loop)), descriptors, len(gc.get_objects())


def test_sets_at_rest_cost_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = list[Key]()
    monkeypatch.setattr(Operator, "_look_at", lambda _, result: looks.append(result.key))
    simulation = Simulation()
    for number in range(SETS):
        simulation.world.apply(pcs([clique("front", 1)], metadata={"name": f"set-{number}"}))
    simulation.settle()
    simulation.wait(TEN_MINUTES)
    assert len({pod["spec"]["hostname"] for pod in simulation.world.pods()}) == SETS
    assert looks
    version, log = simulation.world.version, len(simulation.world.cluster.log)
    looks.clear()
    tasks, descriptors, objects = held(simulation)
    simulation.let_pass(TEN_MINUTES)
    assert looks == []
    assert simulation.world.version == version
    assert {request.verb for request in simulation.world.cluster.log[log:]} == {"watch"}
    after = held(simulation)
    assert after[:2] == (tasks, descriptors)
    assert after[2] - objects < OBJECTS
