"""An autoscaler that somebody points at a training workload holds it from that moment, and no longer than it is there."""

from __future__ import annotations

import asyncio
from typing import Any

from applier.ref import Manifest, Ref
from applier.testing.virtual_time import in_virtual_time
from grove_compiler.model.inputs.settings import Settings
from tests.step.world import context

from .lab import Lab, lab_running
from .test_held_is_told import stalled
from .test_no_harm import named


def autoscaler(namespace: str = "default", target: str = "set-0-worker", **metadata: Any) -> Manifest:
    scaled = {"apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "name": target}
    metadata |= {"name": "own", "namespace": namespace}
    return {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": metadata, "spec": {"scaleTargetRef": scaled}}


def job() -> Manifest:
    manifest = named("set")
    manifest["spec"]["workloadType"] = "Training"
    manifest["spec"]["template"].pop("terminationDelay", None)
    return manifest


@in_virtual_time
async def test_one_that_comes_later_holds_the_set_until_it_goes() -> None:
    lab = Lab(context())
    lab.cluster.seed(job())
    async with lab_running(lab):
        await asyncio.sleep(60)
        assert stalled(lab) == []
        lab.cluster.seed(autoscaler())
        await asyncio.sleep(60)
        assert ["HorizontalPodAutoscaler own scales PodClique/set-0-worker" in words for words in stalled(lab)] == [True]
        lab.cluster.store.remove(Ref("autoscaling", "HorizontalPodAutoscaler", "default", "own"))
        await asyncio.sleep(60)
        assert stalled(lab) == []


@in_virtual_time
async def test_what_autoscalers_of_others_report_wakes_nobody() -> None:
    lab = Lab(context(Settings(pods=True, is_operator=True)))
    lab.cluster.seed(job())
    async with lab_running(lab):
        await asyncio.sleep(60)
        before = len(lab.results)
        for _ in range(10):
            lab.cluster.seed(autoscaler("elsewhere"))
            await asyncio.sleep(15)
        assert len(lab.results) == before
