"""What lies between operators and the server of a simulation: requests that take time, answers that are lost, watches that are late."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar, Unpack

from applier.cluster import DeleteOptions, Resource, WatchEvent, WrappedCluster
from applier.errors import ServerFailure, Unreachable
from applier.ref import Manifest, Ref
from grove_compiler.labels import DELETION_REASON
from tests.invariants.reasons import NO_LONGER_WANTED
from tests.simulation.world import World

T = TypeVar("T")
NEVER = 10**9
MAX_AT_ONCE = 2000
"""Requests at one moment. Nobody needs more: each is an answer to the one before."""
RECONNECTED_WITHIN = 60.0
"""Seconds after which all watches are back: none waits for longer before its next try."""


@dataclass(eq=False)
class Network:
    """How it goes with everybody's requests and watches. All times are in seconds of the event loop's clock.

    A request takes up to `latency` on its way, and its answer as long. Watches of the kinds in `silent` tell nothing before a time, and
    then all that they have kept back, in its order: one kind is late against another, as between a server's streams, and never an object
    against itself. So many of the next writes meet a failing server (`failures`), or get no answer although they are carried out
    (`lost_answers`). Until `down_until` there is no server. It `is_flooded` once somebody has sent requests without end at one moment.
    """

    world: World
    latency: float = 0.0
    silent: dict[str, float] = field(default_factory=dict)
    failures: int = 0
    lost_answers: int = 0
    down_until: float = -RECONNECTED_WITHIN
    chance: Random = field(default_factory=lambda: Random(0))
    is_flooded: bool = False
    _at: float = 0.0
    _count: int = 0
    _held_back: int = 0

    @property
    def is_calm(self) -> bool:
        """Whether whoever is told of a change is told at once: not while kinds are read again one by one after the server was away."""
        is_told_late = self.silent or self._held_back
        return not self.latency and not is_told_late and self.world.time() >= self.down_until + RECONNECTED_WITHIN

    def calm_down(self) -> None:
        """All goes well from now on."""
        self.latency, self.failures, self.lost_answers = 0.0, 0, 0
        self.down_until = min(self.down_until, self.world.time())
        self.silent.clear()

    def go_down(self, seconds: float) -> None:
        """The server ends, and comes back after so many seconds."""
        self.down_until = self.world.time() + seconds
        self.world.cluster.end_watches(Unreachable("the connection was reset"))

    async def travel(self) -> None:
        """Returns when a request, or an answer, has come to the other end. Raises `Unreachable`."""
        if _time() < self.down_until:
            raise Unreachable("connection refused")
        self._count = self._count + 1 if _time() == self._at else 0
        self._at = _time()
        if self._count > MAX_AT_ONCE:
            self.is_flooded = True
            await asyncio.sleep(1)  # or there would be no end, as no time passes
        await asyncio.sleep(self.chance.uniform(0.0, self.latency) if self.latency else 0.0)

    async def hold_back(self, kind: str) -> None:
        """Returns when a watch of a kind may tell what it has heard. Who waits here goes on waiting when all calms down."""
        self._held_back += 1
        try:
            while (wait := self.silent.get(kind, 0.0) - _time()) > 0:
                await asyncio.sleep(wait)
        finally:
            self._held_back -= 1
        self.silent.pop(kind, None)


class Connection(WrappedCluster):
    """One process's way to the server. It is dead once the process has ended: no request of it begins any more, and no answer returns.

    `on_write` is called after each write that changed something, with what was written and, if that was a deletion, its reason.
    `writes_left` is how many of these there are until the process ends, and until `cut_until` nothing gets through. `sent` counts the
    writes that have come to the server, but for those of leases.
    """

    def __init__(self, network: Network, on_write: Callable[[Ref, str], None]) -> None:
        super().__init__(network.world.cluster)
        self.network, self._on_write = network, on_write
        self.is_dead, self.writes_left, self.cut_until, self.sent = False, NEVER, 0.0, 0

    async def get(self, resource: Resource, namespace: str, name: str) -> Manifest:
        await self._go()
        found = await super().get(resource, namespace, name)
        await self._go()
        return found

    async def watch(
        self, resource: Resource, namespace: str = "", *, labels: str = "", resource_version: str = "", initial: bool = False
    ) -> AsyncGenerator[WatchEvent, None]:
        await self._go()
        stream = super().watch(resource, namespace, labels=labels, resource_version=resource_version, initial=initial)
        async with aclosing(stream) as events:
            async for event in events:
                await self._go(is_request=False)
                await self.network.hold_back(resource.kind.kind)
                yield event

    async def delete(self, resource: Resource, namespace: str, name: str, **options: Unpack[DeleteOptions]) -> Manifest | None:
        ref = Ref(resource.kind.group, resource.kind.kind, namespace, name)
        return await self.write(lambda: self.cluster.delete(resource, namespace, name, **options), ref)

    async def write(self, request: Callable[[], Awaitable[T]], deleted: Ref | None = None) -> T:
        await self._go(is_request=False)
        if self.writes_left <= 0:  # of several that were on their way at once, each counts
            self.is_dead = True
            await self._go()
        # What is on its way arrives, whatever becomes of whoever has sent it: an old leader's last word may come late.
        sent = asyncio.ensure_future(self._deliver(request, deleted))
        sent.add_done_callback(lambda done: done.cancelled() or done.exception())
        answer = await asyncio.shield(sent)
        await self._go()
        return answer

    async def _deliver(self, request: Callable[[], Awaitable[T]], deleted: Ref | None) -> T:
        await self.network.travel()
        if self.network.failures:
            self.network.failures -= 1
            raise ServerFailure(500, "InternalError", "the server fails")
        before, reason = self.network.world.version, self._reason(deleted)
        sent = len(self.network.world.cluster.log)
        answer = await request()
        self.sent += self.network.world.cluster.log[sent].resource.kind.kind != "Lease"
        if self.network.world.version != before:
            self.writes_left -= 1
            self._on_write(deleted or Ref("", "", "", ""), reason)
        if self.network.lost_answers:
            self.network.lost_answers -= 1
            raise Unreachable("the answer was lost", maybe_done=True)
        return answer

    def _reason(self, deleted: Ref | None) -> str:
        live = self.network.world.cluster.find(deleted) if deleted else None
        return (live["metadata"].get("annotations") or {}).get(DELETION_REASON, NO_LONGER_WANTED) if live else ""

    async def _go(self, *, is_request: bool = True) -> None:
        if self.is_dead:
            raise Unreachable("the process has ended")
        while (wait := self.cut_until - _time()) > 0:
            await asyncio.sleep(wait)
        if is_request:
            await self.network.travel()


def _time() -> float:
    return asyncio.get_running_loop().time()
