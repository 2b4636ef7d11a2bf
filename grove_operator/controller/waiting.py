"""What the objects of a set wait for: the rules below `why`, asked for every key of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from applier.ref import Kind, Manifest
from grove_compiler.decoder import SET_KIND
from grove_compiler.engine.runtime.results import Wait
from grove_compiler.graph.node import ObjectRef
from grove_compiler.step import Context, Key, Step, step
from grove_compiler.step import Hold as StepHold
from grove_operator.controller.keys import replicas_of
from grove_operator.controller.live_objects import LiveObjects
from grove_operator.controller.recorded_cache import RecordedCache
from grove_operator.controller.troubles import words

HELD = "why/held"
"""Stands for a rule in what is said where no rule runs."""


def waits_of(set: Manifest, objects: Iterable[Manifest], unserved: Iterable[Kind], context: Context, now: float) -> Iterator[Wait]:
    """Yields what the objects of a set wait for, given all that exists. `now` is in seconds since the epoch.

    A set that is held waits for whoever mends it, and its parts are not looked at: no rule can be asked about them.
    """
    cache = RecordedCache(objects, unserved)
    metadata = set["metadata"]
    whole = Key(SET_KIND, metadata.get("namespace") or "", metadata["name"])
    for key in (whole, *(whole._replace(replica=index) for index in range(replicas_of(set)))):
        outcome = step(LiveObjects(cache.view()), key, now, context)
        if isinstance(outcome, StepHold):
            ref = ObjectRef(set["apiVersion"], SET_KIND, whole.namespace, whole.name, metadata.get("uid") or "")
            yield Wait(ref, "Held", words(outcome), "mend it; until then everything stays as it is", None, None, HELD)
            return
        if isinstance(outcome, Step):
            yield from outcome.waits()
