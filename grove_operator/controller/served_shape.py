"""Discovers which form of ComputeDomain a cluster serves."""

from __future__ import annotations

from applier.cluster import Cluster
from applier.errors import UnknownKind
from applier.ref import Kind
from grove_compiler.model.inputs.mnnvl_shape import AS_PROPOSED, DRIVER
from grove_operator.controller.live_objects import COMPUTE_DOMAIN

PROPOSED = COMPUTE_DOMAIN._replace(version="v1alpha1")


async def served_shape(cluster: Cluster) -> str:
    """Returns `driver`, unless the cluster serves the version of the designs and not that of NVIDIA's driver. Raises `ClusterError`.

    When neither is served, the driver may be installed later, and no other form was ever released. The form is discovered only once: a set
    whose pods run with one form must not get the other because a definition is missing for a moment.
    """
    return DRIVER if await _is_served(cluster, COMPUTE_DOMAIN) or not await _is_served(cluster, PROPOSED) else AS_PROPOSED


async def _is_served(cluster: Cluster, kind: Kind) -> bool:
    try:
        await cluster.resource(kind)
    except UnknownKind:
        return False
    return True
