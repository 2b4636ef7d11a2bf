"""What the tests of training share with those of the simulation."""

from tests.simulation.conftest import no_simulation_left, replicas_read_only_what_wakes_them

__all__ = ["no_simulation_left", "replicas_read_only_what_wakes_them"]
