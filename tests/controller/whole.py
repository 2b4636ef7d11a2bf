"""The whole operator on a cluster in memory, where nobody but it does anything."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from applier.loop import Result
from applier.ref import Kind, Manifest, Ref
from applier.testing.memory import MemoryCluster
from grove_compiler.api.crd import crds
from grove_compiler.step import Key, StepContext
from grove_operator.controller.operator import Operator, OperatorOptions, settings_of
from tests.applier.free_schemas import FreeSchemas
from tests.features.compiling import shipped_program
from tests.model.sets import clique, pcs

REPLICAS = 6
EPOCH = 1_800_000_000.0


class WholeOperator:
    """The operator, its cluster, and what came of each look at a key."""

    def __init__(self) -> None:
        self.cluster = MemoryCluster(schemas=FreeSchemas())
        self.cluster.seed(*crds())
        self.results: list[Result[Key]] = []
        self.operator = self._process()

    def _process(self) -> Operator:
        context = StepContext(shipped_program(), settings_of("1.35"))
        options = OperatorOptions(namespace="default", on_result=self.results.append)
        return Operator(self.cluster, context, lambda: EPOCH + asyncio.get_running_loop().time(), options)

    def start(self) -> None:
        """A process of the operator starts."""
        self._running = asyncio.ensure_future(self.operator.run())

    async def stop(self) -> None:
        """It ends; the next one knows nothing of it."""
        self.operator.stop(5.0)
        await asyncio.gather(self._running, return_exceptions=True)
        self.operator = self._process()

    def of(self, kind: Kind) -> list[Manifest]:
        return list(self.cluster.store.of(kind.group, kind.kind, "default"))

    def writes(self) -> Counter[str]:
        return Counter(f"{one.verb} {one.resource.plural}" for one in self.cluster.writes())

    async def declare(self, replicas: int, generation: int, name: str = "chat", quiet: float = 5.0) -> None:
        """Somebody writes a set. Returns so many seconds later."""
        manifest = pcs([clique("worker", 2)], replicas=replicas)
        manifest["metadata"] |= {"name": name, "namespace": "default", "generation": generation}
        await self.seed(manifest, quiet)

    async def seed(self, manifest: Manifest, quiet: float = 5.0) -> None:
        self.cluster.forget_requests()
        self.results.clear()
        old = self.cluster.find(Ref.of(manifest)) or {}
        self.cluster.seed({**old, **manifest, "metadata": {**old.get("metadata", {}), **manifest["metadata"]}})
        await asyncio.sleep(quiet)


@asynccontextmanager
async def operator_running() -> AsyncIterator[WholeOperator]:
    """An operator with a set of six replicas of two pods."""
    world = WholeOperator()
    world.start()
    try:
        await world.declare(REPLICAS, 1)
        yield world
    finally:
        await world.stop()
