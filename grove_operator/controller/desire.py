"""Asks the compiler's step what should be for a key, and says it in the applier's words: a graph, gone, or hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from applier.desired import Deletion, EventWrite, Gone, Graph, Hold, ObjectReference
from applier.loop import View
from grove_compiler.engine.runtime.results import Deletion as DeletionResult
from grove_compiler.engine.runtime.results import Event
from grove_compiler.model.inputs.snapshot import group_of
from grove_compiler.step import Context, Key, Step, step
from grove_compiler.step import Gone as StepGone
from grove_compiler.step import Hold as StepHold
from grove_operator.cluster.desired import Sources, desired_graph
from grove_operator.controller.live_objects import LiveObjects
from grove_operator.controller.statuses import status_writes

Clock = Callable[[], float]
R = TypeVar("R", Event, DeletionResult)


class Desire:
    """Is the function that a loop calls: from what it sees to what should be. `clock` gives seconds since the epoch."""

    def __init__(self, context: Context, clock: Clock) -> None:
        self._context, self._clock = context, clock

    def __call__(self, view: View, key: Key) -> Graph | Gone | Hold:
        """Returns what should be for a key. Raises `NotSynced` where the cache cannot answer: the loop looks again when it can."""
        objects, now = LiveObjects(view), self._clock()
        outcome = step(objects, key, now, self._context)
        if objects.not_synced is not None:
            raise objects.not_synced
        match outcome:
            case StepGone():
                return Gone()
            case StepHold():
                return Hold(outcome.reason)
            case Step():
                return self._graph(outcome, objects, now)

    def _graph(self, made: Step, objects: LiveObjects, now: float) -> Graph:
        return Graph(
            desired_graph(Sources(made.graph, [])).objects.values(),
            statuses=list(status_writes(made.statuses, made.conditions, objects, now)),
            events=[EventWrite(of, one.type, one.reason, one.message, one.name) for one, of in _of_live(made.events, objects)],
            deletions=[Deletion(of, one.reason) for one, of in _of_live(made.deletions, objects)],
            requeue_after=None if made.look_again is None else max(made.look_again - now, 0.0),
        )


def _of_live(results: Iterable[R], objects: LiveObjects) -> Iterator[tuple[R, ObjectReference]]:
    """What is said about objects that exist, each with the one that is meant: no later one of its name."""
    for one in results:
        of = one.of
        live = objects.get(group_of(of.api_version), of.kind, of.namespace, of.name)
        if live is not None and live["metadata"].get("uid") == of.uid:
            yield one, ObjectReference.of(live)
