"""Elects a leader by a Lease, and keeps a candidate that has lost it from writing, so that of several candidates one writes at a time.

As client-go's leaderelection: a candidate takes a Lease over only after it has seen no renewal for a whole lease duration on its own
clock; times in the object are for people. Each write names the resourceVersion that it was decided on, so that of two candidates one wins.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar

from applier.cluster import Cluster, Resource, WrappedCluster, find
from applier.errors import AlreadyExists, ClusterError, NotFound, WriteConflict
from applier.ref import Kind, Manifest, resource_version_of

T = TypeVar("T")


class LeaseLost(ClusterError):
    """Reports that we may not write, because another candidate may hold the lease. `maybe_done`: the write had begun and was aborted."""

    def __init__(self, *, maybe_done: bool = False) -> None:
        super().__init__("the lease is lost: another candidate may be writing now")
        self.maybe_done = maybe_done


class Fence:
    """Admits writes while the lease is certainly ours, by our own clock and however long the answer to a renewal took.

    Writes begin before `closes` and end before `ends`; both are times of the event loop's clock.
    """

    def __init__(self) -> None:
        self.closes = self.ends = float("-inf")
        self._in_flight: set[asyncio.Timeout] = set()

    def renew(self, closes: float, ends: float) -> None:
        """Extends the fence after a renewal of the lease, for writes in flight as well."""
        self.closes, self.ends = closes, ends
        for deadline in self._in_flight:
            if not deadline.expired():  # one that has expired is being aborted, which cannot be undone
                deadline.reschedule(ends)

    def close(self) -> None:
        """Closes the fence and aborts writes in flight: another candidate has the lease."""
        self.renew(float("-inf"), asyncio.get_running_loop().time())
        self.ends = float("-inf")

    @property
    def is_open(self) -> bool:
        return asyncio.get_running_loop().time() < self.closes

    def check(self) -> None:
        """Raises `LeaseLost` if writing is not safe."""
        if not self.is_open:
            raise LeaseLost

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[None]:
        """Guards one write. Raises `LeaseLost` if it may not begin, or did not end in time."""
        self.check()
        try:
            async with asyncio.timeout_at(self.ends) as deadline:
                self._in_flight.add(deadline)
                try:
                    yield
                finally:
                    self._in_flight.discard(deadline)
        except TimeoutError:
            if not deadline.expired():
                raise
            raise LeaseLost(maybe_done=True) from None


class FencedCluster(WrappedCluster):
    """Wraps a cluster so that it is written to only while a fence is open; reads are not restricted."""

    def __init__(self, cluster: Cluster, fence: Fence) -> None:
        super().__init__(cluster)
        self.fence = fence

    async def write(self, request: Callable[[], Awaitable[T]]) -> T:
        async with self.fence.writing():
            return await request()


LEASE = Kind("coordination.k8s.io", "v1", "Lease")
MAX_DURATION = 600.0
"""Seconds. Whatever a lease says, somebody leads again after this time, unless candidates are configured with a longer one."""
LAST_TRANSITION = 2**31 - 1
"""The highest number that the field takes; after it the count begins again."""
JITTER = 1.2  # of the retry period, for those who wait: client-go's JitterFactor


class Timing(NamedTuple):
    """Configures leader election, in seconds; the defaults are client-go's for Kubernetes' own components.

    `duration`: how long others wait before they take over. `renew`: how long we keep writing after the last renewal. `retry`: the time
    between tries. The difference of the first two covers the drift of clocks in that time, and the duration of the last write.
    """

    duration: float = 15.0
    renew: float = 10.0
    retry: float = 2.0


DEFAULT_TIMING = Timing()
OnChange = Callable[["Lease"], None]


class Lease:
    """Represents one candidate. `held` is set while we lead, `fence` is open while that is certain; `error` is that of the last try.

    `led_since` is when we began to lead, on the event loop's clock: writes of an earlier leader may not have reached our cache by then.

    `identity` must be unique to this process. `clock` gives seconds since the epoch, written for people only. `on_change` is called with
    the candidate after each try, and when it no longer leads.
    """

    def __init__(
        self,
        cluster: Cluster,
        namespace: str,
        name: str,
        identity: str,
        *,
        timing: Timing = DEFAULT_TIMING,
        clock: Callable[[], float] = time.time,
        chance: random.Random | None = None,
        on_change: OnChange = lambda _: None,
    ) -> None:
        if not timing.duration > timing.renew > timing.retry * JITTER:
            raise ValueError(f"lease times must satisfy duration > renew > {JITTER} x retry, not {timing}")
        self.identity, self.timing = identity, timing
        self.fence, self.held = Fence(), asyncio.Event()
        self.error: ClusterError | None = None
        self.led_since = float("inf")
        self._cluster, self._namespace, self._name, self._clock = cluster, namespace, name, clock
        self._chance, self._on_change = chance or random.Random(), on_change
        self._seen: Manifest = {}  # the Lease as we last saw it
        self._seen_at = float("-inf")

    async def run(self) -> None:
        """Acquires and renews the lease until it is cancelled."""
        while True:
            await self._try()
            if self.held.is_set() and not self.fence.is_open:
                self.held.clear()  # writes in flight may still end before anybody else leads
            self._on_change(self)
            await asyncio.sleep(self._pause())

    async def release(self) -> None:
        """Releases the lease, so that others need not wait. Does nothing if it is not ours; a failure is harmless.

        It is read first: of a renewal that was cancelled, or whose answer was lost, nobody knows whether the server has taken it.
        """
        self._lose()
        with suppress(ClusterError, TimeoutError):
            async with asyncio.timeout(self.timing.retry):
                while await self._is_ours() and not await self._is_given_up():
                    pass  # a renewal that was on its way has arrived in between

    async def _is_ours(self) -> bool:
        found = await self._read(await self._cluster.resource(LEASE))
        return found is not None and (found.get("spec") or {}).get("holderIdentity") == self.identity

    async def _is_given_up(self) -> bool:
        """Gives the lease up as we have just read it; returns false if it has changed since."""
        try:
            await self._write({"holderIdentity": "", "leaseDurationSeconds": 1, "renewTime": self._stamp()})
        except WriteConflict:
            return False
        return True

    def _pause(self) -> float:
        if self.held.is_set():
            return min(self.timing.retry, max(0.0, self.fence.closes - _time()))
        return self.timing.retry * self._chance.uniform(1.0, 1.0 + JITTER)

    async def _try(self) -> None:
        """Acquires or renews the lease if that is possible now."""
        began = _time()
        limit = self.fence.closes if self.held.is_set() else began + self.timing.renew
        try:
            async with asyncio.timeout_at(limit):
                await self._acquire_or_renew(began)
        except TimeoutError:
            return
        except (WriteConflict, AlreadyExists, NotFound):
            self._seen = {}  # another candidate was faster; read the lease again
        except ClusterError as error:
            self.error = error

    async def _acquire_or_renew(self, began: float) -> None:
        resource = await self._cluster.resource(LEASE)
        if not (self.held.is_set() and self._seen):
            found = await self._read(resource)
            if found is None:
                metadata = {"name": self._name, "namespace": self._namespace}
                lease = {"apiVersion": LEASE.api_version, "kind": LEASE.kind, "metadata": metadata, "spec": self._spec({})}
                return self._renewed(await self._cluster.create(resource, lease, manager=self.identity), began)
            if self._is_taken(found):
                return self._lose() if self.held.is_set() else None
        self._renewed(await self._write(self._spec(self._seen.get("spec") or {})), began)
        return None

    async def _read(self, resource: Resource) -> Manifest | None:
        found = await find(self._cluster, resource, self._namespace, self._name)
        if found is None:
            return None
        if resource_version_of(found) != resource_version_of(self._seen):
            self._seen_at = _time()
        self._seen = found
        return found

    def _is_taken(self, lease: Manifest) -> bool:
        """Reports whether another candidate may lead: less than a lease duration has passed since we saw its last renewal."""
        spec: dict[str, Any] = lease.get("spec") or {}
        if (spec.get("holderIdentity") or "") in ("", self.identity):
            return False
        return _time() < self._seen_at + self._duration(spec)

    def _duration(self, spec: dict[str, Any]) -> float:
        """Returns for how many seconds a candidate may lead, by its lease, of which garbage and numbers of years are not believed."""
        said = spec.get("leaseDurationSeconds")
        return min(said, max(MAX_DURATION, self.timing.duration)) if isinstance(said, int | float) and said > 0 else self.timing.duration

    def _spec(self, before: dict[str, Any]) -> dict[str, Any]:
        spec = {"holderIdentity": self.identity, "leaseDurationSeconds": int(self.timing.duration), "renewTime": self._stamp()}
        if before.get("holderIdentity") == self.identity:
            return spec
        transitions = before.get("leaseTransitions")
        count = transitions if isinstance(transitions, int) and 0 <= transitions < LAST_TRANSITION else 0
        return {**spec, "acquireTime": spec["renewTime"], "leaseTransitions": count + bool(before)}

    async def _write(self, spec: dict[str, Any]) -> Manifest:
        """Writes the lease over the version that we saw last. Raises `WriteConflict` if it has changed."""
        resource = await self._cluster.resource(LEASE)
        patch = {"metadata": {"resourceVersion": resource_version_of(self._seen)}, "spec": spec}
        return await self._cluster.patch(resource, self._namespace, self._name, patch, manager=self.identity)

    def _renewed(self, lease: Manifest, began: float) -> None:
        """Records a renewal, as of the start of the request: no other candidate can have seen it earlier than that."""
        self._seen, self._seen_at, self.error = lease, _time(), None
        if not self.held.is_set():
            self.led_since = _time()
        self.fence.renew(began + self.timing.renew, began + (self.timing.renew + self.timing.duration) / 2)
        self.held.set()

    def _lose(self) -> None:
        self.held.clear()
        self.fence.close()
        self._on_change(self)

    def _stamp(self) -> str:
        return datetime.fromtimestamp(self._clock(), UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _time() -> float:
    return asyncio.get_running_loop().time()
