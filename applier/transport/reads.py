"""Reads lists page by page, and streams line by line: watches, from a resourceVersion or the current state, and the logs of pods."""

from __future__ import annotations

import random
from collections.abc import AsyncGenerator, Mapping
from typing import Any
from urllib.parse import urlencode

import orjson

from applier.cluster import Listing, Resource, WatchEvent
from applier.errors import ApiError, ClusterError, Expired
from applier.ref import Manifest, Ref
from applier.transport.connection_errors import ConnectionErrors
from applier.transport.refusals import WRONG_ADDRESS, status_error
from applier.transport.retries import ApiRequest
from applier.transport.wire import Wire

METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
PAGE = 1000  # objects; large enough that most lists take one request, small enough for the server's memory


async def list_all(wire: Wire, resource: Resource, path: str, namespace: str, *, labels: str, fields: str, page: int = PAGE) -> Listing:
    """Reads all pages of a list.

    If the continue token expires in between, the list is read again without paging.
    """
    request = ApiRequest("list", resource.plural, Ref(resource.kind.group, resource.kind.kind, namespace, ""))
    headers = {"Accept": METADATA_LIST} if resource.metadata_only else None
    chosen = {name: value for name, value in (("labelSelector", labels), ("fieldSelector", fields)) if value}
    items: list[Manifest] = []
    token = ""
    while True:
        query = chosen | ({"limit": str(page)} if page else {}) | ({"continue": token} if token else {})
        given = await _page(wire, request, path, query, headers)
        if given is None:
            return await list_all(wire, resource, path, namespace, labels=labels, fields=fields, page=0)
        items += given.get("items") or ()
        metadata = given.get("metadata") or {}
        token = str(metadata.get("continue") or "")
        if not token:
            break
    api_version, kind = resource.kind.api_version, resource.kind.kind
    for item in items:
        item["apiVersion"], item["kind"] = api_version, kind
    return Listing(items, str(metadata.get("resourceVersion") or ""))


async def _page(wire: Wire, request: ApiRequest, path: str, query: dict[str, str], headers: dict[str, str] | None) -> dict[str, Any] | None:
    """Returns one page; None when its continue token is too old (410, reason Expired)."""
    try:
        answer = await wire.call(request, "GET", f"{path}?{urlencode(query)}" if query else path, headers=headers)
    except ApiError as error:
        if "continue" in query and (isinstance(error, Expired) or error.reason == "Expired"):
            return None
        raise
    page = answer.document()
    if "items" not in page and not str(page.get("kind")).endswith("List"):  # taken for an empty one, it would say that nothing exists
        raise ClusterError(f"the server's answer is no list; {WRONG_ADDRESS}")
    return page


class LineSplitter:
    """Splits a stream that comes in chunks of any size into lines, in time linear in its length.

    `rest` is what follows the last line end.
    """

    def __init__(self) -> None:
        self.rest: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        """Returns the lines that this chunk completes, without line ends and without empty lines."""
        if b"\n" not in chunk:
            self.rest.append(chunk)
            return []
        lines = chunk.split(b"\n")
        if self.rest:
            lines[0] = b"".join((*self.rest, lines[0]))
        last = lines.pop()
        self.rest = [last] if last else []
        return [line for line in lines if line]


async def text_lines(
    wire: Wire, request: ApiRequest, path: str, query: Mapping[str, str], silence: float | None
) -> AsyncGenerator[bytes, None]:
    """Yields the lines of a text, without line ends and without empty lines, until the server ends it.

    Raises `Unreachable` if the stream breaks, or is silent for `silence` seconds.
    """
    stream = await wire.stream(request, f"{path}?{urlencode(query)}" if query else path, headers={"Accept": "*/*"}, silence=silence)
    lines = LineSplitter()
    try:
        while chunk := await stream.chunk():
            for line in lines.feed(chunk):
                yield line
        if lines.rest:
            yield b"".join(lines.rest)
    except ConnectionErrors as error:
        raise wire.broken(error) from None
    finally:
        stream.close()


METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
INITIAL_END = "k8s.io/initial-events-end"
MIN_WATCH, MAX_WATCH = 300, 600  # seconds until the server ends a watch, chosen at random, so that many watches are not reopened at once


async def changes(
    wire: Wire, resource: Resource, path: str, namespace: str, *, labels: str, resource_version: str, initial: bool
) -> AsyncGenerator[WatchEvent, None]:
    """Yields the changes since a version, until the server ends the stream. Raises `Unreachable` after a silence of `Retries.stall`.

    With `initial` the state comes first (KEP-3157). Raises `Invalid` if the server does not support that.
    """
    request = ApiRequest("watch", resource.plural, Ref(resource.kind.group, resource.kind.kind, namespace, ""))
    headers = {"Accept": METADATA} if resource.metadata_only else None
    stream = await wire.stream(request, f"{path}?{_query(labels, resource_version, initial)}", headers=headers)
    lines = LineSplitter()
    try:
        yield WatchEvent("OPENED", {})
        while chunk := await stream.chunk():
            for line in lines.feed(chunk):
                event = _event(line, request, wire)
                if resource.metadata_only:  # the server sends PartialObjectMetadata as their kind
                    event.object["apiVersion"], event.object["kind"] = resource.kind.api_version, resource.kind.kind
                yield event
    except ConnectionErrors as error:
        raise wire.broken(error) from None
    finally:
        stream.close()


def _event(line: bytes, request: ApiRequest, wire: Wire) -> WatchEvent:
    try:
        given: dict[str, Any] = orjson.loads(line)
        kind, manifest = given["type"], given["object"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        raise wire.broken(ConnectionError("a watch event is not JSON")) from None
    if kind == "ERROR":
        raise _error(manifest, request, wire)
    return WatchEvent(kind, manifest, kind == "BOOKMARK" and _ends_initial(manifest))


def _query(labels: str, resource_version: str, initial: bool) -> str:
    query = {"watch": "1", "allowWatchBookmarks": "true", "timeoutSeconds": str(random.randint(MIN_WATCH, MAX_WATCH))}
    if initial:
        query |= {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
    if resource_version:
        query["resourceVersion"] = resource_version
    if labels:
        query["labelSelector"] = labels
    return urlencode(query)


def _ends_initial(manifest: Manifest) -> bool:
    metadata = manifest.get("metadata") or {}
    return (metadata.get("annotations") or {}).get(INITIAL_END) == "true"


def _error(given: Manifest, request: ApiRequest, wire: Wire) -> Exception:
    """Returns the error of an ERROR event. Old servers send "too old resource version" without status 410."""
    error = status_error(given, request, wire.target)
    if isinstance(error, ApiError) and "too old resource version" in str(error):
        return Expired(410, "Expired", str(error))
    return error
