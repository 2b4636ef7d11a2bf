"""Deletes objects, dependants first and units as a whole; holds deletions while the known state of the cluster may be stale."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple

from applier.cluster import Cluster
from applier.desired import Deletion
from applier.errors import NotSynced, ServerFailure, TooManyRequests, Unreachable
from applier.events import Finished, Sink
from applier.loop.preparation import DeletionOptions, Preparation, Preparer
from applier.loop.view import MAX_DECISION_AGE, OUTDATED, View
from applier.outcome import Action, Outcome, Step
from applier.prune import deletion
from applier.prune.deletion import Teardown, teardown
from applier.ref import Manifest, Ref, uid_of
from kube_objects.manifest import is_terminating

CHANGED = "it, or what it is deleted together with, has changed since it was read"


class _Batch(NamedTuple):
    """Holds what is deleted at once: objects each by itself, and units of which all objects are."""

    free: list[Ref]
    units: list[list[Ref]]


class DeletionWriter:
    """Deletes live objects by UID, dependants first. Each gets its reason as an annotation, if the options name one.

    An object that others depend on is deleted by a later reconcile, when these are terminating. So nothing waits here, and of a thousand
    keys that are removed all pods are deleted before the first of their owners: pods hold the machines that others may need. Only Services
    are deleted along with them, so that nothing is sent to those pods any more.
    """

    def __init__(self, cluster: Cluster, options: DeletionOptions, *, manager: str, sink: Sink) -> None:
        self.cluster, self.sink, self.surplus, self.unit = cluster, sink, frozenset(options.surplus), options.unit
        self.preparer = Preparer(cluster, options, manager=manager, sink=sink)

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
        marks = await self.preparer.mark([requested[ref] for unit in batch.units for ref in unit], live)
        outcomes, due = list[Outcome](), [*batch.free]
        for unit in batch.units:
            if changed := [ref for ref in unit if marks[ref].is_change]:
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
            await self.preparer.prepare(requested[step.ref], live)
            if clock() - began > MAX_DECISION_AGE and view.is_outdated():
                raise NotSynced(OUTDATED)

        executor = deletion.Deleter(self.cluster, sink=self.sink, before=prepare)
        return outcomes + await executor.run([steps[ref] for ref in due], live, Teardown([due], {}))

    def _held(self, step: Step, failed: Outcome | None, error: Exception | None) -> Outcome:
        cause = f"{failed.step.ref} is {failed.action}: {failed.reason}" if failed else str(error)
        outcome = Outcome(step, Action.HELD, f"is not deleted ({step.reason}), for {cause}", step.uid, error=error)
        self.sink(Finished(outcome))
        return outcome


def _live(deletion: Deletion, view: View) -> Manifest | None:
    """Returns the live object of a deletion, by UID; None if it is gone or terminating."""
    live = view.get(deletion.of.ref)
    return live if live is not None and uid_of(live) == deletion.of.uid and not is_terminating(live) else None


def _obstacle(marks: Iterable[Preparation], view: View) -> Exception | None:
    """Returns why a unit stays: nobody knows whether one of its objects has changed, or the decision is as old as a slow webhook."""
    for mark in marks:
        if isinstance(mark.error, ServerFailure | TooManyRequests | Unreachable):
            return mark.error
        if mark.seconds > MAX_DECISION_AGE and view.is_outdated():
            return NotSynced(OUTDATED)
    return None
