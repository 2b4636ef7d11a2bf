"""Requests the log of a container."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from applier.cluster import Cluster, Resource
from grove_cli.logs.as_text import Line, line_of
from grove_cli.queries.log_sources import LogSource


async def lines_of(
    cluster: Cluster, pods: Resource, namespace: str, source: LogSource, query: Mapping[str, str], silence: float | None = None
) -> AsyncGenerator[Line, None]:
    """Yields the lines of a container's log. Raises `ClusterError`."""
    asked = {"container": source.container, "timestamps": "true", **query}
    async with aclosing(cluster.lines(pods, namespace, source.pod, "log", asked, silence=silence)) as lines:
        async for line in lines:
            yield line_of(source.label, line)
