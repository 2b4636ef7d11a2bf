"""Finds out whether an operator of Grove leads sets: what they become is its to write, and nobody else's."""

from __future__ import annotations

from collections.abc import Sequence

from applier.cluster import Cluster
from applier.ref import Manifest, Ref
from grove_cli.queries.installed import LEASE_NAME, read_operators

SETS = "PodCliqueSet"


async def leading_operator(cluster: Cluster, live: Sequence[Manifest], now: float) -> str:
    """Returns what shows that an operator is at work, in a few words; empty where nothing does. `live` are objects of the cluster.

    An operator shows by its Deployment, by a Lease that it renews, or, where it runs elsewhere or nobody may read those, by the status of
    the sets: only an operator writes it. Raises `ClusterError`.
    """
    for one in await read_operators(cluster) or ():
        if one.ready:
            return f"Deployment {one.namespace}/{one.name}"
        if now < one.held_until:
            return f"Lease {one.namespace}/{LEASE_NAME}, held by {one.holder}"
    return reported_status(live)


def reported_status(live: Sequence[Manifest]) -> str:
    """Returns `status of PodCliqueSet …` for the first set whose status an operator has written; empty if there is none."""
    led = next((one for one in live if one["kind"] == SETS and (one.get("status") or {}).get("observedGeneration")), None)
    return f"status of {SETS} {Ref.of(led).namespace}/{Ref.of(led).name}" if led is not None else ""
