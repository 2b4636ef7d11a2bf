"""Defines `grove serve`."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from grove_cli.cluster import session as sessions
from grove_cli.cluster.completed_names import names_of
from grove_cli.cluster.options import all_namespaces_option, operator_config_option, query_options, snapshot_option, text_option
from grove_cli.cluster.session import Failed, Session, needing
from grove_cli.cluster.target import take_target
from grove_cli.exit_codes import EXIT_ERROR
from grove_cli.options import rules_option

if TYPE_CHECKING:
    from applier.cache import WatchCache
    from grove_cli.serve.server import PageServer
    from grove_cli.serve.stage import Source
    from grove_compiler.step import StepContext


class ListenAddress(NamedTuple):
    """The address of the server, and the host names that requests may have."""

    address: str
    port: int
    names: tuple[str, ...]

    @property
    def shown(self) -> str:
        """The address in a URL."""
        return f"[{self.address}]" if ":" in self.address else self.address


@click.command(
    "serve",
    epilog="""\b
Examples:
  grove serve                           the sets of a namespace, at http://127.0.0.1:8700/
  grove serve qwen -n inference         one set
  grove serve -A --port 9000            the sets of all namespaces
  grove serve --snapshot now.yaml       recorded objects

\b
Exit codes: 130 interrupted, 2 the cluster cannot be read, or the address is not available.""",
)
@click.argument("name", metavar="[NAME]", default="", shell_complete=names_of("PodCliqueSet"))
@query_options
@all_namespaces_option
@click.option(
    "--port", default=8700, show_default=True, type=click.IntRange(0, 65535), metavar="N", help="Port to listen on; 0 for any free port."
)
@text_option("--bind", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Address to listen on.")
@text_option("--allow-host", multiple=True, metavar="NAME", help="Host name to accept in requests; repeatable.")
@snapshot_option
@operator_config_option
@rules_option
def command(
    name: str,
    all_namespaces: bool,
    port: int,
    bind: str,
    allow_host: tuple[str, ...],
    snapshot: str | None,
    config: str | None,
    rules: tuple[str, ...],
    **given: Any,
) -> int:
    """Show PodCliqueSets in a browser: the page of `grove graph` with live states, gates and waits.

    Nothing is written to the cluster. Everyone who can reach the address sees what you may read; the default is reachable only locally.
    """
    target, at = take_target(given), ListenAddress(bind, port, allow_host)
    if snapshot:
        return sessions.attempt(lambda: _of_file(snapshot, name, target.namespace, config, rules, at))

    async def work(session: Session) -> int:
        from applier.cache import Query
        from applier.ref import EVENT
        from grove_cli.operator.start_files import as_installed, live_context, read_start_files
        from grove_cli.serve.stage import live_source, readable
        from grove_operator.controller.operator import watched

        files = await as_installed(read_start_files(config, rules), session.cluster)
        shared = await live_context(files, session)
        place = "" if all_namespaces else session.namespace
        wanted = [*watched(place, shared.settings), Query(EVENT, place)]
        async with readable(session.cluster, wanted) as (cache, watches):
            kinds = dict.fromkeys(watch.kind.kind for watch in wanted if watch not in watches)
            unread = [*kinds, *filter(None, [files.unknown])]
            await _serve(live_source(cache, watches, unread), shared, place, name, at, cache)
        return 0

    return sessions.run(work, target, long=True, findings=EXIT_ERROR)


def _of_file(snapshot: str, name: str, namespace: str, config: str | None, rules: tuple[str, ...], at: ListenAddress) -> int:
    from grove_cli.operator.read_objects import in_file
    from grove_cli.operator.start_files import recorded_context
    from grove_cli.serve.scene import SceneObjects

    shared, existing = recorded_context(config, rules), in_file(snapshot)
    snapshot_objects = SceneObjects(existing.objects, frozenset(existing.unserved), is_complete=False)
    asyncio.run(_serve(lambda: snapshot_objects, shared, namespace, name, at))
    return 0


async def _serve(
    source: Source, context: StepContext, namespace: str, name: str, at: ListenAddress, cache: WatchCache | None = None
) -> None:
    """Serves until it is cancelled. Raises `Failed` when it cannot listen, or a library is missing."""
    with needing("serving a page needs", "cluster", "observe"):
        from grove_cli.serve.server import PageServer
    from grove_cli.serve.answers import timeline, why
    from grove_cli.serve.scene import draw_scene
    from grove_cli.serve.stage import Stage

    stage = Stage(source, partial(draw_scene, context=context, namespace=namespace, name=name))
    if cache is not None:
        cache.subscribe(stage.change)
        cache.subscribe_served(stage.change)
    server = PageServer(stage, lambda ref: why(ref, stage.snapshot, context), lambda ref: timeline(ref, stage.snapshot), at.names)
    try:
        port = await _started(server, at)
        sessions.say(f"serving at http://{at.shown}:{port}/ until interrupted")
        await stage.run()
    finally:
        await server.stop()


async def _started(server: PageServer, at: ListenAddress) -> int:
    try:
        return await server.start(at.address, at.port)
    except OSError as error:
        raise Failed(f"cannot listen on {at.shown}:{at.port}: {error.strerror or error}") from None
