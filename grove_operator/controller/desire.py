"""Asks the compiler's step what should be for a key, and says it in the applier's words: a graph, gone, or hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from applier.desired import Deletion, EventWrite, Gone, Graph, Hold, ObjectReference
from applier.errors import Forbidden
from applier.loop import Result, View
from applier.ref import Manifest, Ref
from grove_compiler.decoder import SET_KIND
from grove_compiler.engine.runtime.results import Deletion as DeletionResult
from grove_compiler.engine.runtime.results import Event
from grove_compiler.graph.node import ObjectRef
from grove_compiler.model.inputs.snapshot import Objects, group_of
from grove_compiler.replay.replay import StepFunction
from grove_compiler.step import GROUP, Context, Key, Step, step
from grove_compiler.step import Gone as StepGone
from grove_compiler.step import Hold as StepHold
from grove_operator.cluster.desired import Sources, desired_graph
from grove_operator.controller.bad_news import BadNews
from grove_operator.controller.live_objects import LiveObjects
from grove_operator.controller.pending import Pending
from grove_operator.controller.pending import condition as why_pending
from grove_operator.controller.pending import event as pending_event
from grove_operator.controller.statuses import status_writes
from grove_operator.controller.troubles import REFUSED, Trouble, Troubles, condition, event, status_as_it_is, whole, words

Clock = Callable[[], float]
Record = Callable[[StepFunction, Objects, Key, float, Context], Step | StepGone | StepHold]
R = TypeVar("R", Event, DeletionResult)


ASK_AGAIN = 5.0
"""Seconds between two looks at a key for which permission is missing to read something: nobody tells when it is given."""
WITHOUT_STATUS = ("ClusterTopology",)
"""Kinds that have nothing to bear a condition in: people are told by events alone."""


class Desire:
    """Is the function that a loop calls: from what it sees to what should be. `clock` gives seconds since the epoch.

    `wake` lets a key be looked at soon: that of a set whose replica is held, or is so no more, since the set's own key writes its status.
    `record` takes the step of a key by the function that it is given, and may keep it.
    """

    def __init__(
        self,
        context: Context,
        clock: Clock,
        wake: Callable[[Key], None] = lambda _: None,
        record: Record = lambda take, *asked: take(*asked),
    ) -> None:
        self._context, self._clock, self._wake, self._record = context, clock, wake, record
        self._troubles, self._bad_news, self._pending = Troubles(), BadNews(), Pending()

    def __call__(self, view: View, key: Key) -> Graph | Gone | Hold:
        """Returns what should be for a key. Raises `NotSynced` where the cache cannot answer: the loop looks again when it can."""
        objects, now = LiveObjects(view), self._clock()
        outcome = self._record(step, objects, key, now, self._context)
        if objects.not_synced is not None:
            if isinstance(objects.not_synced.cause, Forbidden):
                return self._hold(key, StepHold(str(objects.not_synced)), LiveObjects(view), now, ASK_AGAIN)
            raise objects.not_synced
        match outcome:
            case StepGone():
                self._wake_set(key, self._troubles.release(key, gone=True) | self._pending.note(key, None))
                return Gone()
            case StepHold():
                return self._hold(key, outcome, objects, now)
            case Step():
                self._wake_set(key, self._troubles.release(key) | self._pending.note(key, outcome))
                return self._graph(key, outcome, objects, now)

    def look_at(self, result: Result[Key]) -> None:
        """Takes down what the server refused, for its owner and the set to say so."""
        if self._troubles.look_at(result):
            self._wake(result.key)
            self._wake(whole(result.key))

    def _wake_set(self, key: Key, is_news: bool) -> None:
        if is_news and key.replica is not None:
            self._wake(whole(key))

    def _hold(self, key: Key, outcome: StepHold, objects: LiveObjects, now: float, ask_again: float | None = None) -> Hold:
        """Leaves all as it is. What is about a set as a whole is written to it now, what is about a replica when the set is looked at.

        `ask_again` is in how many seconds, where nothing tells when that is over.
        """
        why = words(outcome)
        self._wake_set(key, self._troubles.hold(key, why))
        trouble = self._troubles.of(key)
        live = objects.get(GROUP, key.kind, key.namespace, key.name) if key.replica is None else None
        if live is None or trouble is None:
            return Hold(why, requeue_after=ask_again)
        of = _ref(live)
        statuses = [] if key.kind in WITHOUT_STATUS else status_writes([status_as_it_is(of, live)], [condition(of, trouble)], objects, now)
        told = event(of, trouble)
        told_once = EventWrite(ObjectReference.of(live), told.type, told.reason, told.message, told.name)
        return Hold(why, list(statuses), [told_once], ask_again)

    def _graph(self, key: Key, made: Step, objects: LiveObjects, now: float) -> Graph:
        live = objects.get(GROUP, key.kind, key.namespace, key.name) if key.replica is None else None
        if live is not None and (trouble := self._troubles.of(key)):
            made.conditions.append(condition(_ref(live), trouble))
            made.events.append(event(_ref(live), trouble))
        for of, trouble in _refusals(made, self._troubles.refused(key)).items():
            made.conditions.append(condition(of, trouble))
            made.events.append(event(of, trouble))
        ask_again = self._say_why(key, made, live, objects, now) if live is not None else 0.0
        statuses, waits = self._bad_news.sift(status_writes(made.statuses, made.conditions, objects, now), objects, now)
        due = [*waits, *([ask_again] if ask_again else []), *([] if made.requeue_at is None else [max(made.requeue_at - now, 0.0)])]
        return Graph(
            desired_graph(Sources(made.graph, []), is_operator=True).objects.values(),
            statuses=statuses,
            events=[EventWrite(of, one.type, one.reason, one.message, one.name) for one, of in _of_live(made.events, objects)],
            deletions=[Deletion(of, one.reason, is_attributed=one.is_attributed) for one, of in _of_live(made.deletions, objects)],
            requeue_after=min(due, default=None),
        )

    def _say_why(self, key: Key, made: Step, live: Manifest, objects: LiveObjects, now: float) -> float:
        """Adds the condition and the event of a set that has waited for long enough. Returns in how many seconds to ask again, 0 for never.

        The step of the replica is taken through the eyes of the set, so that the set hears of what changes in it.
        """
        index, left = self._pending.replica(key, now)
        replica = step(objects, key._replace(replica=index), now, self._context) if index is not None else None
        if isinstance(replica, Step) and (told := why_pending(_ref(live), [*made.waits(), *replica.waits()])):
            made.conditions.append(told)
            made.events += pending_event(told, live)
        return left


def _refusals(made: Step, refused: Mapping[Ref, str]) -> dict[ObjectRef, Trouble]:
    """The first refusal about each PodClique or scaling group whose objects are refused. Their set says what it is about itself."""
    owners = [(node.owner, words) for node in made.graph.nodes if (words := refused.get(Ref.of(node.object)))] if refused else []
    told: dict[ObjectRef, Trouble] = {}
    for owner, words in owners:
        if owner is not None and owner.kind != SET_KIND:
            told.setdefault(owner, Trouble(REFUSED, words, ""))
    return told


def _ref(live: Manifest) -> ObjectRef:
    metadata = live["metadata"]
    return ObjectRef(live["apiVersion"], live["kind"], metadata.get("namespace", ""), metadata["name"], metadata.get("uid", ""))


def _of_live(results: Iterable[R], objects: LiveObjects) -> Iterator[tuple[R, ObjectReference]]:
    """What is said about objects that exist, each with the one that is meant: no later one of its name."""
    for one in results:
        of = one.of
        live = objects.get(group_of(of.api_version), of.kind, of.namespace, of.name)
        if live is not None and live["metadata"].get("uid") == of.uid:
            yield one, ObjectReference.of(live)
