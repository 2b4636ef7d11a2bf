"""Finds out whether an operator of Grove leads sets: what they become is its to write, and nobody else's."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from applier.cluster import Cluster
from applier.errors import ClusterError
from applier.ref import Kind, Manifest, Ref
from grove_compiler.kube.timestamp import time as seconds_of

DEPLOYMENT = Kind("apps", "v1", "Deployment")
LEASE = Kind("coordination.k8s.io", "v1", "Lease")
NAME, LEASE_NAME = "grove-operator", "grove-operator-leader-election"
"""The names that our chart has in common with the shipped operator's (shipped semantics §1.13)."""
SETS = "PodCliqueSet"


async def leading_operator(cluster: Cluster, live: Sequence[Manifest], now: float) -> str:
    """Returns what shows that an operator is at work, in a few words; empty where nothing does. `live` are objects of the cluster.

    An operator shows by its Deployment, by a Lease that it renews, or, where it runs elsewhere or nobody may read those, by the status of
    the sets: only an operator writes it.
    """
    deployments, leases = await asyncio.gather(_named(cluster, DEPLOYMENT, NAME), _named(cluster, LEASE, LEASE_NAME))
    for one in deployments:
        if (one.get("status") or {}).get("readyReplicas"):
            return f"Deployment {Ref.of(one).namespace}/{NAME}"
    for one in leases:
        if _is_held(one, now):
            return f"Lease {Ref.of(one).namespace}/{LEASE_NAME}, held by {one['spec']['holderIdentity']}"
    status = next((one for one in live if one["kind"] == SETS and (one.get("status") or {}).get("observedGeneration")), None)
    return f"status of {SETS} {Ref.of(status).namespace}/{Ref.of(status).name}" if status is not None else ""


def _is_held(lease: Manifest, now: float) -> bool:
    spec = lease.get("spec") or {}
    renewed, duration = seconds_of(spec.get("renewTime")), spec.get("leaseDurationSeconds") or 0
    return bool(spec.get("holderIdentity")) and renewed is not None and now < renewed + duration


async def _named(cluster: Cluster, kind: Kind, name: str) -> list[Manifest]:
    """Returns the objects of that name in any namespace; none where they cannot be read."""
    try:
        return (await cluster.list(await cluster.resource(kind), fields=f"metadata.name={name}")).items
    except ClusterError:
        return []
