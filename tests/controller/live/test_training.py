"""The five cases of the training design's test plan on a real control plane, of which the webhooks' is in tests/webhooks (GREP-0285)."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from applier.ref import Manifest

from .world import LiveCluster, clique, pod_clique_set

pytestmark = pytest.mark.cluster("kwok", "kube-scheduler")

RANKS = ("chat-0-lead-0", "chat-0-ranks-0-rank-0", "chat-0-ranks-0-rank-1", "chat-0-ranks-1-rank-0", "chat-0-ranks-1-rank-1")


def job(**limits: Any) -> Manifest:
    """A leader, and two groups of two ranks."""
    groups = [{"name": "ranks", "cliqueNames": ["rank"], "replicas": 2}]
    manifest = pod_clique_set(clique("lead"), clique("rank", 2), podCliqueScalingGroups=groups)
    manifest["spec"] |= {"workloadType": "Training", "trainingSpec": limits}
    return manifest


async def run(world: LiveCluster, **limits: Any) -> None:
    """A job that runs."""
    await world.apply(job(**limits))
    await world.until_ready(*RANKS)
    await world.until(lambda: told(world, "phase"), "Running")


async def told(world: LiveCluster, field: str) -> Any:
    [set] = await world.objects("sets")
    return set.get("status", {}).get(field)


async def reasons(world: LiveCluster) -> list[str]:
    """Why the set says that it has failed."""
    conditions = await told(world, "conditions") or []
    return [one["reason"] for one in conditions if (one["type"], one["status"]) == ("Failed", "True")]


async def living(world: LiveCluster) -> dict[str, Manifest]:
    return {pod["spec"]["hostname"]: pod for pod in await world.objects("pods") if not pod["metadata"].get("deletionTimestamp")}


async def exit_pods(world: LiveCluster, *hostnames: str, code: int = 0) -> None:
    """The programs of pods end, as their nodes tell it."""
    pods = await living(world)
    ended = {"exitCode": code, "reason": "Error" if code else "Completed", "finishedAt": None, "startedAt": None}
    status = {"name": "box", "image": "i", "imageID": "", "ready": False, "restartCount": 0, "state": {"terminated": ended}}
    body = {"status": {"phase": "Failed" if code else "Succeeded", "containerStatuses": [status]}}
    for hostname in hostnames:
        name = pods[hostname]["metadata"]["name"]
        await world.kubectl("patch", "pod", name, "--subresource=status", "--type=merge", "-p", json.dumps(body))


async def attempts(world: LiveCluster) -> set[str]:
    return {pod["metadata"]["labels"]["grove.io/attempt"] for pod in (await living(world)).values()}


async def until_told(world: LiveCluster, *reasons: str) -> None:
    """Waits for events with these reasons, which come after what they tell of."""

    async def told_of() -> bool:
        return {*reasons} <= {one["reason"] for one in await world.objects("events")}

    await world.until(told_of, True)


async def test_a_job_whose_pods_all_exit_with_0_has_succeeded(world: LiveCluster) -> None:
    await run(world)
    await exit_pods(world, *RANKS[:3])
    await exit_pods(world, *RANKS[3:])
    await world.until(lambda: told(world, "phase"), "Succeeded")
    assert sorted(await living(world)) == sorted(RANKS)
    assert {one["status"]["succeededIndexes"] for one in await world.objects("cliques")} == {"0", "0-1"}
    await until_told(world, "WorkloadSucceeded")


async def test_a_single_failure_without_restarts_ends_the_job(world: LiveCluster) -> None:
    await run(world)
    await exit_pods(world, RANKS[4], code=3)
    await world.until(lambda: told(world, "phase"), "Failed")
    assert await reasons(world) == ["MaxRestartsExceeded"]
    await world.until(lambda: hostnames(world), [RANKS[4]])
    await until_told(world, "PodCliqueFailed", "MaxRestartsExceeded")


async def hostnames(world: LiveCluster) -> list[str]:
    return await world.hostnames()


async def test_a_job_is_restarted_and_succeeds_within_its_budget(world: LiveCluster) -> None:
    await run(world, maxRestarts=1)
    await exit_pods(world, RANKS[0])
    await exit_pods(world, RANKS[2], code=1)
    await world.until(lambda: attempts(world), {"2"})
    await world.until_ready(*RANKS)
    await world.until(lambda: told(world, "phase"), "Running")
    assert await told(world, "restartCount") == 1
    await exit_pods(world, *RANKS)
    await world.until(lambda: told(world, "phase"), "Succeeded")
    assert [one["cause"] for one in await told(world, "attempts")] == ["PodFailed", "Succeeded"]


async def test_a_job_that_runs_too_long_is_terminated(world: LiveCluster) -> None:
    await run(world, maxRuntime="3s")
    await world.until(lambda: told(world, "phase"), "Failed")
    assert await reasons(world) == ["MaxRuntimeExceeded"]
    await world.until(lambda: hostnames(world), [])
    await until_told(world, "MaxRuntimeExceeded")


async def test_a_job_whose_leader_is_done_ends_its_workers_and_goes_after_a_while(world: LiveCluster) -> None:
    manifest = job(successCliques=["lead"])
    manifest["spec"]["ttlSecondsAfterFinished"] = 3
    await world.apply(manifest)
    await world.until_ready(*RANKS)
    await exit_pods(world, RANKS[0])
    await world.until(lambda: hostnames(world), [RANKS[0]])
    await world.until(lambda: world.names("sets"), [])
    await world.until(lambda: hostnames(world), [])
    await until_told(world, "WorkloadSucceeded")


async def test_a_job_waits_before_its_next_attempt_and_keeps_what_has_failed(world: LiveCluster) -> None:
    await run(world, maxRestarts=1, restartBackoff={"initial": "4s"}, keepFinishedPods={"onRestart": True})
    await exit_pods(world, RANKS[3], code=1)
    await world.until(lambda: hostnames(world), [RANKS[3]])
    [replica] = await told(world, "trainingReplicas")
    assert (replica["attempt"], replica["failuresInARow"]) == (2, 1)
    await world.until(lambda: hostnames(world), sorted([*RANKS, RANKS[3]]))
    [set] = await world.objects("sets")
    made = min(
        pod["metadata"]["creationTimestamp"] for pod in await world.objects("pods") if pod["metadata"]["labels"]["grove.io/attempt"] == "2"
    )
    assert made >= replica["backoffUntil"] >= set["status"]["attempts"][-1]["endTime"]


async def test_an_operator_that_is_killed_during_a_restart_counts_it_once(world: LiveCluster) -> None:
    await run(world, maxRestarts=3)
    await exit_pods(world, RANKS[1], code=1)
    for _ in range(6):
        await asyncio.sleep(0.05)
        await world.kill()
        await world.start()
    await world.until(lambda: attempts(world), {"2"})
    await world.until_ready(*RANKS)
    assert await told(world, "restartCount") == 1


async def sizes(world: LiveCluster) -> dict[str, int]:
    return {one["metadata"]["name"]: one["spec"]["replicas"] for what in ("cliques", "groups") for one in await world.objects(what)}


async def test_the_size_of_a_job_is_put_back_where_no_webhook_has_refused_another(world: LiveCluster) -> None:
    await run(world)
    declared, before = await sizes(world), {name: pod["metadata"]["uid"] for name, pod in (await living(world)).items()}
    for what, name in (("podclique", "chat-0-lead"), ("podcliquescalinggroup", "chat-0-ranks"), ("podclique", "chat-0-ranks-1-rank")):
        manifest = await world.get(what, name)
        other = {**manifest, "metadata": {"name": name}, "spec": {**manifest["spec"], "replicas": 6}}
        for write in (
            ("scale", what, name, "--replicas=6"),
            ("patch", what, name, "--type=merge", "-p", '{"spec": {"replicas": 0}}'),
            ("apply", "--server-side", "--force-conflicts", "--field-manager=mine", "-f", "-"),
        ):
            await world.kubectl(*write, input=other)
            await world.until(lambda: sizes(world), declared)
    await world.at_rest()
    assert {name: pod["metadata"]["uid"] for name, pod in (await living(world)).items()} == before
