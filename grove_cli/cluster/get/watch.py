"""Implements `grove get … --watch`: prints the output again whenever an object in it changes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager, suppress
from typing import NamedTuple, Protocol, TypeVar

from applier.cluster import Cluster, Resource, WatchEvent
from applier.errors import ClusterError
from applier.reflector import list_and_watch
from grove_cli import output as outputs
from grove_cli.cluster.session import Session

SETTLE = 0.25  # seconds in which changes are collected before objects are read again
MAX_WAIT = 15.0  # seconds after which objects are read again without a change, as kinds without objects are not watched
PAUSE = 1.0  # seconds until a denied watch is tried again


class Drawing(NamedTuple):
    """An output, and the resources to watch for changes of it."""

    text: bytes
    kinds: Sequence[Resource]


class Watchable(Protocol):
    """What was read, with the resources to watch for changes of it."""

    @property
    def kinds(self) -> Sequence[Resource]: ...


W = TypeVar("W", bound=Watchable)
Read = Callable[[], Awaitable[Drawing]]
Draw = Callable[[bytes], None]


async def watch(session: Session, read: Read, namespace: str, output: str) -> int:
    """Prints until it is interrupted; an empty namespace stands for all. Raises the errors of `read`, also for a deleted object."""
    with _drawing(output) as draw:
        await follow(session.cluster, read, namespace, draw)
    return 0


async def follow(cluster: Cluster, read: Read, namespace: str, draw: Draw) -> None:
    """Reads and draws after each change. Raises the errors of `read`."""
    async with aclosing(readings(cluster, read, namespace)) as drawings:
        async for drawing in drawings:
            draw(drawing.text)


async def readings(cluster: Cluster, read: Callable[[], Awaitable[W]], namespace: str) -> AsyncGenerator[W, None]:
    """Yields what is read now and after each change. Raises the errors of `read`."""
    changed = asyncio.Event()
    watches: dict[Resource, asyncio.Task[None]] = {}
    try:
        while True:
            changed.clear()
            found = await read()
            yield found
            for resource in found.kinds:
                if resource not in watches:
                    place = namespace if resource.namespaced else ""
                    watches[resource] = asyncio.ensure_future(_watch(cluster, resource, place, changed))
            with suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), MAX_WAIT)
                await asyncio.sleep(SETTLE)
    finally:
        for task in watches.values():
            task.cancel()
        await asyncio.gather(*watches.values(), return_exceptions=True)


async def _watch(cluster: Cluster, resource: Resource, namespace: str, changed: asyncio.Event) -> None:
    """Sets `changed` for each change of a kind, until it is cancelled. A denied watch is tried again."""
    while True:
        with suppress(ClusterError):
            async with aclosing(list_and_watch(cluster, resource, namespace)) as events:
                async for event in events:
                    if not (isinstance(event, WatchEvent) and event.type == "BOOKMARK"):
                        changed.set()  # by a list as well: objects may have changed since they were read
        await asyncio.sleep(PAUSE)


@contextmanager
def _drawing(output: str) -> Iterator[Draw]:
    """Yields the function that draws: in place on a terminal, one output after another elsewhere."""
    if output not in ("text", "wide", "") or not sys.stdout.isatty():
        yield lambda text: outputs.write([text])
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(highlight=False)

    def shown(text: bytes) -> Text:
        return Text.from_ansi(fitted(text.decode(errors="replace"), console.size.height))

    # `rich` would crop the end of a taller output, which is the summary.
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
        yield lambda text: live.update(shown(text), refresh=True)


def fitted(text: str, height: int) -> str:
    """Truncates an output to `height` lines: its beginning, the number of omitted lines, and the summary."""
    lines = text.splitlines()
    if len(lines) <= height:
        return text
    foot = text.rstrip("\n").rpartition("\n\n")[2].splitlines()[: max(1, height - 2)]
    head = lines[: max(0, height - len(foot) - 1)]
    omitted = len(lines) - len(head) - len(foot) - 1  # the empty line before the summary is no loss
    return "\n".join([*head, f"… {omitted} more lines", *foot]) + "\n"
