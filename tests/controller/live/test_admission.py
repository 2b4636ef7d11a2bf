"""A LimitRange that refuses pods or adds to them, a quota, and a slow webhook of somebody else's: what serves keeps serving."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from applier.ref import Manifest
from tests.applier.transport.certificates import needs_openssl
from tests.permitted import resources

from .test_trouble import says, uids
from .third_party import TIMEOUT, webhook
from .world import BASE, FRONT, SCALED, SERVING, LiveCluster

pytestmark = pytest.mark.cluster("kwok", "kube-scheduler")

REFUSAL = "maximum cpu usage per Container is 1"
NEW = "registry.example/app:2"


def edited(**box: Any) -> Manifest:
    """The set with other fields in the container of its front clique."""
    there = copy.deepcopy(SERVING)
    there["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][0] |= box
    return there


async def limit(world: LiveCluster, **limits: dict[str, str]) -> None:
    """Somebody sets limits for the containers of the namespace."""
    spec = {"limits": [{"type": "Container", **limits}]}
    await world.kubectl("apply", "-f", "-", input={"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "all"}, "spec": spec})


async def images(world: LiveCluster) -> set[str]:
    """The images of the front clique's pods."""
    return {pod["spec"]["containers"][0]["image"] for pod in await world.objects("pods") if pod["spec"]["hostname"] in FRONT}


async def is_updating(world: LiveCluster) -> bool:
    """Whether the set says that an update is on."""
    [one] = await world.objects("sets")
    progress = one["status"].get("updateProgress") or {}
    return not progress.get("updateEndedAt")


async def test_an_update_that_a_limit_range_refuses_costs_one_pod_and_taking_it_back_none(world: LiveCluster) -> None:
    await world.apply(SERVING)
    await world.until_ready(*FRONT, *BASE, *SCALED)
    before = await uids(world)
    await limit(world, max={"cpu": "1"})
    await world.until_a_pod(says=REFUSAL, resources=resources("2"))
    await world.apply(edited(image=NEW, resources=resources("2")))
    await world.until(lambda: says(world, REFUSAL), ["chat", "chat-0-front"])
    await world.at_rest()
    kept = before & await uids(world)
    assert len(kept) == len(before) - 1
    await world.apply(edited(resources=resources("1")))
    await world.until_ready(*FRONT, *BASE, *SCALED)
    await world.until(lambda: says(world, REFUSAL), [])


async def test_an_update_for_whose_pods_a_quota_leaves_nothing_costs_one_pod_and_taking_it_back_none(world: LiveCluster) -> None:
    """Others take what a pod leaves; here somebody gives the namespace less than it has."""
    await world.apply(SERVING)
    await world.until_ready(*FRONT, *BASE, *SCALED)
    before = await uids(world)
    await allow(world, 4)
    await world.until_a_pod(says="exceeded quota")
    await world.apply(edited(image=NEW))
    await world.until(lambda: says(world, "quota all is exceeded"), ["chat", "chat-0-front"])
    await world.at_rest()
    assert len(before & await uids(world)) == len(before) - 1
    assert await is_updating(world)
    await world.apply(SERVING)
    await world.at_rest()
    kept = before & await uids(world)
    assert len(kept) == len(before) - 1
    await allow(world, 8)
    await world.until_ready(*FRONT, *BASE, *SCALED)
    await world.until(lambda: says(world, "quota all is exceeded"), [])
    assert kept <= await uids(world)
    assert await images(world) == {"registry.example/app:1"}


async def allow(world: LiveCluster, pods: int) -> None:
    """Somebody gives the namespace a quota of so many pods."""
    hard = {"pods": str(pods)}
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "all"}, "spec": {"hard": hard}}
    await world.kubectl("apply", "-f", "-", input=quota)
    await world.until(lambda: enforced(world), hard)


async def enforced(world: LiveCluster) -> Any:
    return ((await world.get("resourcequota", "all")) or {}).get("status", {}).get("hard")


async def test_what_a_limit_range_adds_to_pods_restarts_nothing_and_lets_updates_end(world: LiveCluster) -> None:
    await limit(world, default={"cpu": "200m", "memory": "32Mi"}, defaultRequest={"cpu": "20m", "memory": "16Mi"})
    await world.apply(edited(resources={}))
    await world.until_ready(*FRONT, *BASE, *SCALED)
    before = await uids(world)
    await world.stop()
    await world.start()
    await world.at_rest()
    assert await uids(world) == before
    await world.apply(edited(image=NEW, resources={}))
    await world.until(lambda: images(world), {NEW})
    await world.until(lambda: is_updating(world), False)
    await world.until_ready(*FRONT, *BASE, *SCALED)


@needs_openssl
async def test_an_update_goes_on_behind_a_webhook_that_is_slow_and_waits_while_it_fails(world: LiveCluster, tmp_path: Path) -> None:
    await world.apply(SERVING)
    await world.until_ready(*FRONT, *BASE, *SCALED)
    before = await uids(world)
    async with webhook(world, tmp_path) as hook:
        await world.apply(edited(image=NEW))
        await world.until(lambda: says(world, "pods.example.com"), ["chat", "chat-0-front"])
        assert len(before & await uids(world)) == len(before) - 1
        hook.takes = TIMEOUT / 2
        await world.until(lambda: images(world), {NEW})
        await world.until(lambda: is_updating(world), False)
    await world.until_ready(*FRONT, *BASE, *SCALED)
