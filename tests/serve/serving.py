"""A cluster in memory whose sets are served."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Any

from applier.cache import Query
from applier.cluster import Resource
from applier.errors import Forbidden
from applier.ref import EVENT, Manifest
from applier.testing.memory import MemoryCluster
from grove_cli.serve.answers import timeline, why
from grove_cli.serve.scene import draw_scene
from grove_cli.serve.server import PageServer
from grove_cli.serve.stage import Stage, live_source, readable
from grove_compiler.api.crd import crds
from grove_compiler.step import StepContext
from grove_operator.controller.operator import settings_of, watched
from tests.applier.free_schemas import FreeSchemas
from tests.features.compiling import shipped_program
from tests.replay.kept import cluster as set_with_objects

SET = "PodCliqueSet/default/demo"
CLIQUE = "PodClique/default/demo-0-worker"


class Served:
    """What is served and where: `url` ends with a slash."""

    def __init__(self, cluster: MemoryCluster, stage: Stage, url: str) -> None:
        self.cluster, self.stage, self.url = cluster, stage, url

    def found(self, kind: str, name: str) -> Manifest:
        return next(one for one in self.cluster.store.objects.values() if (one["kind"], one["metadata"]["name"]) == (kind, name))

    def report(self, kind: str, name: str, **status: Any) -> None:
        """Somebody reports something of an object."""
        live = self.found(kind, name)
        self.cluster.seed({**live, "status": {**live.get("status", {}), **status}})

    def take_away(self, uids: Collection[str]) -> None:
        """All of these objects go at once."""
        store = self.cluster.store
        for ref in [ref for ref, one in store.objects.items() if one["metadata"]["uid"] in uids]:
            store.remove(ref)

    def scale(self, replicas: int) -> None:
        """Somebody changes how many replicas the set has."""
        live = self.found("PodCliqueSet", "demo")
        metadata = {**live["metadata"], "generation": live["metadata"]["generation"] + 1}
        self.cluster.seed({**live, "metadata": metadata, "spec": {**live["spec"], "replicas": replicas}})


@asynccontextmanager
async def served(
    *more: Manifest, shared: StepContext | None = None, name: str = "", names: tuple[str, ...] = (), forbidden: Collection[str] = ()
) -> AsyncIterator[Served]:
    """A set of two replicas with all that it becomes, and more objects, served at a port of its own to who may not read some kinds."""
    context = shared or StepContext(shipped_program(), settings_of("1.35"))
    cluster = MemoryCluster(schemas=FreeSchemas())
    cluster.seed(*crds(), *set_with_objects(2), *more)
    for resource in await cluster.resources():
        if resource.kind.kind in forbidden:
            forbid(cluster, resource)
    wanted = [*watched("default", context.settings), Query(EVENT, "default")]
    async with readable(cluster, wanted) as (cache, watches):
        stage = Stage(live_source(cache, watches, [*forbidden]), lambda seen: draw_scene(seen, context, "default", name))
        cache.subscribe(stage.change)
        server = PageServer(stage, lambda of: why(of, stage.snapshot, context), lambda of: timeline(of, stage.snapshot), names)
        running = asyncio.ensure_future(stage.run())
        try:
            yield Served(cluster, stage, f"http://127.0.0.1:{await server.start('127.0.0.1', 0)}/")
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            await server.stop()


def forbid(cluster: MemoryCluster, resource: Resource) -> None:
    error = Forbidden(403, "Forbidden", f"you may not list {resource.name}", details={"missing": ("list", resource.name)})
    cluster.fail(lambda request: request.verb in ("list", "watch") and request.resource.kind == resource.kind, error, times=-1)
