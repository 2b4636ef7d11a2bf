"""Tries other rules on everything that is there, before they count."""

from __future__ import annotations

import asyncio

from applier.cache import WatchCache
from applier.errors import NotSynced
from applier.loop import View
from grove_compiler.decoder import SET_KIND
from grove_compiler.step import Context, Hold, Key, step
from grove_operator.controller.desire import Clock
from grove_operator.controller.keys import replicas_of
from grove_operator.controller.live_objects import LiveObjects


async def first_harm(cache: WatchCache, before: Context, after: Context, clock: Clock) -> str:
    """Returns which set other rules would hold that these do not, and why; empty where they would hold none.

    A set as a whole and its first replica speak for all of its replicas, which differ in little. Others are let run in between.
    """
    try:
        sets = cache.by_label("grove.io", SET_KIND)
    except NotSynced as error:
        return str(error)
    for manifest in sets:
        whole = Key(SET_KIND, manifest["metadata"].get("namespace", ""), manifest["metadata"]["name"])
        for key in (whole, *([whole._replace(replica=0)] if replicas_of(manifest) else [])):
            why = _held(cache, key, after, clock)
            if why and not _held(cache, key, before, clock):
                return f"{key} would be held: {why}"
        await asyncio.sleep(0)
    return ""


def _held(cache: WatchCache, key: Key, context: Context, clock: Clock) -> str:
    outcome = step(LiveObjects(View(cache)), key, clock(), context)
    return outcome.reason if isinstance(outcome, Hold) else ""
