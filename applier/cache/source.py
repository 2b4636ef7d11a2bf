"""One list and watch that never ends: how a cache learns what happens to a kind.

A stream that ends or breaks is taken up where it stopped. Where the server no longer knows that point (410) everything is listed again and
compared with what was known, so that deletions in between are noticed. Meanwhile the cache goes on serving what it knows.
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
"""What waiting does not mend: somebody has to do something."""

TOO_LARGE = "ResourceVersionTooLarge"
BREATHER = 256  # events; a busy stream lets others run after so many
LONG = 30.0  # seconds after which a stream that ends has been one, whatever it told: nobody is hammered by who comes back then


class Silent(Unreachable):
    """A stream told nothing for too long, so that the connection may be dead. Most often nothing has happened."""


class Source:
    """Keeps the objects of one kind, in one namespace or in all, as the server has them.

    `stall` is after how many seconds of silence a stream counts as dead. Servers send bookmarks about once a minute, but of a kind to
    which nothing happens only as often as etcd tells them that nothing does: every ten minutes (see `ask`). `settled` is set once the
    state is known, or once it is clear that it will not be; `complete` says which. `trouble` is what went wrong since the server last
    spoke to us.
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
        """Whether it is known which objects there are, or were when we last heard of them."""
        return self.complete and (self.wanted.optional or not isinstance(self.trouble, UnknownKind))

    def doubt(self, since: float = float("-inf")) -> str:
        """Returns why what is known may not be what is there; empty when it is, as far as anybody can know who is told by a watch.

        `since` is a time of the loop's clock: whoever was not heard of after it is in doubt, too.
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
        """Has the server tell the whole state anew, where all that is to be said against what is known is that nothing was heard.

        For who has to be sure now. A stream would tell as much with its next event or bookmark, of a kind to which nothing happens perhaps
        in ten minutes; its state is mostly small, and told within a fraction of a second.
        """
        if self.trouble is None and self.version and self.doubt(since):
            self.version, self._is_asked = "", True
            if self._deadline is not None:
                self._deadline.reschedule(asyncio.get_running_loop().time())

    async def run(self) -> None:
        """Listens until it is cancelled."""
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
            except Exception as error:  # a listener that gave up would leave the cache old for ever
                wait = self._failed(error)
            await self._wait(wait)

    async def _wait(self, seconds: float) -> None:
        """Waits before the next try: for a kind that is not served, until it may be."""
        if self.until_defined is None or not isinstance(self.trouble, UnknownKind):
            await asyncio.sleep(seconds)
        elif await self.until_defined(self.wanted.kind.group, seconds):
            self._backoff.reset()

    def _ended(self) -> float:
        """Returns how long to wait after a stream has ended as streams do: not at all, unless it was short and told nothing unasked."""
        self._note_end()
        self.breaks += 1
        if self._is_asked:
            return 0.0
        if self._backoff.failures == 0:
            self._backoff.failures = 1
            return 0.0
        return self._backoff.next()

    def _note_end(self) -> None:
        """Counts the end of a stream, if there was one."""
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
        """Follows one stream, from the state that is known or from a new one, until it ends."""
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
        """Takes over what a watch says, until it ends or the state is asked for. Raises `Silent` when it tells nothing for too long."""
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
        """Takes the state that a watch-list begins with (KEP-3157), up to the bookmark that ends it."""
        self._begin_list()
        found: dict[Ref, Manifest] = {}
        async for event in events:
            self._listen_on(deadline)
            if event.type == "DELETED":
                found.pop(Ref.of(event.object), None)
            elif event.type not in ("BOOKMARK", "OPENED"):
                ref = Ref.of(event.object)
                known = self._objects.get(ref)  # one that is known already is kept as it is: most are, of who only asks again
                found[ref] = known if known is not None and is_same(known, event.object) else self._kept(event.object)
            elif event.initial_end:
                return self._listed(list(found.values()), resource_version_of(event.object))
        raise Unreachable("the watch ended before it had told the state")

    async def _changes(self, events: AsyncIterator[WatchEvent], deadline: asyncio.Timeout) -> None:
        async for event in events:
            self._listen_on(deadline)
            if event.type == "OPENED":
                # The server is there and knows our version. Whether it has more to tell is not known yet, so that this is no word from it:
                # what waits for one since we lead (`doubt`) goes on waiting.
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
        """Notes that the server speaks, and puts off the deadline; not for each event, as every one would be a new timer."""
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
        """Takes out all objects of a kind that nobody serves; its definition may come later."""
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
        """Tells of a kind that comes or goes. What is heard of first is no news."""
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
