"""Keeps one kind in the cache by listing and watching it, as client-go's Reflector does.

A stream that ends or breaks is resumed where it stopped. If the server no longer has that version (410), everything is listed again and
compared with the known state, so that deletions in between are noticed. Meanwhile the cache keeps serving the known state.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing

from applier.backoff import Backoff
from applier.cache.compact import Compactor
from applier.cache.objects import ObjectStore
from applier.cache.snapshot import Query
from applier.cache.versions import as_of, is_older, is_same
from applier.cluster import Cluster, Resource, WatchEvent
from applier.errors import ApiError, CredentialsError, Expired, Forbidden, Invalid, Unauthorized, UnknownKind, Unreachable
from applier.ref import Manifest, Ref, resource_version_of

FATAL = (Forbidden, Unauthorized, CredentialsError)
"""Errors that need a person's action; retrying alone does not help."""

REFUSED = 30.0
"""Seconds in which the server has answered each try with an error, after which a kind counts as one that cannot be read, and is no longer
waited for, as while the conversion webhook of its definition is away."""

TOO_LARGE = "ResourceVersionTooLarge"
OF_NO_OBJECT = "metadata.name=-"
"""Selects nothing: a list of it tells the server's version."""
YIELD_EVERY = 256  # events after which a busy stream yields to other tasks
LOADING = 120.0  # seconds for which a kind that is not served now is asked for again: a server that has just started may not have loaded it
LONG_LIVED = 30.0  # seconds after which the end of a stream counts as normal, so that it is reopened without back-off


class Silent(Unreachable):
    """Reports a watch without events or bookmarks for too long: its connection may be dead, though most often nothing has happened."""


class Reflector:
    """Keeps the objects of one kind, in one namespace or in all, in sync with the server.

    `stall` is the number of seconds of silence after which a stream counts as dead. Servers send bookmarks about once a minute, but for a
    kind without changes only when etcd reports progress: every ten minutes (see `refresh`). `settled` is set after the first list, or once
    an error shows that there will be none; `complete` is true after a list. `error` is the last error, None once the server has answered.
    """

    def __init__(
        self, cluster: Cluster, query: Query, objects: ObjectStore, compactor: Compactor, backoff: Backoff, stall: float, watch_list: bool
    ) -> None:
        self.query, self.stall, self.watch_list = query, stall, watch_list
        self.settled, self.complete = asyncio.Event(), False
        self.when_complete: Callable[[], None] | None = None
        self.when_broken: Callable[[], None] | None = None  # called with each of the `breaks`
        self.when_served: Callable[[], None] | None = None  # called when the server begins to serve the kind, or ceases to
        self.when_current: Callable[[], None] | None = None  # called when the state may no longer be stale, which no event tells
        self.error: Exception | None = None
        self._refused_since: float | None = None  # when the server began to answer each try with an error
        self.confirmed_at = float("-inf")  # when, on the loop's clock, the server last confirmed that our state is current
        self.version = ""  # resourceVersion up to which the state is known; empty while a list is needed
        self.lists = self.streams = self.events = 0
        # How often a stream has ended, except by silence or on our request: the server that answers the next one may be another.
        self.breaks = 0
        self.until_defined: Callable[[str, float, bool], Awaitable[bool]] | None = None  # for a definition: see `DefinitionWatch`
        self._is_served: bool | None = None  # None until the server has answered
        self._unserved_since = float("-inf")  # on the loop's clock
        self._deadline: asyncio.Timeout | None = None  # of the open stream
        self._opened = float("inf")  # when the server accepted that stream
        self._is_refreshing = False  # the open stream is to be closed, for one that begins with the current state
        self._is_requested = False  # by `refresh`: somebody waits for a current state
        self._may_have_gone_back = False  # the server was away, and may have been restored from a backup
        self._cluster, self._objects, self._compactor, self._backoff = cluster, objects, compactor, backoff

    @property
    def is_known(self) -> bool:
        """Reports whether the state is known, as of the last contact with the server."""
        return self.complete and (self.query.optional or not isinstance(self.error, UnknownKind))

    @property
    def is_refused(self) -> bool:
        """Reports whether the server has answered each try with an error for a while: others that it answers may be read."""
        return self._refused_since is not None and asyncio.get_running_loop().time() - self._refused_since >= REFUSED

    def staleness(self, since: float = float("-inf")) -> str:
        """Returns why the known state may be stale; empty if it is as current as a watch can be.

        `since` is a time of the loop's clock: a state that the server has not confirmed after it counts as stale, too.
        """
        kind, error = self.query.kind.group_kind, self.error
        if isinstance(error, UnknownKind):
            return "" if self.query.optional else f"{kind} is not served: {error}"
        if error is not None:
            return f"{kind} cannot be {'followed' if self.complete else 'listed'}: {error}"
        if not self.complete or not self.version:
            return f"{kind} is not listed yet"
        if asyncio.get_running_loop().time() - self.confirmed_at > self.stall:
            return f"no watch events for {kind} for more than {self.stall:g} s"
        return f"no watch events for {kind} since this replica leads" if self.confirmed_at < since else ""

    def refresh(self, since: float = float("-inf")) -> None:
        """Requests the whole state again, if it is stale only because the server was silent.

        For callers that need a current state now. The next event or bookmark would confirm the state as well, but may come only in ten
        minutes for a kind without changes; the state of such a kind is mostly small and read within a fraction of a second.
        """
        if self.error is None and self.version and self.staleness(since):
            self.version, self._is_refreshing, self._is_requested = "", True, True
            if self._deadline is not None and not self._deadline.expired():  # one that has expired is ending the stream anyway
                self._deadline.reschedule(asyncio.get_running_loop().time())

    async def run(self) -> None:
        """Lists and watches until it is cancelled."""
        while True:
            try:
                resource = await self._cluster.resource(self.query.kind)
                await self._stream(resource._replace(metadata_only=self.query.metadata_only))
                delay = self._delay_after_end()
            except Expired:
                self.version = ""
                delay = self._delay_after_end()
            except UnknownKind as error:
                cause = await self._confirmed(error)
                if isinstance(cause, UnknownKind):
                    self._clear()
                delay = self._delay_after_error(cause)
            except Exception as error:  # giving up would leave the cache stale for ever
                delay = self._delay_after_error(error)
            await self._wait(delay)

    async def _confirmed(self, error: UnknownKind) -> Exception:
        """Returns the error, if discovery does not know the kind either; else why that is not known.

        A load balancer answers 404 to everything while it has no server, and nothing may count as gone because of that.
        """
        try:
            await self._cluster.resource(self.query.kind)
        except Exception as other:
            return other
        return Unreachable(f"{error}; but it is among the kinds that the server serves")

    async def _wait(self, seconds: float) -> None:
        """Waits before the next try; for a kind that is not served, until a definition changes."""
        if self.until_defined is None or not isinstance(self.error, UnknownKind):
            await asyncio.sleep(seconds)
        else:
            may_load = asyncio.get_running_loop().time() - self._unserved_since < LOADING
            if await self.until_defined(self.query.kind.group, seconds, may_load):
                self._backoff.reset()

    def _delay_after_end(self) -> float:
        """Returns the seconds to wait after a stream has ended without an error: 0, unless short streams end repeatedly."""
        self._note_end()
        if self._is_refreshing:
            return 0.0
        self._note_break()
        if self._backoff.failures == 0:
            self._backoff.failures = 1
            return 0.0
        return self._backoff.next()

    def _note_break(self) -> None:
        self.breaks += 1
        if self.when_broken is not None:
            self.when_broken()

    def _note_end(self) -> None:
        """Resets the back-off after a long-lived stream."""
        if asyncio.get_running_loop().time() - self._opened > LONG_LIVED:
            self._backoff.reset()
        self._opened = float("inf")

    def _delay_after_error(self, error: Exception) -> float:
        """Records an error and returns the seconds to wait before the next try: the back-off, or longer if the server asks for it."""
        self._note_end()
        self.error = error
        if isinstance(error, Silent):
            return 0.0  # it was waited for long enough, and is no sign of a server in trouble
        self._may_have_gone_back = True
        self._note_break()
        if isinstance(error, UnknownKind):
            self._note_served(False)
        if not isinstance(error, ApiError):
            self._refused_since = None  # a server that cannot be reached says nothing about this kind
        elif self._refused_since is None:
            self._refused_since = asyncio.get_running_loop().time()
        if isinstance(error, FATAL):
            self.settled.set()
        if isinstance(error, Invalid) or (isinstance(error, ApiError) and any(cause.reason == TOO_LARGE for cause in error.causes)):
            self.version = ""  # a server that was restored from a backup does not know our version
        retry_after = error.retry_after if isinstance(error, ApiError) else None
        return max(retry_after or 0.0, self._backoff.next())

    async def _stream(self, resource: Resource) -> None:
        """Reads one stream, from the known version or from a new state, until it ends."""
        if self.version and self._may_have_gone_back:
            await self._forget_a_version_to_come(resource)
        if self.version or not self.watch_list:
            await self._list_if_needed(resource)
            return await self._follow(resource)
        try:
            return await self._follow(resource, initial=True)
        except Invalid:
            self.watch_list = False  # an older server without watch-lists: use lists from now on
            return await self._stream(resource)

    async def _forget_a_version_to_come(self, resource: Resource) -> None:
        """Has the next stream begin with the current state if the server has gone back to a version before ours.

        So it is after a restore of its storage. It would take our version, and tell nothing until its own have come as far, and what is
        known of the time that never was would stay.
        """
        listing = await self._cluster.list(resource, self._namespace(resource), fields=OF_NO_OBJECT)
        if is_older(as_of(listing.resource_version), as_of(self.version)):
            self.version = ""
        self._may_have_gone_back = False

    async def _list_if_needed(self, resource: Resource) -> None:
        if not self.version:
            self._begin_list()
            listing = await self._cluster.list(resource, self._namespace(resource), labels=self.query.labels)
            self._replace([self._compacted(item) for item in listing.items], listing.resource_version)

    async def _follow(self, resource: Resource, *, initial: bool = False) -> None:
        """Reads a watch until it ends or `refresh` is called. Raises `Silent` if it is silent for too long."""
        self.streams += 1
        self._is_refreshing = False
        stream = self._cluster.watch(
            resource, self._namespace(resource), labels=self.query.labels, resource_version=self.version, initial=initial
        )
        try:
            async with asyncio.timeout(self.stall) as deadline, aclosing(stream) as events:
                self._deadline = deadline
                if initial:
                    await self._read_state(events, deadline)
                await self._read_changes(events, deadline)
        except TimeoutError:
            if not self._is_refreshing:
                raise Silent(f"the watch of {resource.plural} was silent for {self.stall:g} s") from None
        finally:
            self._deadline = None

    async def _read_state(self, events: AsyncIterator[WatchEvent], deadline: asyncio.Timeout) -> None:
        """Reads the initial state of a watch-list (KEP-3157), up to the bookmark that ends it."""
        self._begin_list()
        state: dict[Ref, Manifest] = {}
        async for event in events:
            self._extend(deadline)
            if event.type == "DELETED":
                state.pop(Ref.of(event.object), None)
            elif event.type not in ("BOOKMARK", "OPENED"):
                ref = Ref.of(event.object)
                known = self._objects.get(ref)  # reused if unchanged, as most objects are when a known state is only confirmed
                state[ref] = known if known is not None and is_same(known, event.object) else self._compacted(event.object)
            elif event.initial_end:
                return self._replace(list(state.values()), resource_version_of(event.object))
        raise Unreachable("the watch ended before it delivered the initial state")

    async def _read_changes(self, events: AsyncIterator[WatchEvent], deadline: asyncio.Timeout) -> None:
        async for event in events:
            self._extend(deadline)
            if event.type == "OPENED":
                # The server is reachable and knows our version, but may have more events. So this does not confirm the state, which stays
                # stale for a leader that has been elected since.
                self._note_contact()
                continue
            self._confirm()
            if event.type == "DELETED":
                self._objects.observe_deletion(self._compacted(event.object) if self.query.keeps_deleted else event.object)
            elif event.type != "BOOKMARK":
                self._objects.observe(event.object, self._compacted)
            self.version = resource_version_of(event.object)
            self.events += 1
            if self.events % YIELD_EVERY == 0:
                await asyncio.sleep(0)

    def _extend(self, deadline: asyncio.Timeout) -> None:
        """Extends the deadline of a live stream, but not for every event, since each extension creates a timer."""
        now = asyncio.get_running_loop().time()
        self._opened = min(self._opened, now)
        until = now + self.stall
        if until - (deadline.when() or 0.0) > self.stall / 8:
            deadline.reschedule(until)

    def _begin_list(self) -> None:
        self.lists += 1
        self._objects.begin_list(*self._scope)

    def _replace(self, manifests: list[Manifest], version: str) -> None:
        self._objects.replace(*self._scope, manifests, version)
        self.version = version
        self._confirm()
        self._set_complete()
        self._note_served(True)

    def _clear(self) -> None:
        """Removes all objects of a kind that is not served; its definition may come later."""
        self._objects.replace(*self._scope, [], "")
        self.version = ""
        self._set_complete()

    def _set_complete(self) -> None:
        self.complete = True
        self.settled.set()
        callback, self.when_complete = self.when_complete, None
        if callback is not None:
            callback()

    def _note_served(self, is_served: bool) -> None:
        """Notifies of a kind that becomes served or unserved; the first observation does not count."""
        has_changed, is_new = self._is_served not in (None, is_served), self._is_served is not is_served
        self._is_served = is_served
        if is_new and not is_served:
            self._unserved_since = asyncio.get_running_loop().time()
        if has_changed and self.when_served is not None:
            self.when_served()

    def _confirm(self) -> None:
        """Records that the server has just shown our state to be current."""
        self.confirmed_at = asyncio.get_running_loop().time()
        self._backoff.reset()
        self._note_contact()
        if self._is_requested:
            self._is_requested = False
            self._notify_current()

    def _note_contact(self) -> None:
        """Records that the server has answered without an error."""
        had_error, self.error, self._refused_since = self.error is not None, None, None
        if had_error:
            self._notify_current()

    def _notify_current(self) -> None:
        if self.when_current is not None:
            self.when_current()

    @property
    def _scope(self) -> tuple[str, str, str]:
        return self.query.kind.group, self.query.kind.kind, self.query.namespace

    def _compacted(self, manifest: Manifest) -> Manifest:
        return self._compactor.keep(manifest, managed=self.query.managed)

    def _namespace(self, resource: Resource) -> str:
        return self.query.namespace if resource.namespaced else ""
