"""The schemas of a control plane, compiled once for all connections of a process: each would fetch a megabyte, and take 0.1 s over it."""

from __future__ import annotations

import functools

from applier.decision import Schemas
from applier.testing.control_plane import ControlPlane
from applier.transport import ApiCluster


def share(cluster: ApiCluster, plane: ControlPlane) -> ApiCluster:
    """Has a connection use what others have compiled, by the server's hash of each document, and returns it."""
    cluster.openapi.compiled = _compiled(plane)
    return cluster


@functools.cache
def _compiled(_: ControlPlane) -> dict[str, tuple[str, Schemas]]:
    return {}
