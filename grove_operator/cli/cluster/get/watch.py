"""`grove get … --watch`: a drawing, made again whenever something in it changes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager, suppress
from typing import NamedTuple

from applier.cluster import Cluster, Resource, WatchEvent
from applier.errors import ClusterError
from applier.reflector import list_and_watch
from grove_operator.cli import output as outputs
from grove_operator.cli.cluster.session import Session

SETTLE = 0.25  # seconds in which changes are collected before the tree is read again
LONGEST = 15.0  # seconds after which it is read again all the same: kinds that it did not have are not watched
PAUSE = 1.0  # seconds before a kind that the server would not let us watch is tried again


class Drawing(NamedTuple):
    """What is shown, and the kinds whose changes may change it."""

    text: bytes
    kinds: Sequence[Resource]


Read = Callable[[], Awaitable[Drawing]]
Draw = Callable[[bytes], None]


async def watch(session: Session, read: Read, namespace: str, output: str) -> int:
    """Draws until it is interrupted, or until what is drawn is gone; all namespaces where none is given. Raises what `read` raises."""
    with _drawing(output) as draw:
        await follow(session.cluster, read, namespace, draw)
    return 0


async def follow(cluster: Cluster, read: Read, namespace: str, draw: Draw) -> None:
    """Reads and draws, again and again; raises when `read` does."""
    changed = asyncio.Event()
    watches: dict[Resource, asyncio.Task[None]] = {}
    try:
        while True:
            changed.clear()
            drawing = await read()
            draw(drawing.text)
            for resource in drawing.kinds:
                if resource not in watches:
                    place = namespace if resource.namespaced else ""
                    watches[resource] = asyncio.ensure_future(_watch(cluster, resource, place, changed))
            with suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), LONGEST)
                await asyncio.sleep(SETTLE)
    finally:
        for task in watches.values():
            task.cancel()
        await asyncio.gather(*watches.values(), return_exceptions=True)


async def _watch(cluster: Cluster, resource: Resource, namespace: str, changed: asyncio.Event) -> None:
    """Notes that something of a kind changed, until it is cancelled. Where watching is refused, reading again has to do."""
    while True:
        with suppress(ClusterError):
            async with aclosing(list_and_watch(cluster, resource, namespace)) as told:
                async for news in told:
                    if not (isinstance(news, WatchEvent) and news.type == "BOOKMARK"):
                        changed.set()  # by a list as well: something may have happened between the drawing and that
        await asyncio.sleep(PAUSE)


@contextmanager
def _drawing(output: str) -> Iterator[Draw]:
    """Gives how it is drawn: in place on a terminal, one after another elsewhere."""
    if output == "json" or not sys.stdout.isatty():
        yield lambda text: outputs.write([text])
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(highlight=False)

    def shown(text: bytes) -> Text:
        return Text.from_ansi(fitted(text.decode(errors="replace"), console.size.height))

    # Of what is taller than the screen `rich` would crop the end, which is the summary: so it is made to fit before.
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
        yield lambda text: live.update(shown(text), refresh=True)


def fitted(text: str, height: int) -> str:
    """Returns a tree's text in so many lines: its beginning and its summary, with a line between them that counts what is left out."""
    lines = text.splitlines()
    if len(lines) <= height:
        return text
    foot = text.rstrip("\n").rpartition("\n\n")[2].splitlines()[: max(1, height - 2)]
    head = lines[: max(0, height - len(foot) - 1)]
    left_out = len(lines) - len(head) - len(foot) - 1  # the empty line before the summary is no loss
    return "\n".join([*head, f"… {left_out} more, which the screen has no room for", *foot]) + "\n"
