"""What is wrong is told where people look, in the server's own words; what runs stays, and all heals."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from applier.ref import Manifest

from .world import BASE, FRONT, SCALED, SERVING, LiveCluster, clique, pod_clique_set

pytestmark = pytest.mark.cluster("kwok", "kube-scheduler")

HUGE_PAGES = "HugePages require cpu or memory"


def with_front(**pod_spec: Any) -> Manifest:
    """The set with other fields in the pods of its front clique, the first fields of whose container are those of `box`."""
    edited = copy.deepcopy(SERVING)
    spec = edited["spec"]["template"]["cliques"][0]["spec"]["podSpec"]
    spec["containers"][0] |= pod_spec.pop("box", {})
    spec |= pod_spec
    return edited


def stalled(one: Manifest) -> str:
    """What its condition says, where it bears one."""
    conditions = one.get("status", {}).get("conditions", [])
    return next((each["message"] for each in conditions if each["type"] == "Stalled" and each["status"] == "True"), "")


async def says(world: LiveCluster, words: str) -> list[str]:
    """Whoever bears words in its condition."""
    objects = [one for what in ("sets", "cliques") for one in await world.objects(what)]
    return sorted(one["metadata"]["name"] for one in objects if words in stalled(one))


async def told(world: LiveCluster, words: str) -> set[str]:
    """Whom events with these words are about."""
    return {one["involvedObject"]["name"] for one in await world.objects("events") if words in one["message"]}


async def uids(world: LiveCluster) -> set[str]:
    return {one["metadata"]["uid"] for one in await world.objects("pods")}


async def test_a_template_that_no_server_takes_leaves_the_other_cliques_to_be_made(world: LiveCluster) -> None:
    await world.apply(with_front(box={"resources": {"limits": {"hugepages-2Mi": "4Mi"}}}))
    await world.until(lambda: says(world, HUGE_PAGES), ["chat", "chat-0-front"])
    await world.until(world.hostnames, sorted((*BASE, *SCALED)))
    assert await world.hostnames(lambda pod: not pod["spec"].get("schedulingGates")) == [], "the gang is not whole"
    await world.until(lambda: told(world, HUGE_PAGES), {"chat", "chat-0-front"})
    await world.apply(SERVING)
    await world.until_ready(*FRONT, *BASE, *SCALED)
    await world.until(lambda: says(world, HUGE_PAGES), [])


async def test_an_edit_to_a_template_that_no_server_takes_costs_no_pod(world: LiveCluster) -> None:
    await world.apply(SERVING)
    await world.until_ready(*FRONT, *BASE, *SCALED)
    before = await uids(world)
    await world.apply(with_front(box={"resources": {"limits": {"hugepages-2Mi": "4Mi"}}}))
    await world.until(lambda: says(world, HUGE_PAGES), ["chat"])
    assert await uids(world) == before
    await world.apply(SERVING)
    await world.until(lambda: says(world, HUGE_PAGES), [])
    assert await uids(world) == before


async def test_an_edit_that_is_held_takes_no_effect_and_lost_pods_come_again(world: LiveCluster) -> None:
    await world.apply(SERVING)
    await world.until_ready(*FRONT, *BASE, *SCALED)
    edited = copy.deepcopy(SERVING)
    edited["spec"] |= {"replicas": 2, "template": {**edited["spec"]["template"], "cliqueStartupType": "CliqueStartupTypeInOrder"}}
    await world.apply(edited)
    await world.until(lambda: says(world, "field is immutable"), ["chat"])
    before = await uids(world)
    lost = next(one for one in await world.objects("pods") if one["metadata"]["name"].startswith("chat-0-front"))
    await world.kubectl("delete", "pod", lost["metadata"]["name"], "--wait=false")
    await world.until_ready(*FRONT, *BASE, *SCALED)
    assert len(before & await uids(world)) == len(before) - 1
    await world.apply(SERVING)
    await world.until(lambda: says(world, "field is immutable"), [])
    assert len(before & await uids(world)) == len(before) - 1


async def test_what_only_the_server_knows_to_be_wrong_stops_an_update_at_the_first_pod(world: LiveCluster) -> None:
    """A class that is not there is no mistake of the template: only when a pod is made it turns out."""
    await world.apply(SERVING)
    await world.until_ready(*FRONT, *BASE, *SCALED)
    before = await uids(world)
    await world.apply(with_front(runtimeClassName="nowhere"))
    await world.until(lambda: says(world, 'RuntimeClass "nowhere" not found'), ["chat", "chat-0-front"])
    assert len(before & await uids(world)) == len(before) - 1
    await world.apply(SERVING)
    await world.until_ready(*FRONT, *BASE, *SCALED)
    await world.until(lambda: says(world, "nowhere"), [])


async def test_what_is_scaled_in_makes_room_in_a_quota_for_what_waits(world: LiveCluster) -> None:
    await world.apply(SERVING)
    await world.until_ready(*FRONT, *BASE, *SCALED)
    pods = len((*FRONT, *BASE, *SCALED))
    await world.apply({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "pods"}, "spec": {"hard": {"pods": str(pods)}}})
    await world.until(lambda: used(world), str(pods))
    await world.kubectl("scale", "podclique", "chat-0-front", "--replicas=3")
    await world.until(lambda: says(world, "pods is exceeded"), ["chat", "chat-0-front"])
    await world.kubectl("scale", "podcliquescalinggroup", "chat-0-model", "--replicas=1")
    await world.until_ready(*FRONT, "chat-0-front-2", *BASE)
    await world.until(lambda: says(world, "pods is exceeded"), [])


async def used(world: LiveCluster) -> str | None:
    """How many pods the quota counts, once it does."""
    return (await world.get("resourcequota", "pods")).get("status", {}).get("used", {}).get("pods")  # type: ignore[no-any-return]


async def test_a_set_whose_topology_goes_keeps_its_pods_and_says_so(world: LiveCluster) -> None:
    """Nobody made the topology here: what was placed by it stays, and a level that is gone is named."""
    constraint = {"topologyName": "nowhere", "pack": {"required": "rack"}}
    await world.apply(pod_clique_set(clique("front", 2), topologyConstraint=constraint))
    await world.until_ready(*FRONT)
    before = await uids(world)
    await world.until(lambda: levels(world), ["TopologyAwareSchedulingDisabled"])
    await world.at_rest()
    assert await uids(world) == before


async def levels(world: LiveCluster) -> list[str]:
    """What the set says of the levels that it is placed by."""
    [one] = await world.objects("sets")
    return [each["reason"] for each in one["status"].get("conditions", []) if each["type"] == "TopologyLevelsUnavailable"]


NONSENSE = [
    ("podgang", "chat-0", {"spec": {"podgroups": []}}),
    ("podclique", "chat-0-front", {"spec": {"podSpec": {"containers": [{"name": "box", "image": "foreign"}]}, "minAvailable": 9}}),
    ("podclique", "chat-0-front", {"metadata": {"labels": None}}),
    ("podclique", "chat-0-model-0-work", {"metadata": {"ownerReferences": None}}),
    ("podcliquescalinggroup", "chat-0-model", {"spec": {"cliqueNames": ["nobody"]}}),
    ("service", "chat-0", {"spec": {"selector": {"a": "b"}}, "metadata": {"labels": {"app.kubernetes.io/part-of": "another"}}}),
]


@pytest.mark.parametrize(("kind", "name", "patch"), NONSENSE, ids=lambda one: json.dumps(one) if isinstance(one, dict) else one)
async def test_objects_of_ours_that_are_edited_into_nonsense_heal(world: LiveCluster, kind: str, name: str, patch: dict[str, Any]) -> None:
    await world.apply(SERVING)
    await world.until_ready(*FRONT, *BASE, *SCALED)
    before, pods = await wanted_of(world, kind, name), await uids(world)
    await world.kubectl("patch", kind, name, "--type=merge", "-p", json.dumps(patch))
    await world.until(lambda: wanted_of(world, kind, name), before)
    await world.until_ready(*FRONT, *BASE, *SCALED)
    assert await uids(world) == pods
    assert [result.error for result in world.results if result.error is not None] == []


async def wanted_of(world: LiveCluster, kind: str, name: str) -> Manifest:
    if (live := await world.get(kind, name)) is None:  # it is being made anew
        return {}
    owners = [(one["kind"], one["name"]) for one in live["metadata"].get("ownerReferences", [])]
    return {"spec": live["spec"], "labels": live["metadata"].get("labels"), "owners": owners}
