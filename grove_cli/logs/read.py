"""Reads the logs of a set's pods once, by time."""

from __future__ import annotations

import asyncio
import heapq
from collections import defaultdict
from collections.abc import Mapping, Sequence
from operator import attrgetter

from applier.cluster import Cluster, Resource
from applier.errors import ClusterError, Invalid, NotFound
from applier.ref import POD
from grove_cli.cluster.session import Failed, Session, say
from grove_cli.logs.lines import Line, Printer, lines_of
from grove_cli.queries.log_sources import LogSelection, LogSource, check_clique, check_container
from grove_cli.queries.tree_query import read_set
from kube_objects.words import listed

__all__ = ["Printer", "show_logs"]


async def show_logs(
    session: Session, name: str, selection: LogSelection, query: Mapping[str, str], printer: Printer, *, follow: bool, limit: int
) -> int:
    """Prints the selected logs, and with `follow` new lines until it is interrupted. Raises `ClusterError`, `NoSuchObject`, `Failed`."""
    cluster = session.cluster
    _, pcs = await read_set(cluster, name, session.namespace)
    check_clique(pcs, selection.clique)
    pods = await cluster.resource(POD)
    if follow:
        from grove_cli.logs.follow import Follower

        return await Follower(cluster, pods, session.namespace, selection, query, printer, limit).run()
    found = (await cluster.list(pods, session.namespace, labels=selection.labels)).items
    check_container(found, selection.container)
    sources = selection.sources(found)
    if not sources:
        say(f"no pods of PodCliqueSet {selection.set!r} found")
    return await _print(cluster, pods, session.namespace, sources, query, printer, limit)


async def _print(
    cluster: Cluster,
    pods: Resource,
    namespace: str,
    sources: Sequence[LogSource],
    query: Mapping[str, str],
    printer: Printer,
    limit: int,
) -> int:
    is_previous = "previous" in query
    begun = [source for source in sources if (source.was_restarted if is_previous else not source.waits)]
    slots = asyncio.Semaphore(limit)
    wrong: dict[str, list[str]] = defaultdict(list)
    late: list[LogSource] = [source for source in sources if source not in begun]

    async def read(source: LogSource) -> list[Line]:
        async with slots:
            try:
                return [line async for line in lines_of(cluster, pods, namespace, source, query)]
            except (Invalid, NotFound) as error:  # it has not started after all, or is gone
                late.append(source._replace(waits=str(error)))
            except ClusterError as error:
                wrong[str(error)].append(f"pod/{source.pod}")
            return []

    logs = await asyncio.gather(*map(read, begun))
    printer.print(heapq.merge(*logs, key=attrgetter("moment")))
    if late:
        say(_without_logs(late, "was not restarted" if is_previous else ""))
    if wrong:
        raise Failed(*(f"{listed(names)}: {error}" for error, names in wrong.items()))
    return 0


def _without_logs(sources: Sequence[LogSource], why: str) -> str:
    names = [f"{source.pod}/{source.container} ({why or source.waits})" for source in sources]
    return f"no logs {'of previous containers' if why else 'yet'}: {listed(names)}"
