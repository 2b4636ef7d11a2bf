"""Evaluates the compiler's step for a key and returns the outcome as the applier takes it; tries changed rules on all existing sets."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Protocol, TypeVar, cast

from applier.cache import WatchCache
from applier.desired import Deletion, EventWrite, Gone, Graph, Hold, ObjectReference
from applier.errors import REFUSALS, NotSynced, UnknownKind
from applier.loop import Result, View
from applier.ref import Manifest, Ref
from grove_compiler.decoder import SET_KIND
from grove_compiler.engine.runtime.results import Event, RequestedDeletion, StatusCondition
from grove_compiler.graph.node import ObjectRef
from grove_compiler.kube.conditions import HELD
from grove_compiler.model.inputs.snapshot import ObjectReader
from grove_compiler.replay.replay import StepFunction
from grove_compiler.step import GROUP, Key, StepContext, StepGone, StepHold, StepResult, step
from grove_compiler.unknown import Unknown
from grove_operator.cluster.desired import Sources, desired_graph
from grove_operator.controller.live_objects import LiveObjects
from grove_operator.controller.membership import replicas_of
from grove_operator.controller.ownership import is_of_older_set
from grove_operator.controller.pending_condition import PendingTracker, pending_condition
from grove_operator.controller.stalled_condition import (
    REFUSED,
    Stall,
    StallTracker,
    current_status,
    hold_message,
    stalled_condition,
    stalled_event,
)
from grove_operator.controller.statuses import StatusDebounce, live_of, status_writes, told_now
from grove_operator.worker_thread import WorkerThread

Clock = Callable[[], float]
Record = Callable[[StepFunction, ObjectReader, Key, float, StepContext], StepResult | StepGone | StepHold]
R = TypeVar("R", Event, RequestedDeletion)
T = TypeVar("T")


class WorkRunner(Protocol):
    """Runs the functions of an evaluation that take long and change nothing but their own values."""

    def __call__(self, work: Callable[[], T]) -> Awaitable[T]: ...


async def at_once(work: Callable[[], T]) -> T:
    """Runs a function here and now."""
    return work()


def completed(work: Coroutine[Any, Any, T]) -> T:
    """Returns the result of a coroutine that never waits."""
    try:
        work.send(None)
    except StopIteration as ended:
        return cast(T, ended.value)
    raise RuntimeError("an evaluation without a thread has waited")


UNREADABLE = (*REFUSALS, UnknownKind)
"""Why a kind cannot be read until somebody does something about it, such as to grant a permission or to install a definition."""
UNREADABLE_RETRY = 5.0
"""Seconds until a key is evaluated again for which a kind cannot be read: no watch reports that a permission was granted."""
WITHOUT_STATUS = ("ClusterTopology",)
"""Kinds without a status, hence without conditions: only events report their holds."""


class Evaluator:
    """Returns the desired state of a key; the loop calls it. `clock` gives seconds since the epoch.

    `enqueue` requests the evaluation of another key: that of a set, when one of its replicas becomes held or is released, because only the
    set's own key writes the set's status. `record` calls the step function that it is given, and may record its inputs. What it remembers
    of keys is of the thread that calls it.
    """

    def __init__(
        self,
        context: StepContext,
        clock: Clock,
        enqueue: Callable[[Key], None] = lambda _: None,
        record: Record = lambda take, *arguments: take(*arguments),
    ) -> None:
        self._context, self._clock, self._enqueue, self._record = context, clock, enqueue, record
        self.forget()

    def forget(self) -> None:
        """Forgets what was found out about keys, as where another process has led since. All are to be evaluated again."""
        self._stalls, self._debounce, self._pending = StallTracker(), StatusDebounce(), PendingTracker()

    async def __call__(self, view: View, key: Key, thread: WorkerThread | None = None) -> Graph | Gone | Hold:
        """Returns the desired state of a key; with a thread, all that takes long is computed there, and without one it never waits.

        Raises `NotSynced` when the cache cannot answer; the loop then tries again once it can. What fails is tried again on objects without
        what has not the form of their kinds, for that may be why: it is written anew.
        """
        context, run = (self._context, at_once) if thread is None else (thread.context_of(self._context), thread.run)
        try:
            return await self._evaluate(view, key, LiveObjects.for_step(view, key), context, run)
        except NotSynced:
            raise
        except Exception:  # of whatever kind: texts where numbers should be
            return await self._evaluate(view, key, LiveObjects.for_step(view, key, is_sound=True), context, run)

    async def _evaluate(self, view: View, key: Key, objects: LiveObjects, context: StepContext, run: WorkRunner) -> Graph | Gone | Hold:
        now = self._clock()
        outcome = await run(partial(self._record, step, objects, key, now, context))
        if objects.not_synced is not None:
            if isinstance(objects.not_synced.cause, UNREADABLE):
                return self._hold(key, StepHold(str(objects.not_synced)), LiveObjects.for_step(view, key), now, UNREADABLE_RETRY)
            raise objects.not_synced
        match outcome:
            case StepGone():
                self._enqueue_set(key, self._stalls.release(key, gone=True) | self._pending.observe(key, None))
                return Gone()
            case StepHold():
                if outcome.is_fault and not objects.is_sound:
                    return await self._evaluate(view, key, LiveObjects.for_step(view, key, is_sound=True), context, run)
                return self._hold(key, outcome, objects, now)
            case StepResult():
                stalls, hold = self._stalls, outcome.hold
                is_changed = stalls.release(key) if hold is None else stalls.keep(key, hold_message(hold))
                self._enqueue_set(key, is_changed | self._pending.observe(key, outcome))
                if key.replica is None and hold is None:  # replicas that nothing declares or counts any more wait for that alone
                    for index in stalls.held_replicas(key):
                        if index >= outcome.replicas:
                            self._enqueue(key._replace(replica=index))
                if self._yields(view, key, outcome):
                    return Graph([])
                return await self._graph(key, outcome, objects, now, context, run)
        raise TypeError(f"a step returned {outcome!r}")

    def _yields(self, view: View, key: Key, result: StepResult) -> bool:
        """Reports whether a replica has to leave its names to an older set, which has the name of one of its objects already.

        Two sets made in one moment may each get some of the names that both want. Both would wait for good, so the newer one gives back
        what it has got, unless pods of it have been started.
        """
        refused = self._stalls.refused(key)
        if not refused or key.replica is None:
            return False
        pcs = view.peek(Ref(GROUP, SET_KIND, key.namespace, key.name))
        desired = {Ref.of(node.object) for node in result.graph.nodes}
        taken = [(ref, view.known(ref)) for ref in refused if ref in desired]
        older = {ref: refused[ref] for ref, live in taken if live is not None and pcs is not None and is_of_older_set(view, live, pcs)}
        if older and any(_is_started(view.peek(ref)) for ref in desired if ref.kind == "Pod"):
            older = {}
        self._stalls.yield_for(key, older)
        return bool(older)

    def observe(self, result: Result[Key]) -> None:
        """Records which objects the server rejected, so that the next evaluations report it on their owners and on the set."""
        if self._stalls.observe(result, self._clock()):
            self._enqueue(result.key)
            self._enqueue(result.key.whole)

    def _enqueue_set(self, key: Key, is_changed: bool) -> None:
        if is_changed and key.replica is not None:
            self._enqueue(key.whole)

    def _hold(self, key: Key, outcome: StepHold, objects: LiveObjects, now: float, requeue_after: float | None = None) -> Hold:
        """Holds a key. A hold of a set is reported at once, that of a replica by the next evaluation of its set.

        `requeue_after` is in seconds, for holds whose end no watch reports.
        """
        message = hold_message(outcome)
        self._enqueue_set(key, self._stalls.hold(key, message) | self._pending.observe(key, outcome))
        stall = self._stalls.stall(key)
        try:
            live = objects.get(GROUP, key.kind, key.namespace, key.name) if key.replica is None else None
        except Unknown:
            live = None  # of a topology, whose own kind cannot be read: nowhere to tell it
        if live is None or stall is None:
            return Hold(message, requeue_after=requeue_after)
        of = ObjectRef.of(live)
        has_status = key.kind not in WITHOUT_STATUS
        statuses = status_writes([current_status(of, live)], [stalled_condition(of, stall)], objects, now) if has_status else ()
        event = stalled_event(of, stall)
        write = EventWrite(ObjectReference.of(live), event.type, event.reason, event.message, event.name)
        return Hold(message, list(statuses), [write], requeue_after)

    async def _graph(self, key: Key, result: StepResult, objects: LiveObjects, now: float, context: StepContext, run: WorkRunner) -> Graph:
        live = objects.get(GROUP, key.kind, key.namespace, key.name) if key.replica is None else None
        if live is not None and (stall := self._stalls.stall(key)):
            ref = ObjectRef.of(live)
            if key.kind not in WITHOUT_STATUS and not _writes_status(result, ref):
                result.statuses.append(current_status(ref, live))
            _report(result, ref, stall)
        for of, stall in _refusals(key, result, self._stalls.refused(key)).items():
            result.write_deferred(of)  # until a gate is removed that the server keeps, say
            _report(result, of, stall)
        result.conditions += self._stalls.kept_conditions(key, result, objects)
        pending = 0.0
        if live is not None:
            pending = await self._report_pending(key, result, live, objects, now, context, run)
        graph = await run(partial(_graph, result, objects, now))
        graph.statuses, delays = self._debounce.filter(graph.statuses, objects, now)
        graph.events = told_now(graph.events, graph.statuses)
        if pending:
            delays.append(pending)
        if result.requeue_at is not None:
            delays.append(max(result.requeue_at - now, 0.0))
        graph.requeue_after = min(delays, default=None)
        return graph

    async def _report_pending(
        self, key: Key, result: StepResult, live: Manifest, objects: LiveObjects, now: float, context: StepContext, run: WorkRunner
    ) -> float:
        """Adds condition and event of a set that lacks pods for longer than the grace period. Returns in how many seconds more may be told.

        The replica's step is evaluated on the view of the set, so that changes of what it reads enqueue the set.
        """
        if (kept := self._pending.kept_condition(key, live)) is not None:
            result.conditions.append(kept)
        index, remaining = self._pending.overdue_replica(key, live, now)
        if index is None:
            return remaining
        condition = await run(partial(_pending_condition, result, live, objects, key._replace(replica=index), now, context))
        if condition is not None:
            result.conditions.append(condition)
            events, remaining = self._pending.event(key, condition, live, now)
            result.events += events
        return remaining


def _graph(result: StepResult, objects: LiveObjects, now: float) -> Graph:
    """Returns what follows from a step, as the applier takes it. Its set is freed here: for a large one that takes 50 ms."""
    result.waits = list
    graph = desired_graph(Sources(result.graph, []), is_operator=True)
    graph.keep = "" if result.hold is None else hold_message(result.hold)
    graph.statuses = list(status_writes(result.statuses, result.conditions, objects, now))
    graph.events = [EventWrite(of, each.type, each.reason, each.message, each.name) for each, of in _of_live(result.events, objects)]
    graph.deletions = [
        Deletion(of, each.reason, is_attributed=each.is_attributed, despite_failures=each.despite_failures)
        for each, of in _of_live(result.deletions, objects)
    ]
    return graph


def _pending_condition(
    result: StepResult, live: Manifest, objects: LiveObjects, replica: Key, now: float, context: StepContext
) -> StatusCondition | None:
    taken = step(objects, replica, now, context)
    if not isinstance(taken, StepResult):
        return None
    waits = [*result.waits(), *taken.waits()]
    of = ObjectRef.of(live)
    if result.hold is not None:  # for which no pod is missing: they are those of the last valid spec
        waits = [wait for wait in waits if (wait.of, wait.reason) != (of, HELD)]
    return pending_condition(of, waits)


def _is_started(pod: Manifest | None) -> bool:
    return pod is not None and not pod["spec"].get("schedulingGates")


def _writes_status(result: StepResult, of: ObjectRef) -> bool:
    return any(patch.of == of for patch in result.statuses)


def _report(result: StepResult, of: ObjectRef, stall: Stall) -> None:
    """Reports a stall in an event, and in the status of an object if that is written now: its condition alone would give up the rest."""
    if _writes_status(result, of):
        result.conditions.append(stalled_condition(of, stall))
    result.events.append(stalled_event(of, stall))


def _refusals(key: Key, result: StepResult, refused: Mapping[Ref, str]) -> dict[ObjectRef, Stall]:
    """Returns the first rejection for each owner of rejected objects within a set. That of the key's own object is in `StallTracker`."""
    owners = [(node.owner, message) for node in result.graph.nodes if (message := refused.get(Ref.of(node.object)))] if refused else []
    stalls: dict[ObjectRef, Stall] = {}
    for owner, message in owners:
        if owner is not None and owner.kind != key.kind:
            stalls.setdefault(owner, Stall(REFUSED, message, ""))
    return stalls


def _of_live(results: Iterable[R], objects: LiveObjects) -> Iterator[tuple[R, ObjectReference]]:
    """Yields each result whose object exists, with a reference to it."""
    for result in results:
        if (live := live_of(result.of, objects)) is not None:
            yield result, ObjectReference.of(live)


async def first_regression(cache: WatchCache, before: StepContext, after: StepContext, clock: Clock) -> str:
    """Returns which key the rules of `after` hold that those of `before` do not, and why; empty for none.

    Of each set its own key and its first replica are evaluated, as its replicas hardly differ. Yields to other tasks after each set.
    """
    try:
        sets = cache.by_label("grove.io", SET_KIND)
    except NotSynced as error:
        return str(error)
    for manifest in sets:
        set_key = Key(SET_KIND, manifest["metadata"].get("namespace", ""), manifest["metadata"]["name"])
        for key in (set_key, *([set_key._replace(replica=0)] if replicas_of(manifest) else [])):
            reason = _hold_reason(cache, key, after, clock)
            if reason and not _hold_reason(cache, key, before, clock):
                return f"{key} would be held: {reason}"
        await asyncio.sleep(0)
    return ""


def _hold_reason(cache: WatchCache, key: Key, context: StepContext, clock: Clock) -> str:
    outcome = step(LiveObjects.for_step(View(cache), key), key, clock(), context)
    hold = outcome.hold if isinstance(outcome, StepResult) else outcome
    return hold.reason if isinstance(hold, StepHold) else ""
