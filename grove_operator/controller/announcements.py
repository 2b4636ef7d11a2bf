"""Tells people of what concerns the operator itself and no set: events about its Deployment, which is where they look for it."""

from __future__ import annotations

import hashlib
import os
import socket
from typing import Literal

from applier.cluster import Cluster, find
from applier.desired import EventWrite, ObjectReference
from applier.errors import ClusterError
from applier.events import Sink, nowhere
from applier.loop.event_recorder import EventRecorder
from applier.ref import Kind, Manifest, Ref
from grove_operator.controller.operator import MANAGER

LEASE, POD = Kind("coordination.k8s.io", "v1", "Lease"), Kind("", "v1", "Pod")
REPLICA_SET, DEPLOYMENT = Kind("apps", "v1", "ReplicaSet"), Kind("apps", "v1", "Deployment")
POD_NAME = "POD_NAME"
"""The variable with the name of the pod that we run in; without it that is the name of the host."""


class Announcements:
    """Writes events about an operator: about the Deployment of its pod, else about that pod, else about its `lease`.

    A `lease` is given by namespace and name. Replicas that say the same about the same occurrence make one event. At a desk, where none of
    these is there, nothing is written.
    """

    def __init__(self, cluster: Cluster, namespace: str, lease: tuple[str, str] | None, sink: Sink = nowhere) -> None:
        self._cluster, self._namespace, self._lease = cluster, namespace, lease
        self._pod = os.environ.get(POD_NAME) or socket.gethostname()
        self._recorder = EventRecorder(cluster, source=MANAGER, sink=sink)

    async def tell(self, type: Literal["Normal", "Warning"], reason: str, message: str, occurrence: str) -> None:
        """Tells of an occurrence once. What cannot be told is only in the log."""
        try:
            about = await self._about()
            if about is not None:
                digest = hashlib.sha256("\0".join((about.uid, reason, occurrence)).encode()).hexdigest()[:16]
                await self._recorder.write([EventWrite(about, type, reason, message, f"{about.ref.name[:200]}.{digest}")])
        except ClusterError:
            return

    async def _about(self) -> ObjectReference | None:
        pod = await self._found(POD, self._namespace, self._pod)
        if pod is not None:
            return await self._deployment(pod) or ObjectReference.of(pod)
        lease = await self._found(LEASE, *self._lease) if self._lease else None
        return ObjectReference.of(lease) if lease is not None else None

    async def _deployment(self, pod: Manifest) -> ObjectReference | None:
        """The Deployment that the pod is of, which the pod's ReplicaSet names."""
        set = _owner(pod, REPLICA_SET)
        try:
            made_by = await self._found(REPLICA_SET, self._namespace, set["name"]) if set else None
        except ClusterError:  # a right that somebody has taken away: the pod is better than nothing
            return None
        owner = _owner(made_by, DEPLOYMENT) if made_by is not None else None
        if owner is None:
            return None
        return ObjectReference(DEPLOYMENT, Ref(DEPLOYMENT.group, DEPLOYMENT.kind, self._namespace, owner["name"]), owner["uid"])

    async def _found(self, kind: Kind, namespace: str, name: str) -> Manifest | None:
        return await find(self._cluster, await self._cluster.resource(kind), namespace, name)


def _owner(manifest: Manifest, kind: Kind) -> Manifest | None:
    """The owner of that kind, as the object refers to it."""
    return next((one for one in manifest["metadata"].get("ownerReferences") or () if one["kind"] == kind.kind), None)
