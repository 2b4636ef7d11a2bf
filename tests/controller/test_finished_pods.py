"""Pods that fail as soon as they are there are replaced after a back-off, and others at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from applier.ref import Manifest, Ref
from applier.testing.virtual_time import in_virtual_time
from tests.step.world import context

from .lab import EPOCH, Lab, lab_running
from .test_no_harm import named

REJECTED = {"phase": "Failed", "reason": "UnexpectedAdmissionError", "message": "Allocate failed: device plugin GPU is unhealthy"}
HOUR = 3600


class Node:
    """A node that reports a status of each pod, some seconds after it was created. `made` are the pods of index 0 of one clique."""

    def __init__(self, lab: Lab, after: float, status: Manifest) -> None:
        self.lab, self.after, self.status, self.made = lab, after, status, list[tuple[float, str]]()
        clock: Callable[[], float] = lambda: EPOCH + asyncio.get_running_loop().time()  # noqa: E731
        lab.cluster.now = lambda: datetime.fromtimestamp(clock(), UTC)
        lab.cluster.admit = self._admit

    def _admit(self, manifest: Manifest) -> Manifest:
        if manifest["kind"] == "Pod" and not manifest["metadata"].get("uid"):
            loop, ref = asyncio.get_running_loop(), Ref.of(manifest)
            if manifest["spec"]["hostname"] == "set-0-worker-0":
                self.made.append((loop.time(), ref.name))
            loop.call_later(self.after, self._report, ref)
        return manifest

    def _report(self, ref: Ref) -> None:
        if (pod := self.lab.cluster.store.objects.get(ref)) is not None:
            self.lab.cluster.seed({**pod, "status": self.status})


@pytest.mark.parametrize("phase", ["Failed", "Succeeded"])
@in_virtual_time
async def test_a_pod_that_fails_at_once_is_replaced_after_pauses_that_double(phase: str) -> None:
    lab = Lab(context())
    node = Node(lab, 0.5, {**REJECTED, "phase": phase})
    lab.cluster.seed(named("set"))
    async with lab_running(lab):
        await asyncio.sleep(HOUR)
    pauses = [later - sooner for (sooner, _), (later, _) in zip(node.made, node.made[1:], strict=False)]
    assert [round(pause, -1) for pause in pauses[:6]] == [10, 20, 40, 80, 160, 320]
    assert all(600 <= pause <= 605 for pause in pauses[6:])
    assert len({name for _, name in node.made}) == len(node.made)


@in_virtual_time
async def test_a_pod_that_fails_after_it_has_lasted_is_replaced_at_once() -> None:
    lab = Lab(context())
    node = Node(lab, HOUR, REJECTED)
    lab.cluster.seed(named("set"))
    async with lab_running(lab):
        await asyncio.sleep(3.5 * HOUR)
    pauses = [later - sooner for (sooner, _), (later, _) in zip(node.made, node.made[1:], strict=False)]
    assert len(pauses) == 3
    assert all(HOUR <= pause <= HOUR + 5 for pause in pauses)
