"""Several training jobs at once on a real control plane, a tenth of whose ranks fail: each failure costs one restart of its own job."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from applier.ref import Manifest

from .world import KINDS, LiveCluster, clique, pod_clique_set

pytestmark = pytest.mark.cluster("kwok", "kube-scheduler")

JOBS, RANKS, FAIL_EVERY = 10, 4, 10
"""`tests/benchmarks/jobs.py` has 200."""


def job(number: int) -> Manifest:
    manifest = pod_clique_set(clique("rank", RANKS), name=f"job-{number}")
    manifest["spec"] |= {"workloadType": "Training", "trainingSpec": {"maxRestarts": 2}}
    return manifest


async def end(world: LiveCluster, pods: list[Manifest], code: int) -> None:
    """The programs of pods end, as their nodes tell it."""
    resource = await world.cluster.resource(KINDS["pods"])
    ended = {"terminated": {"exitCode": code, "reason": "Error" if code else "Completed"}}
    status = {"name": "box", "image": "i", "imageID": "", "ready": False, "restartCount": 0, "state": ended}
    body = {"status": {"phase": "Failed" if code else "Succeeded", "containerStatuses": [status]}}
    names = [pod["metadata"]["name"] for pod in pods]
    await asyncio.gather(*(world.cluster.patch(resource, world.namespace, name, body, subresource="status") for name in names))


async def living(world: LiveCluster) -> list[Manifest]:
    pods = [pod for pod in await world.objects("pods") if not pod["metadata"].get("deletionTimestamp")]
    return sorted(pods, key=lambda pod: str(pod["metadata"]["name"]))


async def told(world: LiveCluster) -> dict[str, tuple[Any, ...]]:
    """Of each job: its phase, the restarts that it has spent, and its attempt."""
    sets = {one["metadata"]["name"]: one.get("status", {}) for one in await world.objects("sets")}
    attempts = {name: [one["attempt"] for one in status.get("trainingReplicas", [])] for name, status in sets.items()}
    return {name: (status.get("phase"), status.get("restartCount"), *attempts[name]) for name, status in sets.items()}


async def test_each_failure_of_many_restarts_its_own_job_once(world: LiveCluster) -> None:
    for number in range(JOBS):
        await world.apply(job(number))
    names = [f"job-{number}" for number in range(JOBS)]
    await world.until(lambda: told(world), dict.fromkeys(names, ("Running", 0, 1)))
    victims = (await living(world))[::FAIL_EVERY]
    failed = {pod["metadata"]["labels"]["app.kubernetes.io/part-of"] for pod in victims}
    assert len(failed) == len(victims) == JOBS * RANKS // FAIL_EVERY
    await end(world, victims, 1)
    await world.until(lambda: told(world), {name: ("Running", 1, 2) if name in failed else ("Running", 0, 1) for name in names})
    await end(world, await living(world), 0)
    await world.until(lambda: told(world), {name: ("Succeeded", 1, 2) if name in failed else ("Succeeded", 0, 1) for name in names})
    assert len(await living(world)) == JOBS * RANKS
