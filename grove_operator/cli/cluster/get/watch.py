"""`grove get tree --watch`: the tree, drawn again whenever something of it changes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import aclosing, contextmanager, suppress

from applier.cluster import Cluster, Resource, WatchEvent
from applier.errors import ClusterError
from applier.reflector import list_and_watch
from grove_operator.cli import output as outputs
from grove_operator.cli.cluster.get.output import tree_bytes
from grove_operator.cli.cluster.session import Session
from grove_operator.cluster.readiness import Judge
from grove_operator.cluster.tree import branches
from grove_operator.cluster.tree_query import Forest, read_tree

SETTLE = 0.25  # seconds in which changes are collected before the tree is read again
LONGEST = 15.0  # seconds after which it is read again all the same: kinds that it did not have are not watched
PAUSE = 1.0  # seconds before a kind that the server would not let us watch is tried again

Draw = Callable[[Forest], None]


async def watch_tree(session: Session, name: str, output: str, judge: Judge) -> int:
    """Draws until it is interrupted, or until the object is gone. Raises as `read_tree`."""
    with _drawing(output, judge) as draw:
        await follow(session.cluster, name, session.namespace, draw)
    return 0


async def follow(cluster: Cluster, name: str, namespace: str, draw: Draw) -> None:
    """Reads and draws, again and again; raises when the object is gone, and when nothing can be read."""
    changed = asyncio.Event()
    watches: dict[Resource, asyncio.Task[None]] = {}
    try:
        while True:
            changed.clear()
            forest = await read_tree(cluster, name, namespace)
            draw(forest)
            for resource in _present(forest):
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


def _present(forest: Forest) -> list[Resource]:
    """The kinds of which the tree has objects."""
    kinds = {branch.ref[:2] for branch, _ in branches(forest.top)}
    return [resource for resource in forest.kinds if (resource.kind.group, resource.kind.kind) in kinds]


@contextmanager
def _drawing(output: str, judge: Judge) -> Iterator[Draw]:
    """How a tree is drawn: in place on a terminal, one after another elsewhere."""
    if output == "json" or not sys.stdout.isatty():
        yield lambda forest: outputs.write([tree_bytes(forest, output, judge)])
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(highlight=False)

    def shown(forest: Forest) -> Text:
        text = tree_bytes(forest, output, judge).decode(errors="replace")
        return Text.from_ansi(fitted(text, console.size.height))

    # Of what is taller than the screen `rich` would crop the end, which is the summary: so it is made to fit before.
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
        yield lambda forest: live.update(shown(forest), refresh=True)


def fitted(text: str, height: int) -> str:
    """A tree's text in so many lines: its beginning and its summary, with a line between them that counts what is left out."""
    lines = text.splitlines()
    if len(lines) <= height:
        return text
    foot = text.rstrip("\n").rpartition("\n\n")[2].splitlines()[: max(1, height - 2)]
    head = lines[: max(0, height - len(foot) - 1)]
    left_out = len(lines) - len(head) - len(foot) - 1  # the empty line before the summary is no loss
    return "\n".join([*head, f"… {left_out} more, which the screen has no room for", *foot]) + "\n"
