"""Records Kubernetes events, each occurrence once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from applier.cluster import Cluster
from applier.desired import EventWrite
from applier.errors import AlreadyExists, ClusterError
from applier.events import Finished, Sink
from applier.outcome import Action, Outcome, Step
from applier.ref import Kind, Manifest, Ref

EVENT = Kind("", "v1", "Event")
REMEMBERED = 4096  # names of recorded events; a forgotten one costs a request
MAX_MESSAGE_LENGTH = 1024  # characters of a message: the limit of events.k8s.io


class EventRecorder:
    """Creates events under names that identify the occurrence, so that creating one again fails with AlreadyExists.

    An event that cannot be written blocks nothing else. `now` is wall time.
    """

    def __init__(self, cluster: Cluster, *, source: str, sink: Sink, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.cluster, self.source, self.sink, self._now = cluster, source, sink, now
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
        stamp = self._now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
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
