"""Provides the schemas of kinds from the server's OpenAPI v3 documents; caches compiled ones on disk by the server's hash."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import orjson

from applier.decision import Schemas, read_openapi
from applier.errors import ApiError, UnknownKind
from applier.ref import Kind
from applier.transport.disk import Disk
from applier.transport.retries import ApiRequest
from applier.transport.wire import Wire

LIFE = 60.0  # seconds for which the index on disk is used without checking it


class OpenApi:
    """Provides the schemas of one server. Documents are fetched only for the requested group versions, and compiled once for each hash."""

    def __init__(self, wire: Wire, disk: Disk) -> None:
        self.wire, self.disk = wire, disk
        self.compiled: dict[str, tuple[str, Schemas]] = {}

    async def schemas(self, kinds: Iterable[Kind]) -> Schemas:
        """Returns the schemas of these kinds. One that the server does not publish, or that cannot be parsed, is missing."""
        wanted = sorted({f"apis/{kind.group}/{kind.version}" if kind.group else f"api/{kind.version}" for kind in kinds})
        if not wanted:
            return Schemas()
        index = self._index_on_disk()
        if index is None or any(one not in index for one in wanted):
            index = await self._fetch_index()
        parts = await asyncio.gather(*(self._document(one, index[one]) for one in wanted if one in index))
        return Schemas.joined(part for part in parts if part is not None)

    def forget(self) -> None:
        """Drops the cached index, after new kinds were defined."""
        self.disk.drop("openapi.json")

    def _index_on_disk(self) -> dict[str, str] | None:
        cached = self.disk.read("openapi.json", LIFE)
        return _read_index(cached) if cached is not None else None

    async def _fetch_index(self) -> dict[str, str]:
        """Returns the URLs of documents by group version, with a `hash` that changes with the document (KEP-2896).

        Empty if the server has none.
        """
        try:
            answer = await self.wire.call(ApiRequest("get", "openapi"), "GET", "/openapi/v3")
        except (ApiError, UnknownKind):
            return {}
        index = _read_index(answer.body)
        if index is not None:
            self.disk.write("openapi.json", answer.body)
        return index or {}

    async def _document(self, group_version: str, url: str) -> Schemas | None:
        """Returns the schemas of one group version, from memory, disk or the server; None if its document cannot be read."""
        compiled_url, schemas = self.compiled.get(group_version, ("", None))
        if compiled_url != url or schemas is None:
            schemas = self._from_disk(group_version, url) or await self._fetch(group_version, url)
            if schemas is not None:
                self.compiled[group_version] = url, schemas
        return schemas

    async def _fetch(self, group_version: str, url: str) -> Schemas | None:
        try:
            answer = await self.wire.call(ApiRequest("get", "openapi"), "GET", url)
            schemas = read_openapi(orjson.loads(answer.body))
        except orjson.JSONDecodeError:
            return None
        except (ApiError, UnknownKind):
            self.forget()  # the server redirects to a newer document
            return None
        if "hash=" in url:  # without a hash, a stale document could not be recognized
            self.disk.write(_file(group_version), f"{url}\n{schemas.dumps()}".encode())
        return schemas

    def _from_disk(self, group_version: str, url: str) -> Schemas | None:
        """Returns the schemas compiled from the same document by this release; None if the disk has none."""
        cached = self.disk.read(_file(group_version))
        if cached is None:
            return None
        cached_url, _, dumped = cached.partition(b"\n")
        try:
            return Schemas.loads(dumped) if cached_url == url.encode() else None
        except ValueError:
            return None


def _read_index(document: bytes) -> dict[str, str] | None:
    try:
        paths = orjson.loads(document)["paths"]
        return {name: str(path["serverRelativeURL"]) for name, path in paths.items()}
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
        return None


def _file(group_version: str) -> str:
    return f"schemas-{group_version.replace('/', '-')}.json"
