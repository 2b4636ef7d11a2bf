"""Identifies a cluster, so that a plan that was made for one is not executed on another."""

from __future__ import annotations

from applier.cluster import Cluster, find
from applier.errors import ClusterError, Forbidden, UnknownKind
from applier.ref import Kind, uid_of

NAMESPACE = "kube-system"
"""Exists in every cluster from the beginning and is never deleted, so that its UID commonly serves as the cluster's ID."""


async def identity_of(cluster: Cluster) -> str:
    """Returns the UID of `kube-system` as `uid:…`; without permission to read it, the server's address as `server:…`.

    An address is a weaker identity: it may lead to another cluster later, and a cluster may have several. Raises `ClusterError`.
    """
    try:
        live = await find(cluster, await cluster.resource(Kind("", "v1", "Namespace")), "", NAMESPACE)
    except (Forbidden, UnknownKind):
        live = None
    return f"uid:{uid_of(live)}" if live else f"server:{getattr(cluster, 'server', '')}"


class OtherCluster(ClusterError):
    """Reports a plan that was made for another cluster."""

    def __init__(self, planned: str, now: str) -> None:
        super().__init__(
            f"the plan was created for another cluster ({planned}), not this one ({now}): create a new plan, or choose its context"
        )
