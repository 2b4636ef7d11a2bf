"""Multi-node NVLink on a real API server and scheduler: domains and claims come and go with what needs them, and nothing waits in a circle.

A part of NVIDIA's driver is played here: its definition, its class and its devices, and a template of claims for each domain.
"""

from __future__ import annotations

import asyncio
import copy
import json
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from applier.ref import Manifest
from applier.testing import assets
from applier.testing.control_plane import ControlPlane
from applier.testing.errors import ControlPlaneError
from tests.definitions import definition
from tests.permitted import resources

from .conftest import NODES
from .resource_versions import as_served
from .world import LiveCluster, clique, is_ready, pod_clique_set

pytestmark = pytest.mark.cluster("kwok", "kube-scheduler")

DRIVER, CLASS = "compute-domain.nvidia.com", "compute-domain-default-channel.nvidia.com"
GPU = {"resources": resources(**{"nvidia.com/gpu": "1"})}
FORGOTTEN = timedelta(seconds=30)
GROUPS = {"network": {"autoMNNVLEnabled": True}}
DEFINITION = definition("resource.nvidia.com", "v1beta1", "ComputeDomain", "computedomains")
AS_PROPOSED: Manifest = json.loads(json.dumps(DEFINITION).replace("v1beta1", "v1alpha1"))
"""The version that the designs were written for, which no driver has ever served."""
DOMAINS = "computedomains.resource.nvidia.com"
PROPOSED = "computedomains.v1alpha1.resource.nvidia.com"


def channel(node: int) -> Manifest:
    """What the driver publishes for a node: one channel, for which one pod has room."""
    attributes = {"type": {"string": "channel"}, "id": {"int": 0}}
    spec = {
        "driver": DRIVER,
        "nodeName": f"grove-node-{node}",
        "pool": {"name": f"grove-node-{node}", "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": "channel-0", "attributes": attributes}],
    }
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": f"channel-{node}"}, "spec": spec}


def claim_template(name: str, domain: str) -> Manifest:
    """A template as the driver creates it for the ComputeDomain of a UID."""
    requests = [{"name": "channel", "exactly": {"deviceClassName": CLASS}}]
    spec = {"spec": {"devices": {"requests": requests}}}
    metadata = {"name": name, "labels": {"resource.nvidia.com/computeDomain": domain}}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": metadata, "spec": spec}


async def install(world: LiveCluster, defined: Manifest = DEFINITION) -> None:
    await world.apply(defined)
    await world.kubectl("wait", "--for=condition=Established", "--timeout=120s", "crd/computedomains.resource.nvidia.com")


async def uninstall(world: LiveCluster) -> None:
    """Takes the kind away with all of its objects: those of groups bear a finalizer, for which their definition would wait."""
    await world.until(lambda: definition_goes(world), None)
    shutil.rmtree(world.plane.folder / "kubectl-cache", ignore_errors=True)  # with the version in which it was served


async def definition_goes(world: LiveCluster) -> str | None:
    """Deletes the definition, takes the finalizers off the objects that keep it, and gives its version while it is there."""
    found = await world.get("crd", DOMAINS)
    if not found:
        return None
    version = str(found["spec"]["versions"][0]["name"])
    ask, path = world.plane.request, f"/apis/resource.nvidia.com/{version}/"
    with suppress(ControlPlaneError):  # others may be quicker
        if "deletionTimestamp" not in found["metadata"]:
            await asyncio.to_thread(ask, "DELETE", f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{DOMAINS}")
        for one in (await asyncio.to_thread(ask, "GET", f"{path}computedomains"))["items"]:
            place = f"namespaces/{one['metadata']['namespace']}/computedomains/{one['metadata']['name']}"
            body = {"metadata": {"finalizers": None}}
            await asyncio.to_thread(ask, "PATCH", f"{path}{place}", body, content_type="application/merge-patch+json")
    return version


@pytest.fixture(scope="module")
def gpu_plane(own_plane: ControlPlane) -> ControlPlane:
    """A control plane whose nodes have GPUs and channels."""
    selector = f"device.driver == '{DRIVER}' && device.attributes['{DRIVER}'].type == 'channel'"
    spec = {"selectors": [{"cel": {"expression": selector}}]}
    device_class = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": CLASS}, "spec": spec}
    own_plane.objects.apply([as_served(one) for one in (device_class, *map(channel, range(NODES)))])
    gpus = {"status": {"capacity": {"nvidia.com/gpu": "4"}, "allocatable": {"nvidia.com/gpu": "4"}}}
    for node in range(NODES):
        path = f"/api/v1/nodes/grove-node-{node}/status"
        own_plane.request("PATCH", path, gpus, content_type="application/merge-patch+json")
    return own_plane


@pytest.fixture
async def world(gpu_plane: ControlPlane, whole_cluster: LiveCluster) -> AsyncIterator[LiveCluster]:
    """A cluster whose nodes have GPUs and channels, and no ComputeDomains yet."""
    yield whole_cluster
    await whole_cluster.stop()
    await uninstall(whole_cluster)


async def delete_forgotten(world: LiveCluster) -> None:
    """Does what `grove why` asks for where kube-scheduler is older than 1.34: it forgets pods whose claims come while their gates go."""
    if assets.find().kube_minor >= 34:
        return
    for pod in await world.objects("pods"):
        waits = "nodeName" not in pod["spec"] and "schedulingGates" not in pod["spec"] and "deletionTimestamp" not in pod["metadata"]
        age = datetime.now(UTC) - datetime.fromisoformat(pod["metadata"]["creationTimestamp"])
        if waits and "resourceClaimStatuses" in pod["status"] and age > FORGOTTEN:
            await world.attempt("delete", "pod", pod["metadata"]["name"], "--wait=false")


@asynccontextmanager
async def driver(world: LiveCluster) -> AsyncIterator[None]:
    """Does what the driver does with domains, for as long as it runs."""

    async def play() -> None:
        while True:
            with suppress(ControlPlaneError):  # the kind may not be there yet, or any more
                for domain in await domains(world):
                    name = domain["spec"]["channel"]["resourceClaimTemplate"]["name"]
                    if not await world.get("resourceclaimtemplate", name):
                        await world.apply(claim_template(name, domain["metadata"]["uid"]))
                await delete_forgotten(world)
            await asyncio.sleep(0.2)

    playing = asyncio.ensure_future(play())
    try:
        yield
    finally:
        playing.cancel()
        await asyncio.gather(playing, return_exceptions=True)


async def domains(world: LiveCluster) -> list[Manifest]:
    return list((await world.get(DOMAINS))["items"])


async def names(world: LiveCluster, kind: str) -> list[str]:
    return [one["metadata"]["name"] for one in (await world.get(kind))["items"]]


async def owners(world: LiveCluster, kind: str) -> dict[str, str]:
    """By whom each object of a kind is owned."""
    found = (await world.get(kind))["items"]
    return {
        one["metadata"]["name"]: " ".join(f"{owner['kind']}/{owner['name']}" for owner in one["metadata"].get("ownerReferences", []))
        for one in found
    }


async def reported(world: LiveCluster) -> dict[str, Any]:
    """What the set says of its domains."""
    [one] = await world.objects("sets")
    return {domain["name"]: domain.get("message", "ready") for domain in one.get("status", {}).get("computeDomains", [])}


async def told(world: LiveCluster, reason: str) -> list[tuple[str, int]]:
    """What the events with a reason are about, and how often each was told."""
    return [(one["involvedObject"]["kind"], one["count"]) for one in await world.objects("events") if one["reason"] == reason]


async def conditions(world: LiveCluster) -> list[str]:
    [one] = await world.objects("sets")
    found = one.get("status", {}).get("conditions", [])
    return [f"{each['status']} {each['reason']}" for each in found if each["type"] == "ComputeDomainsUnavailable"]


def gpu_clique(name: str, replicas: int = 1, **spec: Any) -> Manifest:
    one = clique(name, replicas, **spec)
    one["spec"]["podSpec"]["containers"][0] |= GPU
    return one


def by_config(replicas: int = 1) -> Manifest:
    """GREP-270: one domain for each replica of the set."""
    return pod_clique_set(gpu_clique("work", 2), replicas=replicas, computeDomainConfig={"enabled": True})


def by_annotations() -> Manifest:
    """The design's: one domain for each replica of the scaling group, of which each is a gang."""
    annotations = {"grove.io/mnnvl-enabled": "true", "grove.io/mnnvl-scope": "scalingGroupReplica"}
    group = {"name": "pool", "cliqueNames": ["work"], "replicas": 2, "minAvailable": 1, "annotations": annotations}
    return pod_clique_set(clique("front"), gpu_clique("work", 2), podCliqueScalingGroups=[group])


def by_group() -> Manifest:
    """The shipped operator's."""
    made = pod_clique_set(gpu_clique("work", 2))
    made["metadata"]["annotations"] = {"grove.io/mnnvl-group": "main"}
    return made


WORK = ("chat-0-work-0", "chat-0-work-1")
POOL = tuple(f"chat-0-pool-{member}-work-{index}" for member in range(2) for index in range(2))


async def test_a_set_waits_for_the_driver_and_comes_up_when_it_is_installed(world: LiveCluster) -> None:
    await world.start(everywhere=True)
    await world.apply(by_config())
    await world.until(lambda: conditions(world), ["True ComputeDomainsNotServed"])
    await world.until(lambda: reported(world), {"chat-0-cd": "does not exist yet"})
    await world.until(lambda: told(world, "ComputeDomainsNotServed"), [("PodCliqueSet", 1)])
    await world.at_rest()
    assert await names(world, "pods") == []
    await install(world)
    async with driver(world):
        await world.until_ready(*WORK)
    await world.until(lambda: conditions(world), [])
    await world.until(lambda: owners(world, "computedomains"), {"chat-0-cd": "PodCliqueSet/chat"})


async def test_gates_are_lifted_and_pods_run_while_no_domain_is_ready(world: LiveCluster) -> None:
    """#209: the domain is ready once its pods are on nodes, so that a gate which waited for it would wait for ever."""
    await install(world)
    await world.start(everywhere=True)
    async with driver(world):
        await world.apply(by_annotations())
        await world.until_ready("chat-0-front-0", *POOL)
    await world.until(lambda: reported(world), {"chat-0-pool-0-cd": "has no nodes yet", "chat-0-pool-1-cd": "has no nodes yet"})
    status = {"status": {"status": "Ready", "nodes": [{"name": "a", "status": "Ready"}]}}
    await world.kubectl("patch", "computedomain", "chat-0-pool-0-cd", "--subresource=status", "--type=merge", "-p", json.dumps(status))
    await world.until(lambda: reported(world), {"chat-0-pool-0-cd": "ready", "chat-0-pool-1-cd": "has no nodes yet"})


async def test_domains_of_annotations_belong_to_the_gangs_of_their_pods_and_go_with_them(world: LiveCluster) -> None:
    await install(world)
    await world.start(everywhere=True)
    async with driver(world):
        await world.apply(by_annotations())
        await world.until_ready("chat-0-front-0", *POOL)
        wanted = {f"chat-0-pool-{member}-cd": f"PodGang/chat-0-pool-{member}" for member in range(2)}
        await world.until(lambda: owners(world, "computedomains"), wanted)
        await world.kubectl("scale", "podcliquescalinggroup", "chat-0-pool", "--replicas=1")
        await world.until(lambda: names(world, "computedomains"), ["chat-0-pool-0-cd"])
        await world.kubectl("delete", "podcliqueset", "chat")
        await world.until(lambda: names(world, "computedomains"), [])


async def test_domains_of_a_config_go_when_the_set_is_scaled_in_and_when_it_is_deleted(world: LiveCluster) -> None:
    await install(world)
    await world.start(everywhere=True)
    async with driver(world):
        await world.apply(by_config(replicas=2))
        await world.until(lambda: names(world, "computedomains"), ["chat-0-cd", "chat-1-cd"])
        await world.until_ready(*WORK, "chat-1-work-0", "chat-1-work-1")
        await world.kubectl("scale", "podcliqueset", "chat", "--replicas=1")
        await world.until(lambda: names(world, "computedomains"), ["chat-0-cd"])
        await world.until_ready(*WORK)
        await world.kubectl("delete", "podcliqueset", "chat")
        for kind in ("computedomains", "podgangs", "pods", "resourceclaims"):
            await world.until(partial(names, world, kind), [])


async def test_a_domain_that_is_deleted_stays_for_its_pods_and_is_made_again_once_they_are_gone(world: LiveCluster) -> None:
    """The shipped operator leaves it Terminating for ever."""
    await install(world)
    await world.start(everywhere=True, config=GROUPS)
    async with driver(world):
        await world.apply(by_group())
        await world.until_ready(*WORK)
        [before] = await domains(world)
        await world.kubectl("delete", "computedomain", "chat-0-main", "--wait=false")
        await world.until(lambda: reported(world), {"chat-0-main": "is being deleted"})
        assert await names(world, "computedomains") == ["chat-0-main"]
        await world.kubectl("scale", "podclique", "chat-0-work", "--replicas=0")
        await world.until(lambda: is_new(world, before), True)


async def is_new(world: LiveCluster, before: Manifest) -> bool:
    found = await domains(world)
    return bool(found) and found[0]["metadata"]["uid"] != before["metadata"]["uid"] and "deletionTimestamp" not in found[0]["metadata"]


async def test_the_designs_form_has_claims_of_ours_with_the_same_owners_as_their_domains(world: LiveCluster) -> None:
    """No driver takes it; what can be seen is that all of it is made, and goes."""
    await install(world, AS_PROPOSED)
    await world.start(everywhere=True, mnnvl_shape="as-proposed")
    await world.apply(by_annotations())
    wanted = {f"chat-0-pool-{member}-mnnvl-claim": f"PodGang/chat-0-pool-{member}" for member in range(2)}
    await world.until(lambda: owners(world, "resourceclaims"), wanted)
    await world.until(lambda: names(world, PROPOSED), ["chat-0-pool-0-cd", "chat-0-pool-1-cd"])
    await world.kubectl("delete", "podcliqueset", "chat")
    await world.apply({**by_config(), "metadata": {"name": "web"}})
    await world.until(lambda: owners(world, "resourceclaimtemplates"), {"web-0-mnnvl-claim": "PodCliqueSet/web"})
    await world.until(lambda: owners(world, PROPOSED), {"web-0-cd": "PodCliqueSet/web"})
    await world.kubectl("delete", "podcliqueset", "web")
    for kind in (PROPOSED, "resourceclaims", "resourceclaimtemplates"):
        await world.until(partial(names, world, kind), [])


async def test_pods_of_a_running_set_are_replaced_while_the_driver_is_away(world: LiveCluster) -> None:
    await install(world)
    await world.start(everywhere=True)
    async with driver(world):
        await world.apply(by_config())
        await world.until_ready(*WORK)
    await uninstall(world)
    await world.until(lambda: conditions(world), ["True ComputeDomainsNotServed"])
    assert await world.hostnames(is_ready) == list(WORK)
    before = {pod["metadata"]["uid"] for pod in await world.objects("pods")}
    await world.kubectl("delete", "pod", (await world.names("pods"))[0], "--wait=false")
    await world.until(lambda: kept_pods(world, before), 1)
    await world.until_ready(*WORK)
    await install(world)
    await world.until(lambda: conditions(world), [])
    await world.until(lambda: names(world, "computedomains"), ["chat-0-cd"])


def without_intent(made: Manifest) -> None:
    made["spec"]["template"]["podCliqueScalingGroups"][0]["annotations"]["grove.io/mnnvl-enabled"] = "false"


def with_intent(made: Manifest) -> None:
    made["metadata"]["annotations"] = {"grove.io/mnnvl-enabled": "true"}


def without_domains(made: Manifest) -> None:
    made["spec"]["template"]["computeDomainConfig"]["enabled"] = False


def with_domains(made: Manifest) -> None:
    made["spec"]["template"]["computeDomainConfig"] = {"enabled": True}


def in_order(made: Manifest) -> None:
    made["spec"]["template"]["cliqueStartupType"] = "CliqueStartupTypeInOrder"


def without_any() -> Manifest:
    return pod_clique_set(clique("front"), gpu_clique("work", 2))


FORGED: dict[str, tuple[Callable[[], Manifest], Callable[[Manifest], None]]] = {
    "annotations that want no domain any more": (by_annotations, without_intent),
    "annotations that want one": (without_any, with_intent),
    "a configuration that wants none any more": (by_config, without_domains),
    "a configuration that wants one": (without_any, with_domains),
    "another order of start": (without_any, in_order),
}


@pytest.mark.parametrize(("make", "edit"), FORGED.values(), ids=FORGED.keys())
async def test_what_cannot_change_and_was_changed_where_no_webhook_is_served_changes_nothing_that_runs(
    make: Callable[[], Manifest], edit: Callable[[Manifest], None], world: LiveCluster
) -> None:
    await install(world)
    await world.start(everywhere=True)
    async with driver(world):
        declared = make()
        await world.apply(declared)
        pods = sum(one["spec"]["replicas"] for one in declared["spec"]["template"]["cliques"])
        pods += 2 if "podCliqueScalingGroups" in declared["spec"]["template"] else 0
        await world.until(lambda: ready_pods(world), pods)
        before = await everything(world)
        edit(forged := copy.deepcopy(declared))
        await world.apply(forged)
        await world.until(lambda: stalled(world), True)
        await world.until(lambda: told(world, "Held"), [("PodCliqueSet", 1)])
        await world.at_rest()
        assert await everything(world) == before
        await world.apply(declared)
        await world.until(lambda: stalled(world), False)
        await world.at_rest()
        assert await everything(world) == before


async def ready_pods(world: LiveCluster) -> int:
    return len(await world.hostnames(is_ready))


async def everything(world: LiveCluster) -> dict[str, list[str]]:
    """What serves, and the domains under it."""
    return {kind: sorted(one["metadata"]["uid"] for one in (await world.get(kind))["items"]) for kind in ("pods", DOMAINS)}


async def stalled(world: LiveCluster) -> bool:
    """Whether the set says that it is held for what cannot change."""
    [one] = await world.objects("sets")
    messages = [each["message"] for each in one["status"].get("conditions", []) if (each["type"], each["status"]) == ("Stalled", "True")]
    return any("immutable" in message or "cannot" in message for message in messages)


async def kept_pods(world: LiveCluster, before: set[str]) -> int:
    """How many of the pods that there were are left."""
    return len(before & {pod["metadata"]["uid"] for pod in await world.objects("pods")})
