"""Ends what tests leave: each simulation has an event loop, and processes in it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.simulation.simulation import Simulation


@pytest.fixture(autouse=True)
def no_simulation_left() -> Iterator[None]:
    """After each test all simulations are closed."""
    yield
    for one in list(Simulation.open):
        one.close()
