"""Reconciles one key: records its events, writes its statuses, applies its objects, and deletes what is no longer desired.

The order makes a crash harmless. Events come first: their cause may be gone after the other writes, and repeating one is harmless.
Statuses come before objects and deletions, which follow from the decisions in them, so that a restarted operator reads what was decided.
Deletions come last, and only if everything before succeeded and nothing that was read may be stale. Those of what serves nobody do not
depend on whether other objects could be applied, which may even wait for them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Generic, TypeVar

from applier.cache import Query, WatchCache, WriteThrough
from applier.cluster import Cluster
from applier.decision import Schemas
from applier.desired import Deletion, Gone, Graph, Hold, ObjectReference
from applier.errors import NotFound, WriteConflict
from applier.events import Sink, nowhere
from applier.execute.concurrency import Concurrency
from applier.execute.executor import execute
from applier.execute.options import ExecuteOptions
from applier.loop.contests import OverriddenWrites
from applier.loop.decisions import Decisions
from applier.loop.deletions import DeletionWriter
from applier.loop.preparation import DeletionOptions
from applier.loop.status import EventRecorder, StatusWriter
from applier.loop.view import View
from applier.outcome import UNDONE, Action, Outcome, Step
from applier.plan import Intent, Plan, as_declared, plan
from applier.prune.deletion import finalizers_of
from applier.ref import Kind, Manifest, Ref, being_deleted, uid_of
from kube_objects.manifest import is_terminating

K = TypeVar("K", bound=Hashable)
Members = Callable[[View, K], Iterable[Manifest]]
NO_LONGER_WANTED = "no longer wanted"
SCHEMA_LIFE = 600.0
"""Seconds after which schemas are read again: who adds a field to a definition tells nobody. Without a change only their index is read."""
LARGE = 1_000
"""Objects of a graph from which on it takes 10 ms or more to compare them with what exists."""


class Reconciler(Generic[K]):
    """Reconciles keys. A key without differences costs no request.

    `members` returns the objects that exist because of a key, for instance those that its primary object owns: those that the graph no
    longer holds are deleted, each by UID. Without `members` only the graph's own deletions are carried out. Deletions are held, with the
    reason, unless the whole graph was applied and nothing that was read may be stale (`View.staleness`). `deletions` configures what is
    written to an object before. `namespace` limits what is watched. `group` keeps the keys of one group from using all concurrent writes
    (see `Concurrency`). Writes go through `cache`, so that the next reconcile sees them. `clock` gives seconds since the epoch, for events.
    `aside` runs a function in another thread: large graphs are compared there, with the state of when that began.
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
        deletions: DeletionOptions | None = None,
        group: Callable[[K], Hashable] = lambda _: None,
        sink: Sink = nowhere,
        clock: Callable[[], float] = time.time,
        aside: Callable[[Callable[[], Plan]], Awaitable[Plan]] | None = None,
    ) -> None:
        self._aside = aside
        self.cluster = WriteThrough(cluster, cache)
        self.manager, self.force, self.members, self.namespace, self.sink = manager, force, members, namespace, sink
        self._cache, self._group = cache, group
        self._decisions: dict[K, Decisions] = {}
        self._overridden: dict[K, OverriddenWrites] = {}
        self._events = EventRecorder(self.cluster, source=manager, sink=sink, clock=clock)
        self._deletions = DeletionWriter(self.cluster, deletions or DeletionOptions(), manager=manager, sink=sink)
        self._schemas: dict[frozenset[Kind], tuple[Schemas, float]] = {}  # each with when it is read again, on the loop's clock
        self._schemas_lock = asyncio.Lock()
        # Shared by all keys: 16 keys with 16 writes each would open 256 connections, without a gain in throughput.
        self._concurrency = Concurrency(throttled=lambda: getattr(cluster, "throttled", 0), sink=sink)
        self._statuses = StatusWriter(self.cluster, manager=manager, concurrency=self._concurrency, sink=sink)

    @property
    def write_limit(self) -> int:
        """Returns how many writes may be in flight now."""
        return self._concurrency.limit

    async def __call__(self, key: K, desired: Graph | Gone | Hold, view: View) -> list[Outcome]:
        """Reconciles a key; returns an outcome for each object that was not in its desired state.

        Raises `ApplierError` if nothing can be read.
        """
        match desired:
            case Gone():
                self._decisions.pop(key, None)
                self._overridden.pop(key, None)
                return await self._delete(key, Graph([]), view)
            case Hold():
                return await self._report(key, desired, view, await self._watch_and_load_schemas(desired, view))
            case Graph():
                return await self._reconcile_graph(key, desired, view)

    async def _reconcile_graph(self, key: K, graph: Graph, view: View) -> list[Outcome]:
        # Before anything is awaited: the state that the graph is about.
        existing = {ref for ref in graph.objects if ref in view.gone_since or view.known(ref)}
        schemas = await self._watch_and_load_schemas(graph, view)
        outcomes = await self._report(key, graph, view, schemas)
        unreported = _undone(outcomes)
        # A status that was rejected for its resourceVersion was computed from a stale state, so its decisions must not be carried out. One
        # that cannot be written for another reason holds deletions alone, unless it is decisive: what is missing serves nobody.
        decisive = {status.of.ref for status in graph.statuses if status.decisive}
        for outcome in unreported:
            outcome.is_last = _is_rejected_as_stale(outcome) or outcome.step.ref in decisive
        if not any(outcome.is_last for outcome in unreported):
            outcomes += await self._apply(key, as_declared(graph, schemas), view, schemas, existing)
        undone = _undone(outcomes)
        if undone:
            self._schemas.clear()  # a definition may have changed
        return outcomes + await self._delete(key, graph, view, undone, reported=not unreported)

    async def _watch_and_load_schemas(self, desired: Graph | Hold, view: View) -> Schemas:
        """Watches all kinds that are to be written, and returns their schemas."""
        written = {status.of.kind for status in desired.statuses}
        deleted: set[Kind] = set()
        if isinstance(desired, Graph):
            written |= {Kind.of(item.manifest) for item in desired.objects.values()}
            deleted = {deletion.of.kind for deletion in desired.deletions}
        await view.watch(Query(kind, self.namespace) for kind in written | deleted)
        kinds = frozenset(written)
        # One worker requests them for all: a document has megabytes, and when the operator starts, all workers need the same ones.
        clock = asyncio.get_running_loop().time
        async with self._schemas_lock:
            if kinds not in self._schemas or self._schemas[kinds][1] < clock():
                self._schemas[kinds] = await self.cluster.schemas(kinds), clock() + SCHEMA_LIFE
            return self._schemas[kinds][0]

    async def _report(self, key: K, desired: Graph | Hold, view: View, schemas: Schemas) -> list[Outcome]:
        """Records the events and writes the statuses."""
        outcomes = await self._events.write(desired.events)
        return outcomes + await self._statuses.write(desired.statuses, view, schemas, self._group(key))

    async def _apply(self, key: K, graph: Graph, view: View, schemas: Schemas, existing: set[Ref]) -> list[Outcome]:
        """Applies the graph without terminating objects, which are created again once the watch has shown that they are gone.

        Nor are those created that were `existing` when the graph was computed: they have been deleted meanwhile, which enqueues the key.
        The function may want another object in their place, or none.
        """
        leaving = _leaving(graph, view, existing)
        staying = Graph([desired for ref, desired in graph.objects.items() if ref not in leaving]) if leaving else graph
        decisions = self._decisions.setdefault(key, Decisions())
        decisions.begin()
        planned = await self._plan(staying, view, schemas, decisions)
        if any(step.unsure for step in planned.steps):
            self._schemas.clear()
        blocked = list(self._blocked(filter(leaving.__contains__, graph.objects), view))
        return blocked + await self._execute(key, planned, staying)

    async def _execute(self, key: K, planned: Plan, graph: Graph) -> list[Outcome]:
        """Executes a plan, without the writes that a webhook has overridden a moment ago."""
        clock, overridden = asyncio.get_running_loop().time, self._overridden.setdefault(key, OverriddenWrites())
        resting = overridden.resting(planned.steps, clock())
        outcomes = await execute(planned, graph, self.cluster, self._options(key, resting)) if planned.changed() else []
        overridden.observe(outcomes, resting, clock())
        return outcomes

    def _blocked(self, leaving: Iterable[Ref], view: View) -> Iterator[Outcome]:
        """Yields an outcome for each object that others keep from going: nobody else would say why it is not created again."""
        for ref in leaving:
            live = view.known(ref)
            if live and is_terminating(live) and not self._deletions.preparer.finalizers.issuperset(finalizers_of(live)):
                yield Outcome(Step(ref, Action.CREATED), Action.UNCHANGED, being_deleted(live))

    async def _plan(self, graph: Graph, view: View, schemas: Schemas, decisions: Decisions) -> Plan:
        intent = Intent(self.manager, self.force, brief=True)
        planning = partial(plan, graph, view, schemas, intent, unserved=view.unserved(), decide_step=decisions.step_for)
        if self._aside is None or len(graph.objects) < LARGE:
            return planning()
        with view.frozen():
            return await self._aside(planning)

    def _options(self, key: K, overridden: Collection[Ref]) -> ExecuteOptions:
        return ExecuteOptions(
            sink=self.sink,
            concurrency=self._concurrency,
            group=self._group(key),
            is_unseen=self._cache.is_unselected,
            overridden=overridden,
        )

    async def _delete(self, key: K, graph: Graph, view: View, undone: Sequence[Outcome] = (), *, reported: bool = True) -> list[Outcome]:
        """Deletes members that are no longer desired and the graph's deletions; removes our finalizers from what others have deleted.

        What was decided is `reported` first: without it nothing is deleted at all.
        """
        members = list(self.members(view, key)) if self.members else []
        released = await self._deletions.preparer.release(members, graph.objects)
        deletions = [*([] if graph.keep else self._left_over(members, graph, undone)), *graph.deletions]
        if not reported:
            deletions = [replace(one, despite_failures=False) for one in deletions]
        return released + await self._deletions.write(deletions, view, undone[0] if undone else None)

    def _left_over(self, members: Collection[Manifest], graph: Graph, undone: Iterable[Outcome]) -> list[Deletion]:
        """Returns the deletions of members that are no longer desired.

        Surplus ones whose places others were to take, of their kind and owner, serve until these have been created.
        """
        existing = {Ref.of(member): member for member in members}
        lacking = [outcome.step.ref for outcome in undone if outcome.step.ref in graph.objects and outcome.step.ref not in existing]
        awaited = {place for ref in lacking for place in _places(graph.objects[ref].manifest)}

        def is_surplus(ref: Ref, member: Manifest) -> bool:
            return ref[:2] in self._deletions.surplus and awaited.isdisjoint(_places(member))

        return [
            Deletion(ObjectReference.of(member), NO_LONGER_WANTED, is_attributed=False, despite_failures=is_surplus(ref, member))
            for ref, member in existing.items()
            if ref not in graph.objects
        ]


def _undone(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Returns the outcomes that left something undone, but for events."""
    return [outcome for outcome in outcomes if outcome.action in UNDONE and outcome.step.ref[:2] != EVENT]


def _places(manifest: Manifest) -> set[tuple[str, ...]]:
    """Returns where an object stands: its kind with each of its owners, which need not have UIDs yet, or with none."""
    owners = manifest["metadata"].get("ownerReferences") or [{}]
    return {(*Ref.of(manifest)[:2], owner.get("kind") or "", owner.get("name") or "") for owner in owners}


EVENT = ("", "Event")


def _is_rejected_as_stale(outcome: Outcome) -> bool:
    """Reports whether a status that is bound to a resourceVersion could not be written since the object has changed."""
    return bool(outcome.step.resource_version) and isinstance(outcome.error, WriteConflict | NotFound)


def _leaving(graph: Graph, view: View, existing: set[Ref]) -> set[Ref]:
    """Returns the objects of a graph that are terminating, to be deleted, or gone meanwhile, and those that they own.

    What they own is collected with them.
    """
    leaving = {deletion.of.ref for deletion in graph.deletions if _is_there(deletion, view)}
    for ref in graph.objects:
        live = view.known(ref)
        if is_terminating(live) if live else ref in existing:
            leaving.add(ref)
    while leaving and (more := {ref for ref, desired in graph.objects.items() if desired.owner in leaving} - leaving):
        leaving |= more
    return leaving


def _is_there(deletion: Deletion, view: View) -> bool:
    live = view.known(deletion.of.ref)
    return live is not None and uid_of(live) == deletion.of.uid
