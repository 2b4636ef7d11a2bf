"""Schemas of kinds, from the server's OpenAPI v3 documents; compiled ones are kept on disk under the server's hash of them."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import parse_qs, urlsplit

import orjson

from applier.errors import ApiError, ClusterError, UnknownKind
from applier.ref import Kind
from applier.transport.disk import Disk
from applier.transport.wire import Asked, Wire

if TYPE_CHECKING:
    from applier.decision import Schemas, Type

LIFE = 60.0  # seconds that the index on disk counts without asking whether it is still the same
FORMAT = "1"  # of the compiled schemas on disk; the code that compiles them is part of their name as well


class Document(Protocol):
    """What is compiled of one group version."""

    def get(self, kind: Kind) -> Type | None:
        """The type of a kind."""


class Compiled:
    """Schemas of several group versions, each from a document of its own."""

    def __init__(self) -> None:
        self.documents: dict[tuple[str, str], Document] = {}

    def get(self, kind: Kind) -> Type | None:
        """The type of a kind; None where its schema could not be had."""
        document = self.documents.get((kind.group, kind.version))
        return document.get(kind) if document else None


class OpenApi:
    """The schemas of one server. Documents are fetched only for the group versions that are asked for, once."""

    def __init__(self, wire: Wire, disk: Disk) -> None:
        self.wire, self.disk = wire, disk
        self.compiled: dict[str, Document | None] = {}

    async def schemas(self, kinds: Iterable[Kind]) -> Compiled:
        """The schemas of these kinds. One that the server does not publish, or that cannot be read, is missing."""
        wanted = {(kind.group, kind.version) for kind in kinds}
        found = Compiled()
        if wanted:
            index = await self._index()
            await asyncio.gather(*(self._add(found, one, index) for one in sorted(wanted)))
        return found

    def forget(self) -> None:
        """The index may have changed: new kinds have come."""
        self.disk.drop("openapi.json")

    async def _add(self, found: Compiled, group_version: tuple[str, str], index: dict[str, str]) -> None:
        group, version = group_version
        url = index.get(f"apis/{group}/{version}" if group else f"api/{version}")
        if url is None:
            return
        if url not in self.compiled:
            self.compiled[url] = self._from_disk(url) or await self._fetch(url)
        document = self.compiled[url]
        if document is not None:
            found.documents[group_version] = document

    async def _index(self) -> dict[str, str]:
        """URLs of documents by group version. Their `hash` changes with the document (KEP-2896)."""
        kept = self.disk.read("openapi.json", LIFE)
        if kept is None:
            try:
                kept = (await self.wire.call(Asked("get", "openapi"), "GET", "/openapi/v3")).body
            except (ApiError, UnknownKind):
                return {}
            self.disk.write("openapi.json", kept)
        try:
            paths = orjson.loads(kept)["paths"]
            return {name: str(one["serverRelativeURL"]) for name, one in paths.items()}
        except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
            self.disk.drop("openapi.json")
            return {}

    async def _fetch(self, url: str) -> Document | None:
        from applier.decision import read_openapi

        try:
            answer = await self.wire.call(Asked("get", "openapi"), "GET", url)
            schemas = read_openapi(orjson.loads(answer.body))
        except (ClusterError, orjson.JSONDecodeError):
            return None
        if name := _file(url):
            self.disk.write(name, schemas.dumps())
        return schemas

    def _from_disk(self, url: str) -> Document | None:
        from applier.decision import Schemas

        name = _file(url)
        kept = self.disk.read(name) if name else None
        if kept is None:
            return None
        try:
            schemas: Schemas = Schemas.loads(kept)
            return schemas
        except Exception:  # whatever is on disk, the server has the truth
            self.disk.drop(name)
            return None


def _file(url: str) -> str:
    """The name of a document's compiled form; empty where the server gives no hash, so that nothing would tell old from new."""
    parts = urlsplit(url)
    given: Any = parse_qs(parts.query).get("hash")
    return f"schemas-{FORMAT}-{hashlib.sha256(f'{parts.path} {given[0]}'.encode()).hexdigest()[:32]}" if given else ""
