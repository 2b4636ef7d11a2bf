"""A loop on a cluster in memory: each ConfigMap named `set…` asks for as many others as its data say."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable, Sequence
from contextlib import asynccontextmanager
from random import Random
from typing import Any

from applier.cache import Query, WatchCache
from applier.cluster import Cluster
from applier.desired import Desired, Gone, Graph, Hold
from applier.loop import DeletionOptions, FencedCluster, Lease, Loop, Reconciler, Result, View
from applier.ref import Kind, Manifest, Ref, resource_version_of
from applier.testing.memory import MemoryCluster

from ..free_schemas import FreeSchemas

CONFIG_MAP = Kind("", "v1", "ConfigMap")
WHY = "example.com/deleted-because"


def ref(name: str) -> Ref:
    return Ref("", "ConfigMap", "default", name)


def config_map(name: str, data: dict[str, str], **metadata: Any) -> Manifest:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default", **metadata}, "data": data}


def some(name: str, count: int, value: str = "1") -> Manifest:
    """The primary object of a key."""
    return config_map(name, {"count": str(count), "value": value})


def now() -> float:
    return asyncio.get_running_loop().time()


class Lab:
    """One replica of a controller. `calls` are the keys its function was called for, `results` what came of each look.

    `kinds` are watched beside ConfigMaps, `finalizers`, `guards`, `surplus`, `unit` and `state` are those of its deletions.
    """

    def __init__(
        self,
        cluster: MemoryCluster,
        *,
        lease: str = "",
        kinds: Sequence[Query] = (),
        finalizers: Sequence[str] = (),
        guards: Sequence[str] = (),
        surplus: Sequence[tuple[str, str]] = (),
        unit: Callable[[Manifest], Hashable | None] = lambda _: None,
        state: Callable[[Manifest], object] = resource_version_of,
        **options: Any,
    ) -> None:
        self.cluster, self.calls, self.results = cluster, list[str](), list[Result[str]]()
        self.lease = Lease(cluster, "default", "main", lease, chance=Random(lease)) if lease else None
        written: Cluster = cluster
        if self.lease:
            written = FencedCluster(cluster, self.lease.fence)
        self.cache = WatchCache(cluster, [(CONFIG_MAP, ""), *kinds], chance=Random(1))
        deletions = DeletionOptions(WHY, finalizers, guards, surplus, unit, state)
        self.reconciler = Reconciler[str](written, self.cache, manager="us", members=_members, deletions=deletions)
        self.desired: Callable[[View, str], Any] = desired
        self.loop = Loop[str](
            self.cache,
            self._desired,
            self.reconciler,
            keys=_keys,
            lease=self.lease,
            on_result=self.results.append,
            **options,
        )

    def _desired(self, view: View, key: str) -> Any:
        self.calls.append(key)
        return self.desired(view, key)

    @property
    def errors(self) -> list[Exception]:
        return [result.error for result in self.results if result.error is not None]

    def told(self, key: str = "set") -> str:
        """Why the last look at a key left something as it was."""
        last = next(result for result in reversed(self.results) if result.key == key)
        return last.held or last.kept or "; ".join(dict.fromkeys(outcome.reason for outcome in last.outcomes))

    def made(self) -> list[str]:
        """The objects that came out of it."""
        return sorted(one.name for one in self.cluster.store.objects if one.kind == "ConfigMap" and "-" in one.name)


def lab(**options: Any) -> Lab:
    return Lab(MemoryCluster(schemas=FreeSchemas()), **options)


def desired(view: View, key: str) -> Graph | Gone | Hold:
    primary = view.get(ref(key))
    if primary is None:
        return Gone()
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": key, "uid": primary["metadata"]["uid"]}
    data = {"value": primary["data"]["value"]}
    return Graph([Desired(config_map(f"{key}-{number}", data, ownerReferences=[owner])) for number in range(int(primary["data"]["count"]))])


def _members(view: View, key: str) -> list[Manifest]:
    primary = view.get(ref(key))
    return view.by_owner(primary["metadata"]["uid"]) if primary else []


def _keys(ref: Ref, old: Manifest | None, new: Manifest | None) -> list[str]:
    return [ref.name] if ref.name.startswith("set") and "-" not in ref.name else []


@asynccontextmanager
async def loops_running(*labs: Lab) -> AsyncIterator[list[asyncio.Task[None]]]:
    """Lets loops run for a while."""
    tasks = [asyncio.ensure_future(one.loop.run()) for one in labs]
    await asyncio.sleep(1)
    try:
        yield tasks
    finally:
        for one in labs:
            one.loop.stop(grace=5.0)
        await asyncio.gather(*tasks, return_exceptions=True)
