"""One key brought to where it should be: told, its statuses written, its objects applied, and what has to go deleted.

The order is what makes a crash harmless. Events come first: what they tell of can be seen only until it is done, and one that is told
again is told once. Statuses come before objects and deletions, for these follow from what the statuses say, and who starts anew reads
there what was decided. Deletions come last, and only when all before them went well and what they rest on is known for sure.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Hashable, Iterable
from typing import Generic, TypeVar

from applier.cache import Wanted, WatchCache, WriteThrough
from applier.cluster import Cluster
from applier.decision import Schemas
from applier.desired import Deletion, Gone, Graph, Hold, ObjectReference
from applier.errors import NotSynced
from applier.events import Sink, nowhere
from applier.execute.concurrency import Concurrency
from applier.execute.executor import execute
from applier.execute.options import ExecuteOptions
from applier.loop.deletions import DeletionWriter
from applier.loop.event_recorder import EventRecorder
from applier.loop.status import StatusWriter
from applier.loop.view import View
from applier.outcome import UNDONE, Outcome
from applier.plan import Intent, plan
from applier.ref import Kind, Manifest, Ref, is_being_deleted, uid_of

K = TypeVar("K", bound=Hashable)
Members = Callable[[View, K], Iterable[Manifest]]
NO_LONGER_WANTED = "no longer wanted"


class Reconciler(Generic[K]):
    """Brings keys to where they should be. Where nothing differs it makes no request.

    `members` gives the objects that exist because of a key, for instance those that its primary object owns: what of them the graph no
    longer holds is deleted, each by its UID. Without `members` only what the graph says is deleted. Nothing is, unless the whole graph was
    applied, and all that was read is known for sure (`View.doubts`); else it is held, with the reason. `attribution` names an annotation
    that gets the reason before an object is deleted, so that our deletions can be told from others'. `finalizers` are ours, which are
    taken off members that go, and `guards` as well, once these are no longer wanted. `namespace` limits what is watched. Of the
    writes in flight some are always of other keys than those of one `group` (see `Concurrency`). Writes go through `cache`, so that the
    next look sees them.
    """

    def __init__(
        self,
        cluster: Cluster,
        cache: WatchCache,
        *,
        manager: str,
        force: tuple[str, ...] = (),
        members: Members[K] | None = None,
        namespace: str = "",
        attribution: str = "",
        finalizers: Collection[str] = (),
        guards: Collection[str] = (),
        group: Callable[[K], Hashable] = lambda _: None,
        sink: Sink = nowhere,
    ) -> None:
        self.cluster = WriteThrough(cluster, cache)
        self.manager, self.force, self.members, self.namespace, self.sink = manager, force, members, namespace, sink
        self._group = group
        self._events = EventRecorder(self.cluster, source=manager, sink=sink)
        self._deletions = DeletionWriter(
            self.cluster, manager=manager, annotation=attribution, finalizers=finalizers, guards=guards, sink=sink
        )
        self._schemas: dict[frozenset[Kind], Schemas] = {}
        self._asks_for_schemas = asyncio.Lock()
        # One for all keys: 16 keys with 16 writes each would open 256 connections, and a server takes no more a second for it.
        self._concurrency = Concurrency(throttled=lambda: getattr(cluster, "throttled", 0), sink=sink)
        self._statuses = StatusWriter(self.cluster, manager=manager, concurrency=self._concurrency, sink=sink)

    @property
    def write_limit(self) -> int:
        """How many writes may be in flight now."""
        return self._concurrency.limit

    async def __call__(self, key: K, desired: Graph | Gone | Hold, view: View) -> list[Outcome]:
        """Returns what became of each object that was not as it should be; empty when all was.

        Raises `ApplierError` when nothing can be read.
        """
        match desired:
            case Gone():
                return await self._delete(key, Graph([]), view)
            case Hold():
                return await self._tell(key, desired, view, await self._known(desired, view))
            case Graph():
                return await self._bring(key, desired, view)

    async def _bring(self, key: K, graph: Graph, view: View) -> list[Outcome]:
        schemas = await self._known(graph, view)
        outcomes = await self._tell(key, graph, view, schemas)
        # A status that was refused for its version was worked out from a state that is over: what it decided must not be done.
        if not any(_refutes(outcome) for outcome in outcomes):
            outcomes += await self._apply(key, graph, view, schemas)
        failed = next((outcome for outcome in outcomes if outcome.action in UNDONE and outcome.step.ref[:2] != EVENT), None)
        if failed:
            self._schemas.clear()  # a definition may have changed
        return outcomes + await self._delete(key, graph, view, failed)

    async def _known(self, desired: Graph | Hold, view: View) -> Schemas:
        """Sees to it that all kinds are watched that are to be written, and gives their schemas."""
        written = {status.of.kind for status in desired.statuses}
        deleted: set[Kind] = set()
        if isinstance(desired, Graph):
            written |= {Kind.of(one.manifest) for one in desired.objects.values()}
            deleted = {deletion.of.kind for deletion in desired.deletions}
        await view.watch(Wanted(kind, self.namespace) for kind in written | deleted)
        kinds = frozenset(written)
        # One worker asks for all: a document has megabytes, and at the start of the operator sixteen workers want the same ones.
        async with self._asks_for_schemas:
            if kinds not in self._schemas:
                self._schemas[kinds] = await self.cluster.schemas(kinds)
            return self._schemas[kinds]

    async def _tell(self, key: K, desired: Graph | Hold, view: View, schemas: Schemas) -> list[Outcome]:
        told = await self._events.write(desired.events)
        return told + await self._statuses.write(desired.statuses, view, schemas, self._group(key))

    async def _apply(self, key: K, graph: Graph, view: View, schemas: Schemas) -> list[Outcome]:
        """Applies the graph, without what is on its way out: that is made again once the watch tells that it is gone."""
        leaving = _leaving(graph, view)
        staying = Graph([desired for ref, desired in graph.objects.items() if ref not in leaving]) if leaving else graph
        planned = plan(staying, view, schemas, Intent(self.manager, self.force, brief=True), unserved=view.unserved())
        if any(step.unsure for step in planned.steps):
            self._schemas.clear()
        return await execute(planned, staying, self.cluster, self._options(key)) if planned.changed() else []

    def _options(self, key: K) -> ExecuteOptions:
        return ExecuteOptions(sink=self.sink, concurrency=self._concurrency, group=self._group(key))

    async def _delete(self, key: K, graph: Graph, view: View, failed: Outcome | None = None) -> list[Outcome]:
        """Deletes what is left over and what the graph says, and lets go of what somebody else has deleted."""
        members = list(self.members(view, key)) if self.members else []
        released = await self._deletions.release(members, graph.objects)
        return released + await self._deletions.write([*_left_over(members, graph), *graph.deletions], view, failed)


def _left_over(members: Iterable[Manifest], graph: Graph) -> list[Deletion]:
    gone = (one for one in members if Ref.of(one) not in graph.objects)
    return [Deletion(ObjectReference.of(one), NO_LONGER_WANTED, is_attributed=False) for one in gone]


EVENT = ("", "Event")


def _refutes(outcome: Outcome) -> bool:
    """Tells whether a status could not be written that rests on a version.

    What follows from it may be wrong, so that nothing may follow.
    """
    return outcome.action in UNDONE and bool(outcome.step.resource_version)


def _leaving(graph: Graph, view: View) -> set[Ref]:
    """Returns the objects of a graph that are being deleted or are to be, and those that they own, which would go with them."""
    leaving = {deletion.of.ref for deletion in graph.deletions if uid_of(_live(view, deletion.of.ref)) == deletion.of.uid}
    leaving |= {ref for ref in graph.objects if is_being_deleted(_live(view, ref))}
    while leaving and (more := {ref for ref, desired in graph.objects.items() if desired.owner in leaving} - leaving):
        leaving |= more
    return leaving


def _live(view: View, ref: Ref) -> Manifest:
    try:
        return view.get(ref) or {}
    except NotSynced:  # of a kind that is not served: its step says so
        return {}
