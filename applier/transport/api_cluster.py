"""Implements `applier.cluster.Cluster` by requests to a Kubernetes API server."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import orjson

from applier.cluster import Listing, Resource, WatchEvent, find
from applier.errors import AlreadyExists, ClusterError, Invalid, NotFound, Unreachable, WriteConflict
from applier.events import Sink, nowhere
from applier.ref import Kind, Manifest, Ref
from applier.transport.discovery import Discovery, await_established
from applier.transport.disk import Disk
from applier.transport.login.target import Target
from applier.transport.openapi import OpenApi
from applier.transport.reads import changes, list_all, text_lines
from applier.transport.refusals import WRONG_ADDRESS
from applier.transport.retries import ApiRequest, Retries
from applier.transport.server_clock import ServerClock
from applier.transport.wire import Answer, Trace, Uncertain, Wire, untraced
from kube_objects.manifest import is_terminating, namespaced_name

APPLY, JSON_PATCH, MERGE_PATCH = "application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json"

CREATED = 201

APPLY_VALIDATION = "Ignore"
"""The `fieldValidation` of applies, whose unknown fields the server rejects anyway when it converts them to typed values. Strict validation
would parse the body once more, which takes 15 % of an apply's CPU there, and only find duplicate keys, which a dict cannot have."""

Warn = Callable[[Ref, str], None]
"""Receives the server's warnings about an object that is written: deprecated versions, unknown fields, and so on."""


def ignore_warning(ref: Ref, warning: str) -> None:
    """Drops a warning; the default `Warn`."""


class ApiCluster:
    """Implements `Cluster`, which says what its methods do, for one API server in one event loop. `close` closes its connections."""

    def __init__(
        self,
        target: Target,
        *,
        user_agent: str = "applier",
        cache_dir: Path | None = None,
        sink: Sink = nowhere,
        warn: Warn = ignore_warning,
        validation: str = "Strict",
        retries: Retries | None = None,
        trace: Trace = untraced,
    ) -> None:
        self.server, self.namespace = target.server, target.namespace
        self.warn, self.validation = warn, validation
        self.wire = Wire(target, user_agent=user_agent, retries=retries or Retries(), sink=sink, trace=trace)
        self.disk = Disk(cache_dir, target.server)
        self.discovery = Discovery(self.wire, self.disk)
        self.wire.on_unknown_kind = self.discovery.forget
        self.openapi = OpenApi(self.wire, self.disk)

    @property
    def requests(self) -> Counter[tuple[str, str]]:
        """Returns how many requests were sent, by verb and plural name; each try counts."""
        return self.wire.requests

    @property
    def throttled(self) -> int:
        """Returns how many requests the server has throttled (429)."""
        return self.wire.throttled

    @property
    def clock(self) -> ServerClock:
        """Returns the server's clock."""
        return self.wire.clock

    async def close(self) -> None:
        """Closes all connections."""
        await self.wire.close()

    async def version(self) -> dict[str, str]:
        """Returns the server's `/version` document: `major`, `minor`, `gitVersion`…"""
        return (await self.wire.call(ApiRequest("get", "version"), "GET", "/version")).document()

    async def resource(self, kind: Kind) -> Resource:
        return await self.discovery.resource(kind)

    async def resources(self, *, fresh: bool = False) -> list[Resource]:
        return (await (self.discovery.refresh() if fresh else self.discovery.all())).preferred()

    async def await_established(self, kinds: Iterable[Kind], timeout: float = 30.0) -> None:
        if await await_established(self, self.discovery, kinds, timeout):
            self.openapi.forget()

    async def schemas(self, kinds: Iterable[Kind]) -> Any:
        return await self.openapi.schemas(kinds)

    async def get(self, resource: Resource, namespace: str, name: str) -> Manifest:
        request = ApiRequest("get", resource.plural, _ref(resource, namespace, name))
        return _object(await self.wire.call(request, "GET", _path(resource, namespace, name)))

    async def list(self, resource: Resource, namespace: str = "", *, labels: str = "", fields: str = "") -> Listing:
        return await list_all(self.wire, resource, _path(resource, namespace), namespace, labels=labels, fields=fields)

    def watch(
        self, resource: Resource, namespace: str = "", *, labels: str = "", resource_version: str = "", initial: bool = False
    ) -> AsyncGenerator[WatchEvent, None]:
        """Opens a watch. A caller that stops early has to close the iterator (`contextlib.aclosing`), or its connection stays open."""
        path = _path(resource, namespace)
        return changes(self.wire, resource, path, namespace, labels=labels, resource_version=resource_version, initial=initial)

    def lines(
        self, resource: Resource, namespace: str, name: str, subresource: str, query: Mapping[str, str], *, silence: float | None = None
    ) -> AsyncGenerator[bytes, None]:
        """Opens a stream, which without `silence` may be silent as long as a watch; to be closed like a watch."""
        request = ApiRequest("get", resource.plural, _ref(resource, namespace, name))
        return text_lines(self.wire, request, _path(resource, namespace, name, subresource), query, silence)

    async def apply(
        self,
        resource: Resource,
        manifest: Manifest,
        *,
        manager: str,
        force: bool = False,
        dry_run: bool = False,
        subresource: str = "",
        on_created: Callable[[], None] | None = None,
    ) -> Manifest:
        """Applies a manifest; unknown fields are always `Invalid`. Retried when no answer came, unless it has a resourceVersion."""
        namespace, name = namespaced_name(manifest)
        request = ApiRequest("patch", resource.plural, _ref(resource, namespace, name), not _has_version(manifest), manifest)
        path = _path(resource, namespace, name, subresource) + _query(manager, APPLY_VALIDATION, dry_run, force)
        answer = self._with_warnings(request, await self.wire.call(request, "PATCH", path, body=_json(manifest), content_type=APPLY))
        if on_created and (answer.status == CREATED or answer.unsure):
            on_created()
        return _object(answer)

    async def create(self, resource: Resource, manifest: Manifest, *, manager: str, dry_run: bool = False) -> Manifest:
        """Creates an object. `Unreachable` with `maybe_done` if no answer came to a first try and the object exists then."""
        namespace, name = namespaced_name(manifest)
        request = ApiRequest("create", resource.plural, _ref(resource, namespace, name), bool(name), manifest)
        path = _path(resource, namespace) + _query(manager, self.validation, dry_run)
        try:
            return _object(self._with_warnings(request, await self.wire.call(request, "POST", path, body=_json(manifest))))
        except Uncertain as error:
            if isinstance(error.error, AlreadyExists):
                raise Unreachable(
                    f"{request.ref} exists now, but it is unknown whether we created it: no response was received", maybe_done=True
                ) from None
            raise error.error from None

    async def patch(
        self, resource: Resource, namespace: str, name: str, patch: Any, *, manager: str = "", subresource: str = "", dry_run: bool = False
    ) -> Manifest:
        """Sends a JSON patch if `patch` is a list, a merge patch if it is a map.

        A JSON patch is not idempotent: if no answer came, it is not retried and raises `Unreachable` with `maybe_done`.
        """
        is_merge = isinstance(patch, dict)
        idempotent = is_merge and not _has_version(patch)
        request = ApiRequest("patch", resource.plural, _ref(resource, namespace, name), idempotent, patch)
        path = _path(resource, namespace, name, subresource) + _query(manager, self.validation, dry_run)
        kind = MERGE_PATCH if is_merge else JSON_PATCH
        return _object(self._with_warnings(request, await self.wire.call(request, "PATCH", path, body=_json(patch), content_type=kind)))

    async def delete(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        *,
        uid: str,
        resource_version: str = "",
        propagation: str = "Background",
        dry_run: bool = False,
    ) -> Manifest | None:
        """Deletes the object with this UID and no other; returns the object while it is terminating, None once it is gone.

        Raises `WriteConflict` if another object has the name, `NotFound` if there is none. After a try without an answer both mean that
        the object is gone. A namespace that is terminating already is no error.
        """
        request = ApiRequest("delete", resource.plural, _ref(resource, namespace, name))
        preconditions = {"uid": uid} | ({"resourceVersion": resource_version} if resource_version else {})
        options = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": propagation, "preconditions": preconditions}
        if dry_run:
            options["dryRun"] = ["All"]
        try:
            answer = await self.wire.call(request, "DELETE", _path(resource, namespace, name), body=orjson.dumps(options))
        except Uncertain as error:
            if isinstance(error.error, NotFound) or (isinstance(error.error, WriteConflict) and not resource_version):
                return None
            raise error.error from None
        except WriteConflict as error:
            if resource.plural != "namespaces" or not _is_terminating(error):
                raise
            return await find(self, resource, namespace, name)
        # For an object that is gone at once the server returns a Status, or for some kinds its last state, without a deletionTimestamp.
        returned = self._with_warnings(request, answer).document()
        return returned if "metadata" in returned and is_terminating(returned) else None

    def _with_warnings(self, request: ApiRequest, answer: Answer) -> Answer:
        """Passes on the server's warnings, `299 - "text"` (RFC 7234 section 5.5); returns the answer."""
        if request.ref is not None:
            for warning in answer.headers.all("Warning"):
                self.warn(request.ref, warning.partition('"')[2].rpartition('"')[0].replace('\\"', '"') or warning)
        return answer


def _object(answer: Answer) -> Manifest:
    """Returns the object of an answer. Raises `ClusterError` for anything else, such as the word of a proxy that all is well."""
    manifest = answer.document()
    if manifest.get("kind") == "Status" or not isinstance(manifest.get("metadata"), dict):
        raise ClusterError(f"the server's answer is no object; {WRONG_ADDRESS}")
    return manifest


def _is_terminating(error: WriteConflict) -> bool:
    """Reports whether a namespace is terminating already: the server rejects a delete while its finalizers remain."""
    return "ensuring all content is removed" in error.message


def _ref(resource: Resource, namespace: str, name: str) -> Ref:
    return Ref(resource.kind.group, resource.kind.kind, namespace, name)


def _has_version(manifest: Manifest) -> bool:
    """Reports whether a write is bound to a resourceVersion, so that a second try is rejected if the first was carried out."""
    return bool((manifest.get("metadata") or {}).get("resourceVersion"))


def _path(resource: Resource, namespace: str, name: str = "", subresource: str = "") -> str:
    return resource.path(quote(namespace), quote(name, safe=":"), subresource)


@lru_cache(maxsize=64)
def _query(manager: str, validation: str, dry_run: bool, force: bool = False) -> str:
    query = {"fieldManager": manager} if manager else {}
    query |= {"fieldValidation": validation} if validation else {}
    query |= {"force": "true"} if force else {}
    query |= {"dryRun": "All"} if dry_run else {}
    return f"?{urlencode(query)}" if query else ""


def _json(value: Any) -> bytes:
    """Encodes the body of a request. Raises `Invalid` for values that a server's JSON cannot represent."""
    try:
        return orjson.dumps(value)
    except TypeError as error:
        where = next(_beyond_64_bits(value), "")
        why = f"{where}: a whole number beyond 64 bits, which the server cannot store" if where else f"cannot be written as JSON: {error}"
        raise Invalid(400, "BadRequest", why) from None


def _beyond_64_bits(value: Any, path: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _beyond_64_bits(member, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list):
        for position, item in enumerate(value):
            yield from _beyond_64_bits(item, f"{path}[{position}]")
    elif isinstance(value, int) and not -(2**63) <= value < 2**64:
        yield path
