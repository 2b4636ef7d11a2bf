"""What a loop leaves that is ended in the middle."""

from __future__ import annotations

import asyncio

from applier.testing.memory.faults import MemoryRequest
from applier.testing.virtual_time import in_virtual_time

from .lab import lab, now, some


@in_virtual_time
async def test_a_loop_that_is_cancelled_before_it_has_read_anything_leaves_no_task() -> None:
    world = lab()

    async def no_answer(_: MemoryRequest) -> None:
        await asyncio.sleep(1000.0)

    world.cluster.before = no_answer
    running = asyncio.create_task(world.loop.run())
    await asyncio.sleep(0.1)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert asyncio.all_tasks() == {asyncio.current_task()}


@in_virtual_time
async def test_a_loop_that_is_to_stop_does_not_wait_for_a_webhook_that_never_answers() -> None:
    world = lab()
    world.cluster.seed(some("set", 3))

    async def silent_for_writes(request: MemoryRequest) -> None:
        if request.verb not in ("list", "watch", "get"):
            await asyncio.sleep(1000.0)

    world.cluster.before = silent_for_writes
    running = asyncio.create_task(world.loop.run())
    await asyncio.sleep(1.0)
    began = now()
    world.loop.stop(5.0)
    await running
    assert now() - began < 10.0
    assert asyncio.all_tasks() == {asyncio.current_task()}
