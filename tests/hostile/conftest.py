"""Ends the simulations that tests leave, and has every step looked at twice."""

from tests.simulation.conftest import every_step_is_taken_twice, no_simulation_left, replicas_read_only_what_wakes_them

__all__ = ["every_step_is_taken_twice", "no_simulation_left", "replicas_read_only_what_wakes_them"]
