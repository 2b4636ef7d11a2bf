"""Finds out which kinds a server serves; caches the result in memory and on disk, and refreshes it for an unknown kind."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import orjson

from applier.cluster import Resource
from applier.errors import ClusterError, NotFound, UnknownKind, Unreachable
from applier.ref import Kind
from applier.transport.disk import Disk
from applier.transport.retries import ApiRequest
from applier.transport.served import AGGREGATED, ServedResources, read_aggregated
from applier.transport.wire import Wire

LIFE = 600.0  # seconds for which the cache on disk is valid; a kind that it lacks causes a refresh at once
REFRESH_INTERVAL = 2.0  # seconds between refreshes for unknown kinds, at least


class Discovery:
    """Provides the resources of one server."""

    def __init__(self, wire: Wire, disk: Disk) -> None:
        self.wire, self.disk = wire, disk
        self.served: ServedResources | None = None
        self.fetched_at = float("-inf")
        self._lock = asyncio.Lock()

    async def resource(self, kind: Kind) -> Resource:
        """Returns how a kind is served. Raises `UnknownKind`, with what is served instead."""
        resource = (await self.all()).by_kind.get(kind)
        if resource is None and time.monotonic() - self.fetched_at > REFRESH_INTERVAL:
            resource = (await self.refresh()).by_kind.get(kind)
        if resource is None:
            raise self._unknown(kind)
        return resource

    async def all(self) -> ServedResources:
        """Returns all resources, from memory, disk or the server."""
        if self.served is None:
            async with self._lock:
                if self.served is None:
                    self.served = self._from_disk() or await self._fetch()
        return self.served

    async def refresh(self) -> ServedResources:
        """Fetches all resources from the server; concurrent calls share one fetch."""
        before = self.served
        async with self._lock:
            if self.served is before or self.served is None:
                self.served = await self._fetch()
            return self.served

    def forget(self) -> None:
        """Drops the caches, after a kind that should be served was not found."""
        self.served = None
        self.disk.drop("discovery.json")

    def _from_disk(self) -> ServedResources | None:
        cached = self.disk.read("discovery.json", LIFE)
        if cached is None:
            return None
        try:
            return ServedResources.load(orjson.loads(cached))
        except (ValueError, KeyError, TypeError):
            return None

    async def _fetch(self) -> ServedResources:
        self.fetched_at = time.monotonic()
        served = read_aggregated(await asyncio.gather(self._get("/api"), self._get("/apis")))
        self.disk.write("discovery.json", orjson.dumps(served.dump()))
        return served

    async def _get(self, path: str) -> dict[str, Any]:
        """Fetches the discovery document of one of the server's two roots. Raises `ClusterError` if the response is none."""
        where = f"{self.wire.target.server}{path}"
        try:
            answer = await self.wire.call(ApiRequest("get", "discovery"), "GET", path, headers={"Accept": AGGREGATED})
        except (NotFound, UnknownKind):
            raise Unreachable(f"{where} is not found, as with a proxy without a server; is the address correct?") from None
        try:
            document = orjson.loads(answer.body)
        except orjson.JSONDecodeError:
            document = None
        if isinstance(document, dict) and document.get("kind") == "APIGroupDiscoveryList":
            return document
        if isinstance(document, dict) and document.get("kind") in ("APIVersions", "APIGroupList"):
            raise ClusterError(
                f"{where} does not support aggregated discovery: Kubernetes 1.27 or later is required, without a proxy that removes it"
            )
        raise ClusterError(f"{where} does not respond like a Kubernetes API server; is the address correct?")

    def _unknown(self, kind: Kind) -> UnknownKind:
        served = self.served or ServedResources()
        if kind.api_version in served.broken:
            return UnknownKind(f"the API service of {kind.api_version} does not answer, so {kind.kind} cannot be read or written")
        others = served.versions(kind)
        if others:
            group = kind.group or "the core"
            return UnknownKind(f"the server serves {kind.kind} of {group} not in {kind.version}, but in {', '.join(others)}")
        groups = sorted({known.api_version for known in served.by_kind if known.kind == kind.kind})
        missing = "install its CustomResourceDefinition first" if kind.group else "is the address that of a Kubernetes API server?"
        hint = f"; {kind.kind} is known in {', '.join(groups)}" if groups else f"; {missing}"
        return UnknownKind(f"the server serves no {kind.kind} of {kind.api_version}{hint}")
