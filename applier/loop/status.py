"""Writes what a reconcile reports: Kubernetes events, each occurrence once, and statuses where they differ.

A status goes to the status subresource, bound to the resourceVersion that it was computed from if it depends on that.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from datetime import UTC, datetime
from typing import Any

from applier.cluster import Cluster, find
from applier.decision import Schemas, Verdict, decide
from applier.decision.managers import entries_of
from applier.desired import EventWrite, StatusWrite
from applier.errors import AlreadyExists, ClusterError, NotFound, WriteConflict
from applier.events import Finished, Sink
from applier.execute.concurrency import Concurrency
from applier.execute.refusals import is_other_object
from applier.loop.view import View
from applier.outcome import Action, Outcome, Step
from applier.ref import EVENT, Manifest, Ref, resource_version_of, uid_of

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
        if _left_over(status, live):
            return True
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
            written = await self._concurrency.run(
                lambda: self.cluster.apply(resource, body, manager=manager, force=True, subresource=STATUS), group
            )
            if left := _left_over(status, written):
                ref, identity = status.of.ref, {"uid": uid, "resourceVersion": resource_version_of(written)}
                patch = {"metadata": identity, STATUS: dict.fromkeys(left)}
                await self._concurrency.run(
                    lambda: self.cluster.patch(resource, ref.namespace, ref.name, patch, manager=manager, subresource=STATUS), group
                )
        except ClusterError as refusal:
            # If another object has the name by now, the server rejects the status because the UID is immutable.
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


def _left_over(status: StatusWrite, live: Manifest) -> list[str]:
    """Returns the fields that a live status has, and that are to be removed from it."""
    return [field for field in status.removes if field not in status.status and field in (live.get(STATUS) or {})]


def _manifest(status: StatusWrite, *, bound: bool = False) -> Manifest:
    """Returns the manifest to apply. With `bound` it has the UID, and the resourceVersion if the status depends on one."""
    of = status.of
    metadata: dict[str, Any] = {"name": of.ref.name} | ({"namespace": of.ref.namespace} if of.ref.namespace else {})
    if bound:
        metadata |= {"uid": of.uid} | ({"resourceVersion": status.resource_version} if status.resource_version else {})
    return {"apiVersion": of.kind.api_version, "kind": of.kind.kind, "metadata": metadata, STATUS: status.status}


REMEMBERED = 4096  # names of recorded events; a forgotten one costs a request
MAX_MESSAGE_LENGTH = 1024  # characters of a message: the limit of events.k8s.io


class EventRecorder:
    """Creates events under names that identify the occurrence, so that creating one again fails with AlreadyExists.

    An event that cannot be written blocks nothing else. `clock` gives seconds since the epoch.
    """

    def __init__(self, cluster: Cluster, *, source: str, sink: Sink, clock: Callable[[], float] = time.time) -> None:
        self.cluster, self.source, self.sink, self._clock = cluster, source, sink, clock
        self._recorded: OrderedDict[Ref, None] = OrderedDict()

    async def write(self, events: Sequence[EventWrite]) -> list[Outcome]:
        """Records events; returns an outcome for each that was not recorded before."""
        return [outcome for event in events if (outcome := await self._record(event)) is not None]

    async def _record(self, event: EventWrite) -> Outcome | None:
        manifest = self._manifest(event)
        ref = Ref.of(manifest)
        if ref in self._recorded:
            return None
        outcome = Outcome(Step(ref, Action.CREATED, f"{event.reason} of {event.of.ref}"), Action.CREATED)
        try:
            await self.cluster.create(await self.cluster.resource(EVENT), manifest, manager=self.source)
        except AlreadyExists:
            self._remember(ref)
            return None
        except ClusterError as error:
            outcome.action, outcome.reason, outcome.error = Action.HELD, f"cannot be recorded: {error}", error
        else:
            self._remember(ref)
        self.sink(Finished(outcome))
        return outcome

    def _remember(self, ref: Ref) -> None:
        self._recorded[ref] = None
        if len(self._recorded) > REMEMBERED:
            self._recorded.popitem(last=False)

    def _manifest(self, event: EventWrite) -> Manifest:
        """Returns a core/v1 Event, which every kubectl shows. Events about cluster-scoped objects are in `default`."""
        kind, ref, uid = event.of
        stamp = datetime.fromtimestamp(self._clock(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        named = {"name": ref.name, "uid": uid} | ({"namespace": ref.namespace} if ref.namespace else {})
        return {
            "apiVersion": EVENT.api_version,
            "kind": EVENT.kind,
            "metadata": {"name": event.name, "namespace": ref.namespace or "default"},
            "involvedObject": {"apiVersion": kind.api_version, "kind": kind.kind, **named},
            "type": event.type,
            "reason": event.reason,
            "message": event.message[:MAX_MESSAGE_LENGTH],
            "source": {"component": self.source},
            "reportingComponent": self.source,
            "firstTimestamp": stamp,
            "lastTimestamp": stamp,
            "count": 1,
        }
