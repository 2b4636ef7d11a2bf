"""Evaluates changed rules on all existing sets before they take effect."""

from __future__ import annotations

import asyncio

from applier.cache import WatchCache
from applier.errors import NotSynced
from applier.loop import View
from grove_compiler.decoder import SET_KIND
from grove_compiler.step import Key, StepContext, StepHold, step
from grove_operator.controller.evaluator import Clock
from grove_operator.controller.live_objects import LiveObjects
from grove_operator.controller.membership import replicas_of


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
    return outcome.reason if isinstance(outcome, StepHold) else ""
