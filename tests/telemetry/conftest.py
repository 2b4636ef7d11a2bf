"""An operator in a cluster in memory, with everything that shows it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from prometheus_client import generate_latest

from grove_compiler.step import StepContext
from grove_operator.controller.operator import Operator, OperatorOptions, settings_of
from grove_operator.telemetry.health import HealthCheck, MissingRights
from grove_operator.telemetry.metrics import OperatorMetrics
from tests.controller.whole import EPOCH, WholeOperator
from tests.features.compiling import shipped_program


class Watched(WholeOperator):
    """A world whose operator is counted."""

    def __init__(self, options: OperatorOptions | None = None) -> None:
        super().__init__()
        self.metrics = OperatorMetrics()
        options = options or OperatorOptions(
            namespace="default",
            sink=self.metrics,
            on_result=self.metrics.result,
            on_wait=self.metrics.queue_wait,
            on_work=self.metrics.queue_work,
        )
        self.operator = Operator(self.cluster, StepContext(shipped_program(), settings_of("1.35")), self.clock, options)
        self.health = HealthCheck(self.operator)

    def clock(self) -> float:
        return EPOCH + asyncio.get_running_loop().time()

    def samples(self) -> dict[str, float]:
        """Samples by name and labels as Prometheus reads them."""
        lines = generate_latest(self.metrics.registry).decode().splitlines()
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))}


@asynccontextmanager
async def at_work(world: Watched) -> AsyncIterator[Watched]:
    """Runs its operator until the block ends."""
    task = asyncio.ensure_future(world.operator.run())
    await asyncio.sleep(0)
    world.metrics.watch(world.operator, world.cluster, world.health, MissingRights())
    try:
        yield world
    finally:
        world.operator.stop(5.0)
        await asyncio.gather(task, return_exceptions=True)
