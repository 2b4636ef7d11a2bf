"""Time that passes only where a test waits."""

from __future__ import annotations

import asyncio

import pytest

from applier.testing.virtual_time import run_virtual

YEAR = 365 * 86_400.0


@pytest.mark.parametrize("years", [0, 1, 100])
def test_a_short_wait_ends_however_late_it_is(years: int) -> None:
    async def waited() -> float:
        await asyncio.sleep(years * YEAR)
        began = asyncio.get_running_loop().time()
        await asyncio.wait_for(asyncio.sleep(0.25), timeout=1)
        return asyncio.get_running_loop().time() - began

    assert run_virtual(waited()) == pytest.approx(0.25)
