"""What the objects of a set wait for: the rules below `why`, asked for every key of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from applier.ref import Kind, Manifest, Ref
from grove_compiler.decoder import SET_KIND
from grove_compiler.engine.runtime.results import Wait
from grove_compiler.graph.node import ObjectRef
from grove_compiler.model.names import replica_of
from grove_compiler.step import Context, Key, Step, step
from grove_compiler.step import Hold as StepHold
from grove_operator.controller.keys import replicas_of
from grove_operator.controller.live_objects import LiveObjects
from grove_operator.controller.membership import key_of
from grove_operator.controller.recorded_cache import RecordedCache
from grove_operator.controller.troubles import words

HELD = "why/held"
"""Stands for a rule in what is said where no rule runs."""


def waits_of(
    set: Manifest,
    objects: Iterable[Manifest],
    unserved: Iterable[Kind],
    context: Context,
    now: float,
    part: Manifest | None = None,
) -> list[Wait]:
    """Returns what the objects of a set wait for, given all that exists. `now` is in seconds since the epoch.

    Where only a `part` of the set is asked about, its replica is looked at, and others as far as it waits for something of theirs: of five
    thousand each takes its time. A set that is held waits for whoever mends it, and its parts are not looked at: no rule can be asked
    about them.
    """
    cache, metadata = RecordedCache(objects, unserved), set["metadata"]
    whole = Key(SET_KIND, metadata.get("namespace") or "", metadata["name"])
    waits: list[Wait] = []
    looked_at: dict[Key, None] = {}
    due = [whole]
    while due:
        for key in due:
            outcome = step(LiveObjects(cache.view()), key, now, context)
            if isinstance(outcome, StepHold):
                ref = ObjectRef(set["apiVersion"], SET_KIND, whole.namespace, whole.name, metadata.get("uid") or "")
                return [*waits, Wait(ref, "Held", words(outcome), "mend it; until then everything stays as it is", None, None, HELD)]
            if isinstance(outcome, Step):
                waits += outcome.waits()
        looked_at |= dict.fromkeys(due)
        everyone = [whole._replace(replica=index) for index in range(replicas_of(set))]  # not before: a set of too many is held
        reached = _reached(Ref.of(part or set), waits)
        wanted = frozenset(everyone) if Ref.of(set) in reached else _keys(cache, reached, whole)
        due = [key for key in everyone if key in wanted and key not in looked_at]
    return waits


def _reached(root: Ref, waits: Iterable[Wait]) -> frozenset[Ref]:
    """The object, and all that it waits for, as far as is known."""
    on: dict[Ref, list[Ref]] = defaultdict(list)
    for wait in waits:
        if wait.on is not None:
            on[_ref(wait.of)].append(_ref(wait.on))
    reached, todo = {root}, [root]
    while todo:
        new = [ref for ref in on[todo.pop()] if ref not in reached]
        reached.update(new)
        todo += new
    return frozenset(reached)


def _keys(cache: RecordedCache, refs: Iterable[Ref], whole: Key) -> frozenset[Key]:
    """The keys that objects are of; where an object is not there, or does not say, its name tells."""
    live = ((ref, cache.get(ref)) for ref in refs)
    return frozenset(
        (key_of(ref, manifest) if manifest is not None else None) or whole._replace(replica=replica_of(ref.name, whole.name))
        for ref, manifest in live
    )


def _ref(ref: ObjectRef) -> Ref:
    return Ref(ref.api_version.rpartition("/")[0], ref.kind, ref.namespace, ref.name)
