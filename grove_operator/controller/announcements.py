"""Tells people of what concerns the operator itself and no set: events about its Lease, or about its pod where it has no Lease."""

from __future__ import annotations

import hashlib
import socket
from collections.abc import Sequence
from typing import Literal

from applier.cluster import Cluster, find
from applier.desired import EventWrite, ObjectReference
from applier.errors import ClusterError
from applier.events import Sink, nowhere
from applier.loop.event_recorder import EventRecorder
from applier.ref import Kind
from grove_operator.controller.operator import MANAGER

LEASE, POD = Kind("coordination.k8s.io", "v1", "Lease"), Kind("", "v1", "Pod")


class Announcements:
    """Writes events about an operator: about its `lease`, given by namespace and name, else about the pod that it runs in.

    Replicas that say the same about the same occurrence make one event. At a desk, where neither is there, nothing is written.
    """

    def __init__(self, cluster: Cluster, namespace: str, lease: tuple[str, str] | None, sink: Sink = nowhere) -> None:
        self._cluster = cluster
        pod = POD, namespace, socket.gethostname()
        self._candidates: Sequence[tuple[Kind, str, str]] = [*([(LEASE, *lease)] if lease else []), pod]
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
        for kind, namespace, name in self._candidates:
            found = await find(self._cluster, await self._cluster.resource(kind), namespace, name)
            if found is not None:
                return ObjectReference.of(found)
        return None
