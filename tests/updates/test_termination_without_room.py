"""Gang termination where nodes have no room for what is restarted: pods that only wait for nodes are left in their queue."""

from __future__ import annotations

from tests.simulation.simulation import Simulation
from tests.simulation.watch import assert_all_ready

from .test_termination import MINUTE, TERMINATED, briefly_tolerant

ALL = 11
"""The pods of the set's replica."""


def restarted_without_room(min_available: int = 1) -> Simulation:
    """A replica that was restarted while nodes took no more pods."""
    simulation = briefly_tolerant(min_available=min_available)
    simulation.machines.cordoned = True
    simulation.machines.fail("demo-0-front")
    simulation.settle()
    simulation.wait(MINUTE)
    assert len(simulation.deleted(TERMINATED)) == ALL
    return simulation


def test_a_gang_whose_pods_all_wait_for_nodes_is_not_restarted_again() -> None:
    simulation = restarted_without_room()
    simulation.wait(10 * MINUTE)
    assert len(simulation.deleted(TERMINATED)) == ALL


def test_it_runs_once_there_is_room() -> None:
    simulation = restarted_without_room()
    simulation.wait(10 * MINUTE)
    simulation.machines.cordoned = False
    simulation.settle()
    assert_all_ready(simulation)
    assert len(simulation.deleted(TERMINATED)) == ALL


def test_a_gang_that_gets_a_part_of_its_nodes_has_its_whole_delay_for_the_rest() -> None:
    simulation = restarted_without_room(min_available=3)
    simulation.wait(10 * MINUTE)
    simulation.machines.cordoned, simulation.machines.room = False, 3
    simulation.settle()
    assert len(simulation.deleted(TERMINATED)) == ALL
    simulation.wait(MINUTE)
    assert len(simulation.deleted(TERMINATED)) == 2 * ALL


def test_so_is_it_with_a_replica_of_a_group_alone() -> None:
    simulation = briefly_tolerant()
    simulation.machines.cordoned = True
    simulation.machines.fail("demo-0-sg-2-dec")
    simulation.settle()
    simulation.wait(MINUTE)
    assert len(simulation.deleted(TERMINATED)) == 3
    simulation.wait(10 * MINUTE)
    assert len(simulation.deleted(TERMINATED)) == 3
