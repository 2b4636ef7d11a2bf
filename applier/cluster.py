"""Defines the operations that the applier needs of a cluster, as a protocol for real servers, fault-injecting wrappers and fakes."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol, Required, TypedDict, TypeVar, Unpack

from applier.errors import NotFound
from applier.ref import Kind, Manifest, Ref

T = TypeVar("T")


class Resource(NamedTuple):
    """Describes a kind as a server serves it. `verbs` are those of discovery: get, list, watch, patch, delete…

    With `metadata_only`, lists and watches return only the metadata of objects.
    """

    kind: Kind
    plural: str
    namespaced: bool
    verbs: frozenset[str] = frozenset()
    subresources: frozenset[str] = frozenset()
    metadata_only: bool = False

    @property
    def name(self) -> str:
        """What servers call it in errors and rights, such as `podgangs.scheduler.grove.io`."""
        return f"{self.plural}.{self.kind.group}" if self.kind.group else self.plural

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """Returns the URL path of a collection, an object or a subresource."""
        start = f"/apis/{self.kind.group}/{self.kind.version}" if self.kind.group else f"/api/{self.kind.version}"
        scope = f"/namespaces/{namespace}" if self.namespaced and namespace else ""
        return f"{start}{scope}/{self.plural}" + (f"/{name}" if name else "") + (f"/{subresource}" if subresource else "")


class Listing(NamedTuple):
    """Holds objects of one kind and the resource version of the list. Items carry their apiVersion and kind."""

    items: list[Manifest]
    resource_version: str


class WatchEvent(NamedTuple):
    """Represents an event of a watch, of `type` ADDED, MODIFIED, DELETED or BOOKMARK.

    `initial_end` marks the bookmark that ends the initial state of a watch-list. The first event is OPENED, which Kubernetes does not have
    and which has no object: the server has accepted the watch. For a kind without changes, the next event may come only after a minute.
    """

    type: str
    object: Manifest
    initial_end: bool = False


class Cluster(Protocol):
    """Reads from and writes to a cluster, in raw dicts. Every method raises `ClusterError` (see `applier.errors`)."""

    async def resource(self, kind: Kind) -> Resource:
        """Returns how the server serves a kind. Raises `UnknownKind`."""

    async def resources(self, *, fresh: bool = False) -> list[Resource]:
        """Returns everything that the server serves, in each group's preferred version: as it was a while ago, unless `fresh`."""

    async def await_established(self, kinds: Iterable[Kind], timeout: float) -> None:
        """Waits until these kinds are served, whose definitions were just written. Raises `UnknownKind` after `timeout` seconds."""

    async def schemas(self, kinds: Iterable[Kind]) -> Any:
        """Returns the `applier.decision.Schemas` of these kinds. A kind whose schema is not available is missing in it."""

    async def get(self, resource: Resource, namespace: str, name: str) -> Manifest:
        """Returns one object. Raises `NotFound`."""

    async def list(self, resource: Resource, namespace: str = "", *, labels: str = "", fields: str = "") -> Listing:
        """Returns all objects of a kind, of one namespace or of all; in pages, joined."""

    def watch(
        self, resource: Resource, namespace: str = "", *, labels: str = "", resource_version: str = "", initial: bool = False
    ) -> AsyncGenerator[WatchEvent, None]:
        """Yields the changes since a version, until the server ends the stream. `initial` requests the state first (watch-list).

        Raises `Invalid` if the server does not support that; `Expired` if the version is too old, `Unreachable` if the stream breaks or
        stalls.
        """

    def lines(
        self, resource: Resource, namespace: str, name: str, subresource: str, query: Mapping[str, str], *, silence: float | None = None
    ) -> AsyncGenerator[bytes, None]:
        """Yields the lines of a subresource that is text, such as `log` of a pod, until the server ends the stream.

        `query` holds the parameters of the request. Raises `Unreachable` if the stream breaks, or is silent for `silence` seconds.
        """

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
        """Applies a manifest (server-side apply); returns the resulting object. Raises `FieldConflict`, `Invalid` and other errors.

        `on_created` is called if this request has created the object, or may have: an apply creates and updates with one verb. With a
        resourceVersion in the manifest only that version is changed; any other is a `WriteConflict`. `status` as the `subresource` applies
        only the status, of an existing object; else `NotFound`.
        """

    async def create(self, resource: Resource, manifest: Manifest, *, manager: str, dry_run: bool = False) -> Manifest:
        """Creates an object. Raises `AlreadyExists`."""

    async def patch(
        self, resource: Resource, namespace: str, name: str, patch: Any, *, manager: str = "", subresource: str = "", dry_run: bool = False
    ) -> Manifest:
        """Sends a JSON patch if `patch` is a list, a merge patch if it is a map."""

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
        """Deletes the object with this UID and no other. Raises `WriteConflict` if another one has the name, `NotFound` if there is none.

        Returns the object while it is terminating (finalizers, grace period); None once it is gone.
        """


class WriteOptions(TypedDict, total=False):
    """Types the options of `Cluster.create` for callers that pass them on."""

    manager: Required[str]
    dry_run: bool


class ApplyPatchOptions(WriteOptions, total=False):
    """Types the options of `Cluster.apply`."""

    force: bool
    subresource: str
    on_created: Callable[[], None] | None


class PatchOptions(TypedDict, total=False):
    """Types the options of `Cluster.patch`."""

    manager: str
    subresource: str
    dry_run: bool


class DeleteOptions(TypedDict, total=False):
    """Types the options of `Cluster.delete`."""

    uid: Required[str]
    resource_version: str
    propagation: str
    dry_run: bool


async def find(cluster: Cluster, resource: Resource, namespace: str, name: str) -> Manifest | None:
    """Returns one object, or None if it does not exist."""
    try:
        return await cluster.get(resource, namespace, name)
    except NotFound:
        return None


class WrappedCluster:
    """Forwards everything to another cluster; the base class of clusters that add something to requests."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    @property
    def requests(self) -> Counter[tuple[str, str]]:
        """Returns how many requests were sent, by verb and plural name."""
        return Counter(getattr(self.cluster, "requests", {}))

    @property
    def throttled(self) -> int:
        """Returns how many responses asked us to slow down (429)."""
        return int(getattr(self.cluster, "throttled", 0))

    async def resource(self, kind: Kind) -> Resource:
        return await self.cluster.resource(kind)

    async def resources(self, *, fresh: bool = False) -> list[Resource]:
        return await self.cluster.resources(fresh=fresh)

    async def await_established(self, kinds: Iterable[Kind], timeout: float) -> None:
        await self.cluster.await_established(kinds, timeout)

    async def schemas(self, kinds: Iterable[Kind]) -> Any:
        return await self.cluster.schemas(kinds)

    async def get(self, resource: Resource, namespace: str, name: str) -> Manifest:
        return await self.cluster.get(resource, namespace, name)

    async def list(self, resource: Resource, namespace: str = "", *, labels: str = "", fields: str = "") -> Listing:
        return await self.cluster.list(resource, namespace, labels=labels, fields=fields)

    def watch(
        self, resource: Resource, namespace: str = "", *, labels: str = "", resource_version: str = "", initial: bool = False
    ) -> AsyncGenerator[WatchEvent, None]:
        return self.cluster.watch(resource, namespace, labels=labels, resource_version=resource_version, initial=initial)

    def lines(
        self, resource: Resource, namespace: str, name: str, subresource: str, query: Mapping[str, str], *, silence: float | None = None
    ) -> AsyncGenerator[bytes, None]:
        return self.cluster.lines(resource, namespace, name, subresource, query, silence=silence)

    async def write(self, request: Callable[[], Awaitable[T]]) -> T:
        """Makes a write request; create, apply, patch and delete all use it."""
        return await request()

    async def apply(self, resource: Resource, manifest: Manifest, **options: Unpack[ApplyPatchOptions]) -> Manifest:
        return await self.write(lambda: self.cluster.apply(resource, manifest, **options))

    async def create(self, resource: Resource, manifest: Manifest, **options: Unpack[WriteOptions]) -> Manifest:
        return await self.write(lambda: self.cluster.create(resource, manifest, **options))

    async def patch(self, resource: Resource, namespace: str, name: str, patch: Any, **options: Unpack[PatchOptions]) -> Manifest:
        return await self.write(lambda: self.cluster.patch(resource, namespace, name, patch, **options))

    async def delete(self, resource: Resource, namespace: str, name: str, **options: Unpack[DeleteOptions]) -> Manifest | None:
        return await self.write(lambda: self.cluster.delete(resource, namespace, name, **options))


class Live(Protocol):
    """Provides objects that were read of a cluster earlier, without a request."""

    def get(self, ref: Ref) -> Manifest | None:
        """Returns the live object, with values of Secrets hashed, or None. Raises KeyError if its kind was not read."""
