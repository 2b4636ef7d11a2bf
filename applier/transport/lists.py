"""Lists objects page by page."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import orjson

from applier.cluster import Listing, Resource
from applier.errors import ApiError, Expired
from applier.ref import Manifest, Ref
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
    page: dict[str, Any] = orjson.loads(answer.body)
    return page
