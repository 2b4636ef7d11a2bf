"""The step of the compiler in the loop of the applier, on a cluster in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

from applier.cache import WatchCache
from applier.desired import Gone, Graph, Hold
from applier.loop import Loop, Reconciler, Result, View
from applier.ref import Kind, Manifest, Ref
from applier.testing.memory import MemoryCluster
from grove_compiler.api.crd import crds
from grove_compiler.step import Key, StepContext
from grove_operator.controller.evaluator import Evaluator
from grove_operator.controller.live_objects import WATCHED
from tests.applier.free_schemas import FreeSchemas

EPOCH = 1_800_000_000.0
PART_OF = "app.kubernetes.io/part-of"
MADE = [
    Kind("", "v1", "Service"),
    Kind("grove.io", "v1alpha1", "PodClique"),
    Kind("scheduler.grove.io", "v1alpha1", "PodGang"),
    Kind("", "v1", "Pod"),
]


class Lab:
    """One replica of an operator, on a cluster of its own unless one is given. `results` are what came of each look at a key."""

    def __init__(self, context: StepContext, cluster: MemoryCluster | None = None) -> None:
        self.cluster = cluster or MemoryCluster(schemas=FreeSchemas())
        self.cluster.seed(*crds())
        self.results: list[Result[Key]] = []
        self.cache = WatchCache(self.cluster, WATCHED, chance=Random(1))
        self.evaluate = Evaluator(context, lambda: EPOCH + asyncio.get_running_loop().time(), self.wake)
        self.observe = self.evaluate.observe  # tests replace `evaluate` by other functions
        self.reconciler = Reconciler[Key](self.cluster, self.cache, manager="grove-operator", members=members)
        self.loop = Loop[Key](self.cache, self.desired, self.reconciler, keys=keys, on_result=self.look_at)

    def look_at(self, result: Result[Key]) -> None:
        self.observe(result)
        self.results.append(result)

    def wake(self, key: Key) -> None:
        self.loop.enqueue(key)

    async def desired(self, view: View, key: Key) -> Graph | Gone | Hold:
        return await self.evaluate(view, key)

    def edit(self, manifest: Manifest) -> None:
        """Somebody writes an object that is there; a server counts its generations."""
        generation = self.cluster.store.objects[Ref.of(manifest)]["metadata"]["generation"] + 1
        self.cluster.seed({**manifest, "metadata": {**manifest["metadata"], "generation": generation}})

    def told(self, key: Key) -> str:
        """Why the last look at a key left something as it was."""
        last = next(result for result in reversed(self.results) if result.key == key)
        return last.held or last.kept or "; ".join(dict.fromkeys(outcome.reason for outcome in last.outcomes))

    def objects(self, name: str) -> list[Manifest]:
        """What was made of a set."""
        return [one for one in self.cluster.store.objects.values() if (one["metadata"].get("labels") or {}).get(PART_OF) == name]

    def deletes(self) -> list[Ref]:
        return [request.ref for request in self.cluster.writes() if request.verb == "delete"]


def keys(ref: Ref, old: Manifest | None, new: Manifest | None) -> list[Key]:
    """A set and each of its replicas, those that it had before included."""
    if ref.kind != "PodCliqueSet":
        return []
    counts = [(one.get("spec") or {}).get("replicas") or 0 for one in (old, new) if one is not None]
    whole = Key("PodCliqueSet", ref.namespace, ref.name)
    return [whole, *(whole._replace(replica=index) for index in range(max(counts, default=0)))]


def members(view: View, key: Key) -> list[Manifest]:
    """All that is named after a replica, whether or not its set is there: what a careless prune would delete."""
    if key.replica is None:
        return []
    stem = f"{key.name}-{key.replica}"
    live = [one for kind in MADE for one in view.by_label(kind.group, kind.kind, f"{PART_OF}={key.name}", key.namespace)]
    return [one for one in live if one["metadata"]["name"] == stem or one["metadata"]["name"].startswith(f"{stem}-")]


@asynccontextmanager
async def lab_running(lab: Lab) -> AsyncIterator[None]:
    """Lets the loop run for a while."""
    task = asyncio.ensure_future(lab.loop.run())
    try:
        yield
    finally:
        lab.loop.stop(grace=5.0)
        await asyncio.gather(task, return_exceptions=True)
