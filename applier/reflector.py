"""Lists the objects of a kind once and follows their changes, across watch streams that end and break."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from applier.backoff import Backoff
from applier.cluster import Cluster, Listing, Resource, WatchEvent
from applier.errors import ClusterError, Expired, ServerFailure, TooManyRequests, Unreachable
from applier.ref import resource_version_of

FIRST_WAIT, MAX_WAIT = 0.2, 10.0  # back-off in seconds before a broken watch is restarted


def _ignore(error: ClusterError) -> None:
    """Ignores an outage."""


async def list_and_watch(
    cluster: Cluster, resource: Resource, namespace: str = "", *, labels: str = "", on_outage: Callable[[ClusterError], None] = _ignore
) -> AsyncGenerator[Listing | WatchEvent, None]:
    """Yields the state, then its changes; the state again when the server no longer has the changes in between (410). Never ends.

    A caller that stops early has to close the iterator (`contextlib.aclosing`). Raises `ClusterError` if the server denies it; what is
    likely to pass is tried again, and passed to `on_outage`.
    """
    backoff, version = Backoff(FIRST_WAIT, MAX_WAIT), ""
    while True:
        began = version
        try:
            if not version:
                listing = await cluster.list(resource, namespace, labels=labels)
                version = listing.resource_version
                yield listing
            async with aclosing(cluster.watch(resource, namespace, labels=labels, resource_version=version)) as events:
                async for event in events:
                    if event.type == "OPENED":
                        continue
                    backoff.reset()
                    version = resource_version_of(event.object)
                    yield event
        except Expired:
            version = ""
        except (Unreachable, TooManyRequests, ServerFailure) as error:
            on_outage(error)
            began = version
        if version == began:  # no progress: back off before the next request
            await asyncio.sleep(backoff.next())
