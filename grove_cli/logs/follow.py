"""Follows the logs of a set's pods: those that run, and those that come later."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from contextlib import aclosing, suppress

from applier.backoff import Backoff
from applier.cluster import Cluster, Listing, Resource
from applier.errors import ClusterError, Forbidden, Invalid, NotFound, Unreachable
from applier.ref import Manifest
from applier.reflector import list_and_watch
from grove_cli.cluster.session import Failed, say
from grove_cli.logs.lines import NEVER, Line, Moment, Printer, lines_of
from grove_cli.queries.log_sources import LogSelection, LogSource, check_container
from kube_objects.words import counted

AHEAD = 10_000
"""Lines that are read ahead of a slow reader of the output."""
SILENCE = 300.0
"""Seconds without a line after which a log is requested again, since its connection may be dead."""
FIRST_WAIT, MAX_WAIT = 0.5, 30.0


class Follower:
    """Follows the selected logs until it is interrupted. `limit` is how many may be followed at once."""

    def __init__(
        self,
        cluster: Cluster,
        pods: Resource,
        namespace: str,
        selection: LogSelection,
        query: Mapping[str, str],
        printer: Printer,
        limit: int,
    ) -> None:
        self._cluster, self._pods, self._namespace = cluster, pods, namespace
        self._selection, self._query, self._printer, self._limit = selection, query, printer, limit
        self._queue: asyncio.Queue[Line | BaseException] = asyncio.Queue(AHEAD)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._running: set[str] = set()
        self._seen: set[str] = set()
        self._last: dict[str, Moment] = {}

    async def run(self) -> int:
        """Prints lines as they come. Raises `ClusterError`, `NoSuchObject`, `Failed`."""
        watch = asyncio.ensure_future(self._guarded(self._watch()))
        try:
            while True:
                found = [await self._queue.get()]
                while not self._queue.empty():
                    found.append(self._queue.get_nowait())
                self._printer.print(line for line in found if isinstance(line, Line))
                for error in found:
                    if isinstance(error, BaseException):
                        raise error
        finally:
            tasks = [watch, *self._tasks.values()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _guarded(self, work: Coroutine[None, None, None]) -> None:
        """Passes an error of a task on to the loop that prints."""
        try:
            await work
        except Exception as error:
            await self._queue.put(error)

    async def _watch(self) -> None:
        """Starts to follow each container that starts."""
        query = self._query
        async with aclosing(list_and_watch(self._cluster, self._pods, self._namespace, labels=self._selection.labels)) as changes:
            async for change in changes:
                if isinstance(change, Listing):
                    if query is self._query:
                        self._begin(change.items)
                    self._start(change.items, query)
                elif change.type in ("ADDED", "MODIFIED"):
                    self._start([change.object], query)
                query = {}  # of what comes later all lines are new

    def _begin(self, pods: list[Manifest]) -> None:
        check_container(pods, self._selection.container)
        if not self._selection.sources(pods):
            say(f"no pods of PodCliqueSet {self._selection.set!r} found yet; waiting for them")

    def _start(self, pods: list[Manifest], query: Mapping[str, str]) -> None:
        for source in self._selection.sources(pods):
            (self._running.add if source.runs else self._running.discard)(source.id)
            if source.waits or source.id in self._seen:
                continue
            if len(self._tasks) >= self._limit:
                logs = counted(self._limit, "log")
                raise Failed(f"more than {logs} would be followed: select fewer, or increase --max-log-requests")
            self._seen.add(source.id)
            self._tasks[source.id] = asyncio.ensure_future(self._guarded(self._follow(source, query)))

    async def _follow(self, source: LogSource, query: Mapping[str, str]) -> None:
        """Follows one log until its container has ended; after a broken connection from where it was."""
        backoff = Backoff(FIRST_WAIT, MAX_WAIT)
        try:
            while True:
                began = self._last.get(source.id, NEVER)
                with suppress(Unreachable):
                    await self._copy(source, {"sinceTime": began[1].decode()} if began[1] else query, began)
                if source.id not in self._running:
                    return
                if self._last.get(source.id, NEVER) != began:
                    backoff.reset()
                await asyncio.sleep(backoff.next())
        except Forbidden:
            raise
        except NotFound:
            pass
        except Invalid:  # it has not started after all; the watch tells when it has
            self._seen.discard(source.id)
        except ClusterError as error:
            say(f"pod/{source.pod}: {error}")
        finally:
            self._tasks.pop(source.id, None)

    async def _copy(self, source: LogSource, query: Mapping[str, str], after: Moment) -> None:
        """Queues the lines after a moment until the server ends them, and records the moment of each."""
        asked = {**query, "follow": "true"}
        async with aclosing(lines_of(self._cluster, self._pods, self._namespace, source, asked, SILENCE)) as lines:
            async for line in lines:
                if line.moment > after or not line.stamp:
                    await self._queue.put(line)
                    self._last[source.id] = max(self._last.get(source.id, NEVER), line.moment)
