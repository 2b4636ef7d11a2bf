"""Namespaces that enforce the Pod Security Standard `restricted` and have quotas take the pods of a set whose cliques wait for others."""

from __future__ import annotations

from typing import Any

import pytest

from applier.testing.kinds import HARMLESS
from tests.preflight.injecting import inject_pod, pod_of

from .world import LiveCluster, pod_clique_set

pytestmark = pytest.mark.cluster("kwok", "kube-scheduler")

SMALL = {"cpu": "100m", "memory": "64Mi"}
QUOTA = {"requests.cpu": "10", "requests.memory": "10Gi", "limits.cpu": "10", "limits.memory": "10Gi"}


@pytest.fixture
async def guarded(whole_cluster: LiveCluster) -> LiveCluster:
    """A namespace that takes only what says how much it needs and that it may do nothing, and no operator yet."""
    world = whole_cluster
    await world.kubectl("label", "namespace", world.namespace, "pod-security.kubernetes.io/enforce=restricted")
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "all"}, "spec": {"hard": QUOTA}}
    await world.kubectl("apply", "-f", "-", input=quota)
    await world.until(lambda: enforced(world), QUOTA)
    return world


async def enforced(world: LiveCluster) -> Any:
    return ((await world.get("resourcequota", "all")) or {}).get("status", {}).get("hard")


def role(name: str) -> dict[str, Any]:
    box = {"name": "box", "image": "registry.example/app:1", "securityContext": HARMLESS, "resources": {"requests": SMALL, "limits": SMALL}}
    return {"name": name, "spec": {"roleName": name, "replicas": 1, "podSpec": {"containers": [box], "terminationGracePeriodSeconds": 0}}}


async def test_a_set_with_a_start_up_order_runs_there(guarded: LiveCluster) -> None:
    await guarded.start()
    await guarded.apply(pod_clique_set(role("lead"), role("work"), cliqueStartupType="CliqueStartupTypeInOrder"))
    await guarded.until_ready("chat-0-lead-0", "chat-0-work-0")
    waits = {pod["spec"]["hostname"]: pod["spec"].get("initContainers") for pod in await guarded.objects("pods")}
    assert {name: [one["name"] for one in found or []] for name, found in waits.items()} == {
        "chat-0-lead-0": [],
        "chat-0-work-0": ["grove-initc"],
    }
    assert {pod["status"]["qosClass"] for pod in await guarded.objects("pods")} == {"Guaranteed"}


@pytest.mark.parametrize(
    ("omitted", "told"), [("resources", "must specify limits.cpu"), ("securityContext", 'violates PodSecurity "restricted')]
)
async def test_a_configuration_without_them_is_followed_and_the_refusal_told(omitted: str, told: str, guarded: LiveCluster) -> None:
    await guarded.start(config={"initContainer": {omitted: {}}})
    await guarded.apply(pod_clique_set(role("lead"), role("work"), cliqueStartupType="CliqueStartupTypeInOrder"))
    await guarded.until(lambda: is_refused(guarded, told), True)


async def is_refused(world: LiveCluster, why: str) -> bool:
    [set] = await world.objects("sets")
    messages = [one["message"] for one in set.get("status", {}).get("conditions") or [] if one["type"] == "Stalled"]
    return any(why in message for message in messages)


async def test_a_pod_with_preflight_checks_runs_where_a_quota_is(guarded: LiveCluster) -> None:
    """Under `restricted` it cannot, for the folder of the node with the connector's socket."""
    await guarded.kubectl("label", "namespace", guarded.namespace, "pod-security.kubernetes.io/enforce=privileged", "--overwrite")
    box = {"name": "box", "image": "i", "resources": {"requests": SMALL, "limits": {**SMALL, "nvidia.com/gpu": 1}}}
    values = {"checks": [{"name": "mine", "image": "i"}], "checkResources": {"requests": SMALL, "limits": SMALL}}
    without = {key: value for key, value in values.items() if key != "checkResources"}
    for name, given, refused in (("refused", without, True), ("taken", values, False)):
        pod = pod_of({"containers": [box]}, namespace=guarded.namespace)
        pod["metadata"]["name"] = name
        checked = inject_pod(pod, {**given, "namespaces": [guarded.namespace]}).injected
        assert [one["name"] for one in checked["spec"]["initContainers"]] == ["preflight-mine"]
        assert (await guarded.attempt("create", "-f", "-", input=checked) == "") is refused
