"""Records events about the operator itself, which belong to no set: on its Deployment, where people look for them."""

from __future__ import annotations

import hashlib
import os
import socket
from typing import Literal

from applier.cluster import Cluster, find
from applier.desired import EventWrite, ObjectReference
from applier.errors import ClusterError
from applier.events import Sink, nowhere
from applier.loop.status import EventRecorder
from applier.ref import Kind, Manifest, Ref
from grove_operator import field_managers

LEASE, POD = Kind("coordination.k8s.io", "v1", "Lease"), Kind("", "v1", "Pod")
REPLICA_SET, DEPLOYMENT = Kind("apps", "v1", "ReplicaSet"), Kind("apps", "v1", "Deployment")
POD_NAME = "POD_NAME"
"""The environment variable with the name of this pod; without it the name is that of the host."""


class OperatorEvents:
    """Records events on the Deployment of the operator's pod, else on that pod, else on its `lease` (namespace and name).

    Replicas that record the same occurrence produce one event. Outside of a cluster none of these objects exists, and nothing is recorded.
    """

    def __init__(self, cluster: Cluster, namespace: str, lease: tuple[str, str] | None, sink: Sink = nowhere) -> None:
        self._cluster, self._namespace, self._lease = cluster, namespace, lease
        self._pod = os.environ.get(POD_NAME) or socket.gethostname()
        self._recorder = EventRecorder(cluster, source=field_managers.OPERATOR, sink=sink)

    async def record(self, event_type: Literal["Normal", "Warning"], reason: str, message: str, occurrence: str) -> None:
        """Records an occurrence once. Errors of the cluster are ignored: the log has the message as well."""
        try:
            involved = await self._involved_object()
            if involved is not None:
                digest = hashlib.sha256("\0".join((involved.uid, reason, occurrence)).encode()).hexdigest()[:16]
                await self._recorder.write([EventWrite(involved, event_type, reason, message, f"{involved.ref.name[:200]}.{digest}")])
        except ClusterError:
            return

    async def _involved_object(self) -> ObjectReference | None:
        pod = await self._find(POD, self._namespace, self._pod)
        if pod is not None:
            return await self._deployment(pod) or ObjectReference.of(pod)
        lease = await self._find(LEASE, *self._lease) if self._lease else None
        return ObjectReference.of(lease) if lease is not None else None

    async def _deployment(self, pod: Manifest) -> ObjectReference | None:
        """Returns the Deployment of a pod, which the pod's ReplicaSet names."""
        reference = _owner(pod, REPLICA_SET)
        try:
            replica_set = await self._find(REPLICA_SET, self._namespace, reference["name"]) if reference else None
        except ClusterError:  # ReplicaSets may not be read: the pod serves as well
            return None
        owner = _owner(replica_set, DEPLOYMENT) if replica_set is not None else None
        if owner is None:
            return None
        return ObjectReference(DEPLOYMENT, Ref(DEPLOYMENT.group, DEPLOYMENT.kind, self._namespace, owner["name"]), owner["uid"])

    async def _find(self, kind: Kind, namespace: str, name: str) -> Manifest | None:
        return await find(self._cluster, await self._cluster.resource(kind), namespace, name)


def _owner(manifest: Manifest, kind: Kind) -> Manifest | None:
    """Returns the owner reference to an object of a kind."""
    references = manifest["metadata"].get("ownerReferences") or ()
    return next((reference for reference in references if reference["kind"] == kind.kind), None)
