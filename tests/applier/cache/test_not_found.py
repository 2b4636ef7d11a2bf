"""An object that a request does not find is gone for readers of the cache, also where the watch is late."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from applier.cache.write_through import WriteThrough
from applier.cluster import Resource
from applier.errors import NotFound
from applier.ref import Ref
from applier.testing.memory import MemoryCluster
from applier.testing.virtual_time import in_virtual_time
from tests.suite.rows import rows

from .conftest import CONFIG_MAP, POD, config_map, names, ref, watching

Request = Callable[[WriteThrough, Resource], Awaitable[object]]
REQUESTS: dict[str, Request] = {
    "it is read": lambda cluster, resource: cluster.get(resource, "default", "a"),
    "it is patched": lambda cluster, resource: cluster.patch(resource, "default", "a", {"data": {"k": "2"}}),
    "it is deleted": lambda cluster, resource: cluster.delete(resource, "default", "a", uid="u1"),
}


@rows("request", REQUESTS.values(), ids=REQUESTS.keys())
@in_virtual_time
async def test_what_is_not_found_is_not_known_any_more(request: Request) -> None:
    cluster = MemoryCluster()
    cluster.seed(config_map(uid="u1"))
    async with watching(cluster) as cache:
        cluster.stall_watches()
        cluster.store.remove(ref())
        assert names(cache) == ["a"]
        with pytest.raises(NotFound):
            await request(WriteThrough(cluster, cache), cluster.kinds.get(CONFIG_MAP))
        assert names(cache) == []


@in_virtual_time
async def test_nor_is_an_object_whose_status_is_not_found() -> None:
    cluster = MemoryCluster()
    [pod] = cluster.seed({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "default"}})
    async with watching(cluster, POD) as cache:
        cluster.stall_watches()
        cluster.store.remove(Ref.of(pod))
        with pytest.raises(NotFound):
            status = {**pod, "status": {"phase": "Running"}}
            await WriteThrough(cluster, cache).apply(cluster.kinds.get(POD), status, manager="ours", subresource="status")
        assert cache.count() == 0


class RecreatedMeanwhile(MemoryCluster):
    """Answers a read that found nothing when the watch has already shown another object of that name."""

    async def get(self, resource: Resource, namespace: str, name: str) -> dict[str, object]:
        try:
            return await super().get(resource, namespace, name)
        finally:
            self.show_another()

    def show_another(self) -> None: ...


@in_virtual_time
async def test_another_object_of_the_name_that_was_created_meanwhile_stays() -> None:
    cluster = RecreatedMeanwhile()
    cluster.seed(config_map(uid="u1"))
    async with watching(cluster) as cache:
        cluster.stall_watches()
        cluster.store.remove(ref())
        cluster.show_another = lambda: cache.put(config_map(value="2", uid="u2", resourceVersion="2000"))  # type: ignore[method-assign]
        with pytest.raises(NotFound):
            await WriteThrough(cluster, cache).get(cluster.kinds.get(CONFIG_MAP), "default", "a")
        assert cache.known_uid(ref()) == "u2"
