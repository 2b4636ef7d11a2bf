"""Implements a cluster in memory, with the behaviour of a real API server that matters for writes and watches.

Resource versions and UIDs are deterministic, so that tests can expect them. It neither converts between versions of a kind nor sets
defaults that no schema declares; `admit` can.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from applier.cluster import Listing, Resource, WatchEvent
from applier.decision import Schemas, Type
from applier.ref import Kind, Manifest, Ref, resource_version_of, uid_of
from applier.testing.memory import refusals
from applier.testing.memory.faults import Fault, MemoryRequest, When, meet
from applier.testing.memory.fields import applied, half, updated
from applier.testing.memory.garbage import Garbage
from applier.testing.memory.kinds import Kinds, defined
from applier.testing.memory.patch import patched
from applier.testing.memory.rules import (
    IMMUTABLE,
    check_conditions,
    check_finalizers,
    check_identity,
    check_immutable,
    check_version,
    is_same,
    named,
    settle,
)
from applier.testing.memory.store import Store, copied
from applier.testing.memory.watch import watched
from kube_objects.label_selector import Selector

START = datetime(2026, 1, 1, tzinfo=UTC)
ESTABLISHED = {"conditions": [{"type": kind, "status": "True"} for kind in ("NamesAccepted", "Established")]}


async def _at_once(_: MemoryRequest) -> None:
    """Lets other tasks run in between, as any request does."""
    await asyncio.sleep(0)


class MemoryCluster:
    """Implements `Cluster` with objects, history, watches and garbage collection, and faults on demand.

    `log` holds every request in order and `requests` counts them by verb and plural; `in_flight` and `most_in_flight` count concurrent
    requests. `before` is awaited ahead of each request: a sleep there is the server's latency. `admit` is called with every object before
    it is stored, and returns it, another one in its place, or rejects it. `schemas` define how kinds merge; lists of kinds without one are
    atomic. `history` is how many changes a watch can go back. `texts` returns the lines of a subresource that is text, such as a pod's log.
    Orphans are garbage-collected at once, or, unless it `collects`, when `garbage.collect` is called.
    """

    def __init__(
        self,
        *,
        namespaces: Iterable[str] = ("default", "kube-system"),
        now: Callable[[], datetime] = lambda: START,
        history: int = 1000,
        immutable: Mapping[str, tuple[str, ...]] = IMMUTABLE,
        admit: Callable[[Manifest], Manifest] = lambda manifest: manifest,
        before: Callable[[MemoryRequest], Awaitable[None]] = _at_once,
        watch_list: bool = True,
        schemas: Schemas | None = None,
        collects: bool = True,
    ) -> None:
        self.store = Store(history)
        self.kinds = Kinds()
        self.faults: list[Fault] = []
        self.garbage = Garbage(self.store, collects=collects)
        self.now, self.immutable, self.admit, self.before = now, immutable, admit, before
        self.watch_list = watch_list
        self._schemas = schemas or Schemas()
        self.texts: Callable[[MemoryRequest, Mapping[str, str]], Iterable[bytes]] = lambda *_: ()
        self.log: list[MemoryRequest] = []
        self.requests: Counter[tuple[str, str]] = Counter()
        self.in_flight = self.most_in_flight = 0
        self.seed(*({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in namespaces))

    # Access for tests, without requests.

    def seed(self, *manifests: Manifest, manager: str = "") -> list[Manifest]:
        """Stores objects with their status, bypassing the checks of a write; `manager` owns their fields. Returns the stored objects."""
        return [self._seed(manifest, manager) for manifest in manifests]

    def find(self, ref: Ref) -> Manifest | None:
        """Returns the stored object, which must not be changed."""
        return self.store.objects.get(ref)

    def writes(self) -> list[MemoryRequest]:
        """Returns the write requests so far, without dry runs."""
        return [request for request in self.log if request.writes]

    def forget_requests(self) -> None:
        """Clears the log; requests are numbered from 1 again."""
        self.log.clear()
        self.requests.clear()
        self.most_in_flight = self.in_flight

    def fail(self, when: When, error: BaseException, *, after: bool = False, times: int = 1) -> None:
        """Fails requests: the one with a number, those of a verb, or those that a function selects, `times` times (-1: always).

        With `after` the request is carried out before, and only its response is lost.
        """
        self.faults.append(Fault(when, error, after, times))

    def end_watches(self, error: Exception | None = None) -> None:
        """Ends all streams, as a server does after some minutes, or breaks them with an error."""
        self.store.end_watches(error or StopAsyncIteration())

    def stall_watches(self, shown: Ref | None = None) -> None:
        """Stalls all streams forever, or only those that have last shown an object."""
        shows = next((change for change in reversed(self.store.changes) if change.ref == shown), None)
        for watcher in [*self.store.watchers]:
            if shown is None or (shows is not None and watcher.concerns(shows)):
                watcher.close()

    def bookmark(self) -> None:
        """Sends a bookmark to all watches."""
        self.store.send_bookmarks()

    def serve(self, resource: Resource) -> None:
        """Serves another kind, without a definition."""
        self.kinds.serve(resource)

    # The protocol.

    async def resource(self, kind: Kind) -> Resource:
        return self.kinds.get(kind)

    async def resources(self, *, fresh: bool = False) -> list[Resource]:  # noqa: ARG002 - nothing is cached here
        return list(self.kinds)

    async def await_established(self, kinds: Iterable[Kind], timeout: float) -> None:  # noqa: ARG002 - here they are served at once
        for kind in kinds:
            self.kinds.get(kind)

    async def schemas(self, kinds: Iterable[Kind]) -> Schemas:  # noqa: ARG002 - one answer for all
        return self._schemas

    async def get(self, resource: Resource, namespace: str, name: str) -> Manifest:
        async with self._request("get", resource, namespace, name) as request:
            return self._shown(self._live(request), resource)

    async def list(self, resource: Resource, namespace: str = "", *, labels: str = "", fields: str = "") -> Listing:
        name = fields.removeprefix("metadata.name=")
        if fields and name == fields:
            raise refusals.bad_request("a cluster in memory knows no field selectors but metadata.name=")
        selector = Selector(labels)
        async with self._request("list", resource, namespace):
            manifests = self.store.of(resource.kind.group, resource.kind.kind, namespace)
            items = [self._shown(manifest, resource) for manifest in manifests if selector.matches(manifest)]
            items = [one for one in items if not name or one["metadata"]["name"] == name]
            return Listing(items, str(self.store.version))

    async def watch(
        self, resource: Resource, namespace: str = "", *, labels: str = "", resource_version: str = "", initial: bool = False
    ) -> AsyncGenerator[WatchEvent, None]:
        async with self._request("watch", resource, namespace):
            self.kinds.get(resource.kind)
            if initial and not self.watch_list:
                raise refusals.no_watch_list()
            events = watched(self.store, resource, namespace, Selector(labels), resource_version, initial)
        async for event in events:
            yield event

    async def lines(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        subresource: str,
        query: Mapping[str, str],
        *,
        silence: float | None = None,  # noqa: ARG002 - what is in memory does not break
    ) -> AsyncGenerator[bytes, None]:
        async with self._request("get", resource, namespace, name, subresource=subresource) as request:
            self._live(request)
            text = self.texts(request, query)
        for line in text:
            yield line

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
        ref = Ref.of(manifest)
        async with self._request("apply", resource, ref.namespace, ref.name, manager, subresource, dry_run) as request:
            check_identity(resource, manifest)
            if manifest["metadata"].get("managedFields"):
                raise refusals.bad_request("metadata.managedFields must be nil")
            check_conditions(manifest, resource, ref.name)
            live = self._live(request) if subresource else self.find(request.ref)
            intent, schema = half(manifest, resource, subresource), self._schema(resource)
            new = applied(intent, live, schema, manager=manager, subresource=subresource, force=force, now=self._time())
            check_version(request, manifest, live)  # field conflicts take precedence, as on a real server
            written = self._write(request, new, live)
            if on_created and live is None:
                on_created()
            return written

    async def create(self, resource: Resource, manifest: Manifest, *, manager: str, dry_run: bool = False) -> Manifest:
        manifest = named(manifest, self.store.version)
        ref = Ref.of(manifest)
        async with self._request("create", resource, ref.namespace, ref.name, manager, dry_run=dry_run) as request:
            check_identity(resource, manifest)
            if self.find(request.ref) is not None:
                raise refusals.already_exists(resource, ref.name)
            new = updated(half(manifest, resource, ""), None, self._schema(resource), manager=manager, subresource="", now=self._time())
            return self._write(request, new, None)

    async def patch(
        self, resource: Resource, namespace: str, name: str, patch: Any, *, manager: str = "", subresource: str = "", dry_run: bool = False
    ) -> Manifest:
        async with self._request("patch", resource, namespace, name, manager, subresource, dry_run) as request:
            live = self._live(request)
            new = patched(live, patch)
            check_version(request, new, live)
            new = settle(new, live, resource, subresource)
            if new["metadata"].get("managedFields") == live["metadata"].get("managedFields"):
                new = updated(new, live, self._schema(resource), manager=manager, subresource=subresource, now=self._time())
            return self._write(request, new, live)

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
        async with self._request("delete", resource, namespace, name, dry_run=dry_run) as request:
            live = self._live(request)
            if uid_of(live) != uid:
                raise refusals.other_uid(resource, name, uid, uid_of(live))
            if resource_version and resource_version_of(live) != resource_version:
                raise refusals.moved_on(resource, name)
            if not dry_run:
                self.garbage.delete(request.ref, propagation, self._time())
                if request.ref.kind == "CustomResourceDefinition":
                    self._undefine(live)
            left = self.find(request.ref)
            return self._shown(left, resource) if left is not None and uid_of(left) == uid else None

    @asynccontextmanager
    async def _request(
        self,
        verb: str,
        resource: Resource,
        namespace: str = "",
        name: str = "",
        manager: str = "",
        subresource: str = "",
        dry_run: bool = False,
    ) -> AsyncIterator[MemoryRequest]:
        request = MemoryRequest(len(self.log) + 1, verb, resource, namespace, name, manager, subresource, dry_run)
        self.log.append(request)
        self.requests[verb, resource.plural] += 1
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await self.before(request)
            self.kinds.get(resource.kind)
            meet(self.faults, request, after=False)
            yield request
            meet(self.faults, request, after=True)
        finally:
            self.in_flight -= 1

    def _write(self, request: MemoryRequest, new: Manifest, old: Manifest | None) -> Manifest:
        """Validates and stores a written object, unless nothing changes; returns the resulting object."""
        new = settle(self.admit(new), old, request.resource, request.subresource)
        if old is None:
            self._begin(request, new)
        else:
            if not request.subresource:
                check_immutable(new, old, request.resource, self.immutable)
                check_finalizers(new, old, request.resource)
            if is_same(new, old):
                return self._shown(old, request.resource)
        if request.dry_run:
            return self._shown(new, request.resource)
        stored = self._put(new)
        self.garbage.finish(Ref.of(stored), self._time())
        return self._shown(stored, request.resource)

    def _begin(self, request: MemoryRequest, new: Manifest) -> None:
        """Sets the metadata that the server sets on creation. Raises an error if the namespace is missing or terminating."""
        if request.ref.namespace:
            namespace = self.find(Ref("", "Namespace", "", request.ref.namespace))
            if namespace is None:
                raise refusals.no_namespace(request.ref.namespace)
            if "deletionTimestamp" in namespace["metadata"]:
                raise refusals.terminating(request.resource, request.name, request.ref.namespace)
        new["metadata"].update(uid=self.store.new_uid(), creationTimestamp=self._time())
        if "spec" in new:
            new["metadata"]["generation"] = 1

    def _put(self, new: Manifest) -> Manifest:
        if new["kind"] == "CustomResourceDefinition":
            new = {**new, "status": ESTABLISHED}
            for resource in defined(new):
                self.kinds.serve(resource)
        return self.store.put(new)

    def _undefine(self, definition: Manifest) -> None:
        for resource in defined(definition):
            self.kinds.forget(resource)
            for manifest in list(self.store.of(resource.kind.group, resource.kind.kind)):
                self.store.remove(Ref.of(manifest))

    def _seed(self, manifest: Manifest, manager: str) -> Manifest:
        old = self.find(Ref.of(manifest))
        new = copied(manifest)
        given = {"uid": old["metadata"]["uid"] if old else self.store.new_uid(), "creationTimestamp": self._time()}
        new["metadata"] = {**given, **new["metadata"]}
        if "spec" in new:
            new["metadata"].setdefault("generation", 1)
        if manager:
            schema = self._schema(self.kinds.of(*Ref.of(new)[:2]))
            new = updated(new, old, schema, manager=manager, subresource="", now=self._time())
        return self._put(new)

    def _live(self, request: MemoryRequest) -> Manifest:
        live = self.find(request.ref)
        if live is None:
            raise refusals.not_found(request.resource, request.name)
        return live

    def _shown(self, manifest: Manifest, resource: Resource) -> Manifest:
        shown: Manifest = copied(manifest)
        shown["apiVersion"] = resource.kind.api_version
        return shown

    def _schema(self, resource: Resource) -> Type | None:
        return self._schemas.get(resource.kind)

    def _time(self) -> str:
        return self.now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
