"""Lists and watches one kind without end (a reflector), and so feeds the cache.

A stream that ends or breaks is resumed where it stopped. If the server no longer has that version (410), everything is listed again and
compared with the known state, so that deletions in between are noticed. Meanwhile the cache keeps serving the known state.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing

from applier.backoff import Backoff
from applier.cache.compact import Compactor
from applier.cache.objects import Objects
from applier.cache.snapshot import Wanted
from applier.cache.versions import is_same
from applier.cluster import Cluster, Resource, WatchEvent
from applier.errors import ApiError, CredentialsError, Expired, Forbidden, Invalid, Unauthorized, UnknownKind, Unreachable
from applier.ref import Manifest, Ref, resource_version_of

FATAL = (Forbidden, Unauthorized, CredentialsError)
"""Errors that need a person's action; retrying alone does not help."""

TOO_LARGE = "ResourceVersionTooLarge"
BREATHER = 256  # events after which a busy stream yields to other tasks
LONG = 30.0  # seconds after which the end of a stream counts as normal, so that it is reopened without back-off


class Silent(Unreachable):
    """A stream told nothing for too long, so that the connection may be dead. Most often nothing has happened."""


class Source:
    """Keeps the objects of one kind, in one namespace or in all, in sync with the server.

    `stall` is the number of seconds of silence after which a stream counts as dead. Servers send bookmarks about once a minute, but for a
    kind without changes only when etcd reports progress: every ten minutes (see `ask`). `settled` is set once the state is known, or once
    it is clear that it will not be; `complete` tells which. `trouble` is the error since the server last answered.
    """

    def __init__(
        self, cluster: Cluster, wanted: Wanted, objects: Objects, compactor: Compactor, backoff: Backoff, stall: float, watch_list: bool
    ) -> None:
        self.wanted, self.stall, self.watch_list = wanted, stall, watch_list
        self.settled, self.complete = asyncio.Event(), False
        self.when_complete: Callable[[], None] | None = None
        self.when_served: Callable[[], None] | None = None  # called when the server begins to serve the kind, or ceases to
        self.trouble: Exception | None = None
        self.heard = float("-inf")  # when, on the loop's clock, the server last proved that we are up to date
        self.version = ""  # everything up to it was told; empty while a list is needed
        self.lists = self.streams = self.events = 0
        self.breaks = 0  # how often a stream has ended otherwise than by silence: whoever answers now may be another server
        self.until_defined: Callable[[str, float], Awaitable[bool]] | None = None  # waits for a definition of a group: see `Definitions`
        self._is_served: bool | None = None  # none until the server was heard
        self._deadline: asyncio.Timeout | None = None  # of the stream that is open
        self._opened = float("inf")  # when the server took that stream
        self._is_asked = False  # the stream is left for one that begins with the state
        self._cluster, self._objects, self._compactor, self._backoff = cluster, objects, compactor, backoff

    @property
    def is_known(self) -> bool:
        """Whether the state is known, as of the last contact with the server."""
        return self.complete and (self.wanted.optional or not isinstance(self.trouble, UnknownKind))

    def doubt(self, since: float = float("-inf")) -> str:
        """Returns why the known state may be outdated; empty when it is as current as a watch can be.

        `since` is a time of the loop's clock: the state is also in doubt if the server has not confirmed it after that.
        """
        kind, trouble = self.wanted.kind.group_kind, self.trouble
        if isinstance(trouble, UnknownKind):
            return "" if self.wanted.optional else f"{kind} is not served: {trouble}"
        if trouble is not None:
            return f"{kind} cannot be {'followed' if self.complete else 'listed'}: {trouble}"
        if not self.complete or not self.version:
            return f"{kind} is not listed yet"
        if asyncio.get_running_loop().time() - self.heard > self.stall:
            return f"nothing was heard of {kind} for more than {self.stall:g} s"
        return f"nothing was heard of {kind} since we lead" if self.heard < since else ""

    def ask(self, since: float = float("-inf")) -> None:
        """Requests the whole state again, if it is only in doubt because the server was silent.

        For callers that need certainty now. The next event or bookmark would give it as well, but for a kind without changes perhaps only
        in ten minutes; its state is mostly small and read within a fraction of a second.
        """
        if self.trouble is None and self.version and self.doubt(since):
            self.version, self._is_asked = "", True
            if self._deadline is not None:
                self._deadline.reschedule(asyncio.get_running_loop().time())

    async def run(self) -> None:
        """Lists and watches until it is cancelled."""
        while True:
            try:
                resource = await self._cluster.resource(self.wanted.kind)
                await self._stream(resource._replace(metadata_only=self.wanted.metadata_only))
                wait = self._ended()
            except Expired:
                self.version = ""
                wait = self._ended()
            except UnknownKind as error:
                self._nothing_served()
                wait = self._failed(error)
            except Exception as error:  # giving up would leave the cache outdated for ever
                wait = self._failed(error)
            await self._wait(wait)

    async def _wait(self, seconds: float) -> None:
        """Waits before the next try; for a kind that is not served, until a definition changes."""
        if self.until_defined is None or not isinstance(self.trouble, UnknownKind):
            await asyncio.sleep(seconds)
        elif await self.until_defined(self.wanted.kind.group, seconds):
            self._backoff.reset()

    def _ended(self) -> float:
        """Returns the seconds to wait after a stream has ended normally: 0, unless streams end soon again and again."""
        self._note_end()
        self.breaks += 1
        if self._is_asked:
            return 0.0
        if self._backoff.failures == 0:
            self._backoff.failures = 1
            return 0.0
        return self._backoff.next()

    def _note_end(self) -> None:
        """Resets the back-off after a stream that was open for long."""
        if asyncio.get_running_loop().time() - self._opened > LONG:
            self._backoff.reset()
        self._opened = float("inf")

    def _failed(self, error: Exception) -> float:
        self._note_end()
        self.trouble = error
        self.breaks += not isinstance(error, Silent)
        if isinstance(error, UnknownKind):
            self._note_served(False)
        if isinstance(error, FATAL):
            self.settled.set()
        if isinstance(error, Invalid) or (isinstance(error, ApiError) and any(cause.reason == TOO_LARGE for cause in error.causes)):
            self.version = ""  # a server whose history was set back does not know our version
        asked = error.retry_after if isinstance(error, ApiError) else None
        return max(asked or 0.0, self._backoff.next())

    async def _stream(self, resource: Resource) -> None:
        """Reads one stream, from the known version or from a new state, until it ends."""
        if self.version or not self.watch_list:
            await self._list_if_needed(resource)
            return await self._follow(resource)
        try:
            return await self._follow(resource, initial=True)
        except Invalid:
            self.watch_list = False  # an older server, which is asked for lists from now on
            return await self._stream(resource)

    async def _list_if_needed(self, resource: Resource) -> None:
        if not self.version:
            self._begin_list()
            listing = await self._cluster.list(resource, self._namespace(resource), labels=self.wanted.labels)
            self._listed([self._kept(item) for item in listing.items], listing.resource_version)

    async def _follow(self, resource: Resource, *, initial: bool = False) -> None:
        """Reads a watch until it ends or a fresh state is requested. Raises `Silent` when it is silent for too long."""
        self.streams += 1
        self._is_asked = False
        stream = self._cluster.watch(
            resource, self._namespace(resource), labels=self.wanted.labels, resource_version=self.version, initial=initial
        )
        try:
            async with asyncio.timeout(self.stall) as deadline, aclosing(stream) as events:
                self._deadline = deadline
                if initial:
                    await self._state(events, deadline)
                await self._changes(events, deadline)
        except TimeoutError:
            if not self._is_asked:
                raise Silent(f"the watch of {resource.plural} was silent for {self.stall:g} s") from None
        finally:
            self._deadline = None

    async def _state(self, events: AsyncIterator[WatchEvent], deadline: asyncio.Timeout) -> None:
        """Reads the initial state of a watch-list (KEP-3157), up to the bookmark that ends it."""
        self._begin_list()
        found: dict[Ref, Manifest] = {}
        async for event in events:
            self._listen_on(deadline)
            if event.type == "DELETED":
                found.pop(Ref.of(event.object), None)
            elif event.type not in ("BOOKMARK", "OPENED"):
                ref = Ref.of(event.object)
                known = self._objects.get(ref)  # an unchanged object is kept, which most are when a known state is only confirmed
                found[ref] = known if known is not None and is_same(known, event.object) else self._kept(event.object)
            elif event.initial_end:
                return self._listed(list(found.values()), resource_version_of(event.object))
        raise Unreachable("the watch ended before it had told the state")

    async def _changes(self, events: AsyncIterator[WatchEvent], deadline: asyncio.Timeout) -> None:
        async for event in events:
            self._listen_on(deadline)
            if event.type == "OPENED":
                # The server is reachable and knows our version, but may have more events. So this does not confirm the state, and a doubt
                # since we became leader remains.
                self.trouble = None
                continue
            self._well()
            if event.type == "DELETED":
                self._objects.gone(event.object)
            elif event.type != "BOOKMARK":
                self._objects.seen(self._kept(event.object))
            self.version = resource_version_of(event.object)
            self.events += 1
            if self.events % BREATHER == 0:
                await asyncio.sleep(0)

    def _listen_on(self, deadline: asyncio.Timeout) -> None:
        """Extends the deadline of a stream that is alive; not for each event, since each extension makes a new timer."""
        now = asyncio.get_running_loop().time()
        self._opened = min(self._opened, now)
        until = now + self.stall
        if until - (deadline.when() or 0.0) > self.stall / 8:
            deadline.reschedule(until)

    def _begin_list(self) -> None:
        self.lists += 1
        self._objects.list_begins(*self._place)

    def _listed(self, manifests: list[Manifest], version: str) -> None:
        self._objects.listed(*self._place, manifests, version)
        self.version = version
        self._well()
        self._complete()
        self._note_served(True)

    def _nothing_served(self) -> None:
        """Removes all objects of a kind that is not served; its definition may come later."""
        self._objects.listed(*self._place, [], "")
        self.version = ""
        self._complete()

    def _complete(self) -> None:
        self.complete = True
        self.settled.set()
        ended, self.when_complete = self.when_complete, None
        if ended is not None:
            ended()

    def _note_served(self, is_served: bool) -> None:
        """Notifies of a kind that becomes served or unserved; the first observation does not count."""
        is_news = self._is_served not in (None, is_served)
        self._is_served = is_served
        if is_news and self.when_served is not None:
            self.when_served()

    def _well(self) -> None:
        self.trouble = None
        self.heard = asyncio.get_running_loop().time()
        self._backoff.reset()

    @property
    def _place(self) -> tuple[str, str, str]:
        return self.wanted.kind.group, self.wanted.kind.kind, self.wanted.namespace

    def _kept(self, manifest: Manifest) -> Manifest:
        return self._compactor.keep(manifest, managed=self.wanted.managed)

    def _namespace(self, resource: Resource) -> str:
        return self.wanted.namespace if resource.namespaced else ""
