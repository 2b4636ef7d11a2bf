"""Claims that pods share, on a real API server: pods are not made without them, and come as soon as they can."""

from __future__ import annotations

import pytest

from applier.ref import Manifest

from .world import LiveCluster, clique, pod_clique_set, team

pytestmark = pytest.mark.cluster

TEMPLATE: Manifest = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaimTemplate",
    "metadata": {"name": "ext"},
    "spec": {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}]}}},
}


async def waits(world: LiveCluster) -> dict[str, str]:
    """What the set and its PodCliques say they wait for."""
    bearers = [*await world.objects("sets"), *await world.objects("cliques")]
    found = {one["metadata"]["name"]: one.get("status", {}).get("conditions", []) for one in bearers}
    return {name: each["message"] for name, all in found.items() for each in all if each["type"] == "ResourceClaimTemplatesUnavailable"}


async def told(world: LiveCluster) -> list[str]:
    return [one["message"] for one in await world.objects("events") if one["reason"] == "ResourceClaimTemplateNotFound"]


async def claims(world: LiveCluster) -> list[str]:
    found = (await world.get("resourceclaims"))["items"]
    return [one["metadata"]["name"] for one in found if "deletionTimestamp" not in one["metadata"]]


async def test_pods_wait_for_the_template_of_their_claim_and_say_so_and_keep_the_claim_when_it_goes(world: LiveCluster) -> None:
    front = {**clique("front", 2), "resourceSharing": [{"name": "ext", "scope": "AllReplicas"}]}
    await world.apply(pod_clique_set(front, clique("plain")))
    words = f"Pods are waiting for the ResourceClaimTemplates {world.namespace}/ext"
    await world.until(lambda: waits(world), {"chat": words, "chat-0-front": words})
    await world.until(world.hostnames, ["chat-0-plain-0"])
    await world.until(lambda: told(world), [f"Pods are waiting for the ResourceClaimTemplate {world.namespace}/ext"])
    await world.apply(TEMPLATE)
    await world.until(world.hostnames, ["chat-0-front-0", "chat-0-front-1", "chat-0-plain-0"])
    await world.until(lambda: claims(world), ["chat-0-front-all-ext"])
    await world.until(lambda: waits(world), {})
    before = await world.names("pods")
    await world.kubectl("delete", "resourceclaimtemplate", "ext")
    await world.kubectl("label", "podcliqueset", "chat", "team=a")
    await world.until(lambda: team(world), "a")
    assert (await claims(world), await world.names("pods")) == (["chat-0-front-all-ext"], before)
    await world.kubectl("delete", "podcliqueset", "chat")
    await world.until(lambda: claims(world), [])
