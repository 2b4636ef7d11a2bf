"""Wraps a cluster so that a cache takes the answers to our writes at once, and readers of the cache see our last write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Unpack

from applier.cache.watch_cache import WatchCache
from applier.cluster import ApplyPatchOptions, Cluster, DeleteOptions, PatchOptions, Resource, WrappedCluster, WriteOptions
from applier.errors import NotFound
from applier.ref import Manifest, Ref


class WriteThrough(WrappedCluster):
    """Forwards all requests, and stores the answers to writes and to single reads in the cache.

    Kubernetes' own controllers compare versions before each reconcile, and wait (KEP-5647). But an answer contains as much as the event
    that follows it, so no wait is needed: the cache is never older than our writes, even where the watch is slow.
    """

    def __init__(self, cluster: Cluster, cache: WatchCache) -> None:
        super().__init__(cluster)
        self.cache = cache

    async def get(self, resource: Resource, namespace: str, name: str) -> Manifest:
        with self._absence(resource, namespace, name):
            return self._noted(await super().get(resource, namespace, name))

    async def apply(self, resource: Resource, manifest: Manifest, **options: Unpack[ApplyPatchOptions]) -> Manifest:
        metadata = manifest["metadata"]
        with self._absence(resource, metadata.get("namespace", ""), metadata["name"]):
            return self._noted(await super().apply(resource, manifest, **options), dry_run=options.get("dry_run", False))

    async def create(self, resource: Resource, manifest: Manifest, **options: Unpack[WriteOptions]) -> Manifest:
        return self._noted(await super().create(resource, manifest, **options), dry_run=options.get("dry_run", False))

    async def patch(self, resource: Resource, namespace: str, name: str, patch: Any, **options: Unpack[PatchOptions]) -> Manifest:
        with self._absence(resource, namespace, name):
            return self._noted(await super().patch(resource, namespace, name, patch, **options), dry_run=options.get("dry_run", False))

    async def delete(self, resource: Resource, namespace: str, name: str, **options: Unpack[DeleteOptions]) -> Manifest | None:
        with self._absence(resource, namespace, name):
            left = await super().delete(resource, namespace, name, **options)
        if left is not None:
            return self._noted(left, dry_run=options.get("dry_run", False))
        if not options.get("dry_run", False):
            self.cache.put_deleted(_ref(resource, namespace, name), options["uid"])
        return None

    def _noted(self, manifest: Manifest, *, dry_run: bool = False) -> Manifest:
        if not dry_run:
            self.cache.put(manifest)
        return manifest

    @contextmanager
    def _absence(self, resource: Resource, namespace: str, name: str) -> Iterator[None]:
        """Removes from the cache what was known of an object before a request that finds none.

        Else it would be written or deleted again and again until a watch that is late shows that it is gone.
        """
        ref = _ref(resource, namespace, name)
        uid = self.cache.known_uid(ref)
        try:
            yield
        except NotFound as error:
            # A 404 without a name is about something else.
            if uid and isinstance(error.details, dict) and error.details.get("name") == name:
                self.cache.put_deleted(ref, uid)
            raise


def _ref(resource: Resource, namespace: str, name: str) -> Ref:
    return Ref(resource.kind.group, resource.kind.kind, namespace * resource.namespaced, name)
