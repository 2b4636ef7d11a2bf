"""Which cluster it is, so that a plan that was made for one is not carried out on another."""

from __future__ import annotations

from applier.cluster import Cluster, find
from applier.errors import ClusterError, Forbidden, UnknownKind
from applier.ref import Kind, uid_of

NAMESPACE = "kube-system"
"""Every cluster has it, it is made with the cluster, and nobody deletes it: its UID is what others call the cluster's ID, too."""


async def identity_of(cluster: Cluster) -> str:
    """Returns the UID of `kube-system`, as `uid:…`; where it may not be read, the server's address, as `server:…`.

    An address says less: one may lead to another cluster tomorrow, and a cluster may have several. It refuses too much rather than too
    little. Raises `ClusterError` when the server cannot be asked.
    """
    try:
        live = await find(cluster, await cluster.resource(Kind("", "v1", "Namespace")), "", NAMESPACE)
    except (Forbidden, UnknownKind):
        live = None
    return f"uid:{uid_of(live)}" if live else f"server:{getattr(cluster, 'server', '')}"


class OtherCluster(ClusterError):
    """A plan was made for another cluster than the one that it is to be carried out on."""

    def __init__(self, planned: str, now: str) -> None:
        super().__init__(f"the plan was made for another cluster ({planned}) than this one ({now}): plan again, or choose its context")
