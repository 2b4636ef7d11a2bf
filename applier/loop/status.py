"""Writes statuses to the status subresource, where they differ, bound to the resourceVersion that they were computed from."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Hashable, Sequence
from typing import Any

from applier.cluster import Cluster, find
from applier.decision import Schemas, Verdict, decide
from applier.decision.managers import entries_of
from applier.desired import StatusWrite
from applier.errors import ClusterError, NotFound, WriteConflict
from applier.events import Finished, Sink
from applier.execute.concurrency import Concurrency
from applier.execute.refusals import is_other_object
from applier.loop.view import View
from applier.outcome import Action, Outcome, Step
from applier.ref import Manifest, resource_version_of, uid_of

STATUS = "status"


class StatusWriter:
    """Writes statuses by server-side apply, with force: a controller owns the status of its objects.

    `manager` owns the fields of statuses that name no manager. `concurrency` bounds the writes in flight, and those of one group: a slow
    admission webhook for one group does not delay the others.
    """

    def __init__(self, cluster: Cluster, *, manager: str, concurrency: Concurrency, sink: Sink) -> None:
        self.cluster, self.manager, self.sink = cluster, manager, sink
        self._concurrency = concurrency

    async def write(self, statuses: Sequence[StatusWrite], view: View, schemas: Schemas, group: Hashable = None) -> list[Outcome]:
        """Writes the statuses that differ; returns an outcome for each of them. Unchanged ones cost no request."""
        # An object of the same name with another UID is a new one, to which this status does not apply. An object that does not exist yet
        # gets its status in the reconcile after its creation.
        differing = [
            (status, live)
            for status in statuses
            if (live := view.get(status.of.ref)) is not None and uid_of(live) == status.of.uid and self._differs(status, live, schemas)
        ]
        outcomes = await asyncio.gather(*(self._write(status, live, group) for status, live in differing))
        for outcome in outcomes:
            self.sink(Finished(outcome))
        return list(outcomes)

    def _differs(self, status: StatusWrite, live: Manifest, schemas: Schemas) -> bool:
        """Reports whether writing would change anything, as far as the live object shows."""
        if live.get(STATUS) == status.status:
            return False
        if not entries_of(live):
            return True  # without managedFields in the cache, only an equal status is known to need no write
        schema = known.with_status() if (known := schemas.get(status.of.kind)) is not None else None
        decision = decide(_manifest(status), live, schema, manager=status.manager or self.manager, force=("*",), subresource=STATUS)
        return decision.verdict is not Verdict.SAME

    async def _write(self, status: StatusWrite, live: Manifest, group: Hashable) -> Outcome:
        uid, version = status.of.uid, status.resource_version
        step = Step(status.of.ref, Action.CONFIGURED, "its status", uid=uid, resource_version=version, intent=_manifest(status))
        began = time.monotonic()
        try:
            if status.resource_version not in ("", resource_version_of(live)):
                raise WriteConflict(409, "Conflict", "the object has changed since its status was computed")
            resource, manager = await self.cluster.resource(status.of.kind), status.manager or self.manager
            body = _manifest(status, bound=True)
            await self._concurrency.run(lambda: self.cluster.apply(resource, body, manager=manager, force=True, subresource=STATUS), group)
        except ClusterError as refusal:
            # If another object has the name by now, the server refuses the status because the UID is immutable.
            error = WriteConflict(409, "Conflict", str(refusal)) if is_other_object(refusal) else refusal
            if isinstance(error, WriteConflict | NotFound):
                await self._refresh(status)
                seconds = time.monotonic() - began
                return Outcome(step, Action.HELD, f"its status is computed again: {error}", status.of.uid, seconds, error)
            return Outcome(step, Action.FAILED, f"its status: {error}", status.of.uid, time.monotonic() - began, error)
        return Outcome(step, Action.CONFIGURED, "its status", status.of.uid, time.monotonic() - began)

    async def _refresh(self, status: StatusWrite) -> None:
        """Reads the live object into the cache, so that the next reconcile does not use the state that was just rejected."""
        try:
            resource = await self.cluster.resource(status.of.kind)
            await find(self.cluster, resource, status.of.ref.namespace, status.of.ref.name)
        except ClusterError:
            return  # the key is retried anyway, after a watch event or a back-off


def _manifest(status: StatusWrite, *, bound: bool = False) -> Manifest:
    """Returns the manifest to apply. With `bound` it has the UID, and the resourceVersion if the status depends on one."""
    of = status.of
    metadata: dict[str, Any] = {"name": of.ref.name} | ({"namespace": of.ref.namespace} if of.ref.namespace else {})
    if bound:
        metadata |= {"uid": of.uid} | ({"resourceVersion": status.resource_version} if status.resource_version else {})
    return {"apiVersion": of.kind.api_version, "kind": of.kind.kind, "metadata": metadata, STATUS: status.status}
