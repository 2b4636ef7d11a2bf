"""Deletes objects after annotating them with the reason; holds deletions while the known state of the cluster may be stale."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Container, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from applier.cluster import Cluster
from applier.desired import Deletion
from applier.errors import ClusterError, Invalid, NotFound, NotSynced, ServerFailure, TooManyRequests, Unreachable, WriteConflict
from applier.events import Finished, Sink
from applier.execute.refusals import is_other_object
from applier.loop.view import MAX_DECISION_AGE, OUTDATED, View
from applier.outcome import Action, Outcome, Step
from applier.prune import deletion
from applier.prune.deletion import Teardown, teardown
from applier.ref import Kind, Manifest, Ref, resource_version_of, uid_of
from kube_objects.manifest import is_terminating

RELEASED = "our work before its deletion is done"
CHANGED = "it, or what it is deleted together with, has changed since it was read"


class _Replaced(WriteConflict):
    """An object of another UID has the name."""


@dataclass(frozen=True, slots=True)
class DeletionOptions:
    """Configures what is written to an object before it is deleted.

    `annotation` is the key under which it gets the reason, so that our deletions can be distinguished from others'; empty for none.
    `finalizers` are ours, and are removed from every member that is deleted; so are `guards`, but only from one that is no longer desired.
    Objects of the kinds in `surplus`, by group and name, are deleted once they are no longer desired although others could not be applied:
    they hold what these may lack, as pods do where a quota is used up. But one stays whose place an object of its kind and owner was to
    take that could not be created.
    `unit` says which objects are deleted for a reason only as they were read, since the reason is their state, and of which unit each is:
    nothing of a unit is deleted of which anything has changed. It returns None for other objects. `state` returns what such reasons depend
    on: what else is written to an object holds nothing, as a kubelet's counts and times that change while a unit is prepared.
    """

    annotation: str = ""
    finalizers: Collection[str] = ()
    guards: Collection[str] = ()
    surplus: Collection[tuple[str, str]] = ()
    unit: Callable[[Manifest], Hashable | None] = field(default=lambda _: None)
    state: Callable[[Manifest], object] = field(default=resource_version_of)


class _Mark(NamedTuple):
    """Holds how it ended to prepare an object of a unit, and in how many seconds."""

    error: ClusterError | None
    seconds: float


class _Batch(NamedTuple):
    """Holds what is deleted at once: objects each by itself, and units of which all objects are."""

    free: list[Ref]
    units: list[list[Ref]]


class DeletionWriter:
    """Deletes live objects by UID, dependants first. Each gets its reason as an annotation, if the options name one.

    An object that others depend on is deleted by a later reconcile, when these are terminating. So nothing waits here, and of a thousand
    keys that are removed all pods are deleted before the first of their owners: pods hold the machines that others may need. Only Services
    are deleted along with them, so that nothing is sent to those pods any more.

    The annotation is written under the main `manager`, by a plain patch. If the delete then fails and the object is still desired, the next
    apply owns that field and removes the annotation; an object that is only created keeps it. The same patch removes our own `finalizers`,
    whose purpose is fulfilled when we delete an object ourselves. They are also removed from objects that others have deleted; `guards`
    only once the object is no longer desired, since they keep it while it is needed.
    """

    def __init__(self, cluster: Cluster, options: DeletionOptions, *, manager: str, sink: Sink) -> None:
        self.cluster, self.manager, self.annotation, self.sink = cluster, manager, options.annotation, sink
        self.finalizers, self.guards = frozenset((*options.finalizers, *options.guards)), frozenset(options.guards)
        self.surplus, self.unit, self.state = frozenset(options.surplus), options.unit, options.state

    async def write(self, deletions: Iterable[Deletion], view: View, failed: Outcome | None = None) -> list[Outcome]:
        """Deletes the objects that exist and are not terminating yet; returns an outcome for each of those that go now.

        Of several deletions of an object the last one counts. All are held if the view may be stale. If something `failed` before, so are
        those that are not `despite_failures`.
        """
        requested = {deletion.of.ref: deletion for deletion in deletions}
        live = {ref: found for ref, deletion in requested.items() if (found := _live(deletion, view)) is not None}
        outcomes: list[Outcome] = []
        if failed:
            held = [ref for ref in live if not requested[ref].despite_failures]
            outcomes += [self._held(Step.deletion(live.pop(ref), requested[ref].reason), failed, failed.error) for ref in held]
        if not live:
            return outcomes
        order = teardown(live.values())
        steps = {ref: Step.deletion(live[ref], requested[ref].reason, wave) for wave, refs in enumerate(order.waves) for ref in refs}
        if staleness := view.staleness():
            view.refresh()
            return outcomes + [self._held(step, None, NotSynced(staleness[0])) for step in steps.values()]

        remaining: set[Ref] = set()
        for wave in order.waves:
            free = [ref for ref in wave if remaining.isdisjoint(order.users.get(ref, ()))]
            ended = [
                outcome
                for batch in self._batches(free, requested, live)
                for outcome in await self._run(batch, steps, requested, live, view)
            ]
            outcomes += ended
            remaining |= {*wave} - {outcome.step.ref for outcome in ended if outcome.action is Action.PRUNED}
            if not remaining:
                break  # the next wave is for a later reconcile; with an object that cannot be deleted, for now: it holds back only its own
        return outcomes

    def _batches(self, refs: Iterable[Ref], requested: Mapping[Ref, Deletion], live: Mapping[Ref, Manifest]) -> list[_Batch]:
        """Splits what may be deleted now: first all that goes in whatever state, then units, some at a time."""
        batches, free, units = list[_Batch](), list[Ref](), defaultdict[Hashable, list[Ref]](list)
        for ref in refs:
            unit = self.unit(live[ref]) if requested[ref].is_attributed else None
            (free if unit is None else units[unit]).append(ref)
        for together in units.values():
            if not batches or sum(map(len, batches[-1].units)) + len(together) > deletion.AT_ONCE:
                batches.append(_Batch([], []))
            batches[-1].units.append(together)
        return [_Batch(free, []), *batches] if free else batches

    async def _run(
        self, batch: _Batch, steps: Mapping[Ref, Step], requested: Mapping[Ref, Deletion], live: dict[Ref, Manifest], view: View
    ) -> list[Outcome]:
        """Deletes a batch. The reason is written first: after the delete there may be no object left to write it to."""
        marks = await self._mark([requested[ref] for unit in batch.units for ref in unit], live)
        outcomes, due = list[Outcome](), [*batch.free]
        for unit in batch.units:
            if changed := [ref for ref in unit if _is_change(marks[ref].error)]:
                view.doubt(ref[:2] for ref in changed)
            cause = NotSynced(CHANGED) if changed else _obstacle([marks[ref] for ref in unit], view)
            held = [ref for ref in unit if cause and marks[ref].error is not cause]  # the one that has failed itself is told as such
            outcomes += [self._held(steps[ref], None, cause) for ref in held]
            due += [ref for ref in unit if ref not in held]

        async def prepare(step: Step, live: Manifest) -> None:
            if mark := marks.pop(step.ref, None):
                if mark.error:
                    raise mark.error
                return
            clock = asyncio.get_running_loop().time
            began = clock()
            await self._prepare(requested[step.ref], live)
            if clock() - began > MAX_DECISION_AGE and view.is_outdated():
                raise NotSynced(OUTDATED)

        executor = deletion.Deleter(self.cluster, sink=self.sink, before=prepare)
        return outcomes + await executor.run([steps[ref] for ref in due], live, Teardown([due], {}))

    async def release(self, members: Iterable[Manifest], desired: Container[Ref]) -> list[Outcome]:
        """Removes our finalizers from members that others have deleted; returns an outcome for each that had one."""
        releases = []
        for member in members:
            if is_terminating(member):
                ours = self.finalizers - self.guards if Ref.of(member) in desired else self.finalizers
                if not ours.isdisjoint(_finalizers(member)):
                    releases.append(self._release(member, ours))
        return list(await asyncio.gather(*releases)) if releases else []

    def _held(self, step: Step, failed: Outcome | None, error: Exception | None) -> Outcome:
        cause = f"{failed.step.ref} is {failed.action}: {failed.reason}" if failed else str(error)
        outcome = Outcome(step, Action.HELD, f"is not deleted ({step.reason}), for {cause}", step.uid, error=error)
        self.sink(Finished(outcome))
        return outcome

    async def _release(self, live: Manifest, ours: frozenset[str]) -> Outcome:
        step, began = Step.deletion(live, RELEASED), time.monotonic()
        outcome = Outcome(step, Action.PRUNED, RELEASED, step.uid)
        try:
            await self._patch(live, _without(ours, live))
        except NotFound:
            pass
        except ClusterError as error:
            outcome.action, outcome.reason, outcome.error = Action.FAILED, f"cannot be released: {error}", error
        outcome.seconds = time.monotonic() - began
        self.sink(Finished(outcome))
        return outcome

    async def _mark(self, deletions: Collection[Deletion], live: Mapping[Ref, Manifest]) -> dict[Ref, _Mark]:
        """Prepares objects for their deletion, in the state that was read.

        What is not deleted after all keeps its reason: to remove it would be a change, for which the next attempt came at once.
        """
        at_once, clock = asyncio.Semaphore(deletion.AT_ONCE), asyncio.get_running_loop().time

        async def mark(one: Deletion) -> _Mark:
            async with at_once:
                began, error = clock(), None
                try:
                    await self._prepare_as_read(one, live[one.of.ref])
                except ClusterError as raised:
                    error = raised
                return _Mark(error, clock() - began)

        marks = await asyncio.gather(*map(mark, deletions)) if deletions else []
        return dict(zip((one.of.ref for one in deletions), marks, strict=True))

    async def _prepare_as_read(self, one: Deletion, live: Manifest) -> None:
        """Prepares an object, in a later version if its `state` is that which was read. Raises `WriteConflict` if it is not."""
        state, ref = self.state(live), one.of.ref
        for attempt in range(deletion.TRIES):
            try:
                await self._prepare(one, live, as_read=True)
                return
            except WriteConflict as error:
                if not _is_change(error) or attempt + 1 == deletion.TRIES:
                    raise
                live = await self.cluster.get(await self.cluster.resource(Kind.of(live)), ref.namespace, ref.name)
                if uid_of(live) != one.of.uid:
                    raise _Replaced(409, "Conflict", str(error)) from None
                if self.state(live) != state:
                    raise

    async def _prepare(self, deletion: Deletion, live: Manifest, *, as_read: bool = False) -> None:
        """Writes the reason of its deletion to an object, and removes our finalizers.

        Raises `WriteConflict` when its UID has changed, and with `as_read` when anything of it has. A reason that an earlier deletion left,
        which could not be carried out, is removed where this one has none.
        """
        present = live["metadata"].get("annotations") or {}
        reason = {self.annotation: deletion.reason if deletion.is_attributed else None} if self.annotation else {}
        annotations = {**reason, **deletion.annotations}
        metadata = _without(self.finalizers, live)
        if any(present.get(key) != value for key, value in annotations.items()):
            metadata["annotations"] = annotations
        if as_read:
            metadata["resourceVersion"] = resource_version_of(live)
        if metadata:
            await self._patch(live, metadata)

    async def _patch(self, live: Manifest, metadata: dict[str, Any]) -> None:
        ref = Ref.of(live)
        resource = await self.cluster.resource(Kind.of(live))
        try:
            patch = {"metadata": {"uid": uid_of(live), **metadata}}
            await self.cluster.patch(resource, ref.namespace, ref.name, patch, manager=self.manager)
        except Invalid as error:
            if is_other_object(error):
                raise _Replaced(409, "Conflict", str(error)) from None
            raise


def _live(deletion: Deletion, view: View) -> Manifest | None:
    """Returns the live object of a deletion, by UID; None if it is gone or terminating."""
    live = view.get(deletion.of.ref)
    return live if live is not None and uid_of(live) == deletion.of.uid and not is_terminating(live) else None


def _is_change(error: ClusterError | None) -> bool:
    """Reports whether an object could not be prepared because it is not as it was read."""
    return isinstance(error, WriteConflict) and not isinstance(error, _Replaced)


def _obstacle(marks: Iterable[_Mark], view: View) -> Exception | None:
    """Returns why a unit stays: nobody knows whether one of its objects has changed, or the decision is as old as a slow webhook."""
    for mark in marks:
        if isinstance(mark.error, ServerFailure | TooManyRequests | Unreachable):
            return mark.error
        if mark.seconds > MAX_DECISION_AGE and view.is_outdated():
            return NotSynced(OUTDATED)
    return None


def _without(ours: frozenset[str], live: Manifest) -> dict[str, Any]:
    """Returns the metadata of a merge patch that removes our finalizers; empty if there are none.

    A merge patch replaces the whole list, so it is bound to this resourceVersion.
    """
    finalizers = _finalizers(live)
    others = [finalizer for finalizer in finalizers if finalizer not in ours]
    return {} if others == finalizers else {"finalizers": others, "resourceVersion": resource_version_of(live)}


def _finalizers(live: Manifest) -> list[str]:
    return live["metadata"].get("finalizers") or []
