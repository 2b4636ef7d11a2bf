"""Schemas of kinds, from the server's OpenAPI v3 documents; compiled ones are kept on disk with the server's hash of them."""

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

LIFE = 60.0  # seconds that the index on disk counts without asking whether it is still the same


class OpenApi:
    """The schemas of one server. Documents are fetched only for the group versions that are asked for, and compiled once for each hash."""

    def __init__(self, wire: Wire, disk: Disk) -> None:
        self.wire, self.disk = wire, disk
        self.compiled: dict[str, tuple[str, Schemas]] = {}

    async def schemas(self, kinds: Iterable[Kind]) -> Schemas:
        """Returns the schemas of these kinds. One that the server does not publish, or that cannot be read, is missing."""
        wanted = sorted({f"apis/{kind.group}/{kind.version}" if kind.group else f"api/{kind.version}" for kind in kinds})
        if not wanted:
            return Schemas()
        index = self._index_on_disk()
        if index is None or any(one not in index for one in wanted):
            index = await self._ask_index()
        parts = await asyncio.gather(*(self._document(one, index[one]) for one in wanted if one in index))
        return Schemas.joined(part for part in parts if part is not None)

    def forget(self) -> None:
        """Forgets the index, which may have changed: new kinds have come."""
        self.disk.drop("openapi.json")

    def _index_on_disk(self) -> dict[str, str] | None:
        kept = self.disk.read("openapi.json", LIFE)
        return _read_index(kept) if kept is not None else None

    async def _ask_index(self) -> dict[str, str]:
        """Returns URLs of documents by group version; their `hash` changes with the document (KEP-2896).

        Empty when the server gives none.
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
        """Returns the schemas of one group version: from memory, disk, or the server. None when it publishes nothing that can be read."""
        seen, schemas = self.compiled.get(group_version, ("", None))
        if seen != url or schemas is None:
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
            self.forget()  # a server that has another document by now redirects to it
            return None
        if "hash=" in url:  # without one, nothing would tell an old document from a new one
            self.disk.write(_file(group_version), f"{url}\n{schemas.dumps()}".encode())
        return schemas

    def _from_disk(self, group_version: str, url: str) -> Schemas | None:
        """Returns what was compiled of the very same document, by this release."""
        kept = self.disk.read(_file(group_version))
        if kept is None:
            return None
        of, _, dumped = kept.partition(b"\n")
        try:
            return Schemas.loads(dumped) if of == url.encode() else None
        except ValueError:
            return None


def _read_index(kept: bytes) -> dict[str, str] | None:
    try:
        paths = orjson.loads(kept)["paths"]
        return {name: str(one["serverRelativeURL"]) for name, one in paths.items()}
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
        return None


def _file(group_version: str) -> str:
    return f"schemas-{group_version.replace('/', '-')}.json"
