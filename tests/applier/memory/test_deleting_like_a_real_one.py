"""The same deletions, finalizers, owners and versions end in the same objects in memory as on a real server, whatever their order."""

from __future__ import annotations

import asyncio
import time
from random import Random
from typing import Any, NamedTuple

import pytest

from applier.cluster import Cluster
from applier.errors import ApiError
from applier.ref import Kind, Manifest
from applier.testing.control_plane import ControlPlane
from applier.testing.memory import MemoryCluster
from applier.transport import connect
from tests.permitted import permitted

pytestmark = pytest.mark.cluster

CONFIG_MAP, POD = Kind("", "v1", "ConfigMap"), Kind("", "v1", "Pod")
NAMES = ("a", "b", "c", "d")
PATIENCE = 60.0
"""Seconds. A garbage collector of a real server takes its time."""
COLLECTED, ATTEMPTS = 35.0, 3
"""Seconds after which pods may be collected, and attempts: so few that what stays different is told before the test's time is over."""
BOX = permitted({"name": "box", "image": "registry.example/app:1"})


class Step(NamedTuple):
    """A request, in words that mean the same to both servers: `owner` and `uid` are names of objects, `version` is current or stale."""

    verb: str
    name: str
    owner: str = ""
    uid: str = ""
    version: str = ""
    propagation: str = "Background"
    finalizers: tuple[str, ...] = ()
    has_node: bool = False


def steps(chance: Random, count: int) -> list[Step]:
    """Random requests to a few objects."""
    made = []
    for _ in range(count):
        name = chance.choice(NAMES)
        finalizers = tuple(f"example.com/{key}" for key in "xy" if chance.random() < 0.25)
        version = chance.choice(["", "", "current", "stale"])
        owner = chance.choice([one for one in NAMES if one < name] + [""])  # owners in a circle never go
        match chance.choice(["create", "create", "delete", "delete", "patch", "apply"]):
            case "create":
                made.append(Step("create", name, owner, finalizers=finalizers, has_node=chance.random() < 0.5))
            case "delete":
                uid = chance.choice([name, name, name, "another"])
                propagation = chance.choice(["Background", "Background", "Foreground", "Orphan"])
                made.append(Step("delete", name, uid=uid, version=version, propagation=propagation))
            case how:
                made.append(Step(how, name, uid=chance.choice(["", name, "another"]), version=version, finalizers=finalizers))
    return made


class Actor:
    """Does steps in one of the clusters, and tells what is there."""

    def __init__(self, cluster: Cluster, kind: Kind, namespace: str) -> None:
        self.cluster, self.kind, self.namespace = cluster, kind, namespace

    async def live(self) -> dict[str, Manifest]:
        listing = await self.cluster.list(await self.cluster.resource(self.kind), self.namespace)
        return {one["metadata"]["name"]: one for one in listing.items if one["metadata"]["name"] in NAMES}

    async def do(self, step: Step) -> str:
        """What a step answers: the name of the error, or none. It is done again where the server's own controllers came in between."""
        while True:
            before = (await self.live()).get(step.name)
            answer = await self._do(step)
            if answer != "WriteConflict" or (await self.live()).get(step.name) == before:
                return answer

    async def _do(self, step: Step) -> str:
        live, resource = await self.live(), await self.cluster.resource(self.kind)
        known = live.get(step.name, {"metadata": {"uid": "none", "resourceVersion": "1"}})["metadata"]
        uid = {"": "", step.name: known["uid"]}.get(step.uid, "00000000-0000-4000-8000-999999999999")
        version = {"": "", "current": known["resourceVersion"]}.get(step.version, "1")
        try:
            if step.verb == "create":
                await self.cluster.create(resource, self._manifest(step, live.get(step.owner)), manager="tests")
            elif step.verb == "apply":
                manifest = self._manifest(step, None)
                if step.name in live and not _has_applied_spec(live[step.name]):
                    manifest.pop("spec", None)  # hardly anything of a pod's can be changed, which is no matter here
                manifest["metadata"] |= {key: value for key, value in (("uid", uid), ("resourceVersion", version)) if value}
                await self.cluster.apply(resource, manifest, manager="applies", force=True)
            elif step.verb == "patch":
                metadata = {"finalizers": list(step.finalizers) or None, "uid": uid, "resourceVersion": version}
                patch = {"metadata": {key: value for key, value in metadata.items() if value != ""}}
                await self.cluster.patch(resource, self.namespace, step.name, patch, manager="tests")
            else:
                options: dict[str, Any] = {"uid": uid, "resource_version": version, "propagation": step.propagation}
                await self.cluster.delete(resource, self.namespace, step.name, **options)
        except ApiError as error:
            return type(error).__name__
        return ""

    def _manifest(self, step: Step, owner: Manifest | None) -> Manifest:
        metadata: dict[str, Any] = {"name": step.name, "namespace": self.namespace}
        if step.finalizers:
            metadata["finalizers"] = list(step.finalizers)
        if owner is not None:
            named = {"name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"], "blockOwnerDeletion": True}
            metadata["ownerReferences"] = [{"apiVersion": "v1", "kind": self.kind.kind, **named}]
        if self.kind == CONFIG_MAP:
            return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
        placed: dict[str, Any] = {"nodeName": "nowhere"} if step.has_node else {"schedulingGates": [{"name": "example.com/gate"}]}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [BOX], **placed}}

    async def there(self) -> dict[str, Any]:
        """What is there, without what no two servers have in common."""
        live = await self.live()
        uids = {one["metadata"]["uid"]: name for name, one in live.items()}
        return {name: _told(one["metadata"], uids) for name, one in live.items()}


def _has_applied_spec(live: Manifest) -> bool:
    """Whether the containers are the applier's: to leave them out would take them out, which only a real server refuses."""
    entries = live["metadata"].get("managedFields") or ()
    return any(one["manager"] == "applies" and "f:spec" in one["fieldsV1"] for one in entries)


def _told(metadata: Manifest, uids: dict[str, str]) -> dict[str, Any]:
    return {
        "is being deleted": "deletionTimestamp" in metadata,
        "grace": metadata.get("deletionGracePeriodSeconds"),
        "generation": metadata.get("generation"),
        "finalizers": metadata.get("finalizers") or [],
        "owners": [uids.get(one["uid"], "gone") for one in metadata.get("ownerReferences") or ()],
    }


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(CONFIG_MAP, id=CONFIG_MAP.kind),
        pytest.param(POD, id=POD.kind, marks=pytest.mark.served_since("1.33", "the generation of a pod")),
    ],
)
@pytest.mark.parametrize("seed", range(8))
async def test_whatever_is_deleted_ends_as_on_a_real_server(control_plane: ControlPlane, kind: Kind, seed: int) -> None:
    """The pods' node does not exist. After 40 seconds Kubernetes collects them for that, so that a slow run is made again."""
    for attempt in range(ATTEMPTS):
        began = time.monotonic()
        try:
            await compare(control_plane, control_plane.create_namespace(), kind, seed)
            return
        except AssertionError:
            if attempt + 1 == ATTEMPTS or time.monotonic() - began < COLLECTED:
                raise


async def compare(control_plane: ControlPlane, namespace: str, kind: Kind, seed: int) -> None:
    async with connect(kubeconfig=str(control_plane.kubeconfig)) as cluster:
        memory = MemoryCluster(namespaces=[namespace], schemas=await cluster.schemas([kind]))
        real, model = Actor(cluster, kind, namespace), Actor(memory, kind, namespace)
        done = []
        for step in steps(Random(f"{kind.kind} {seed}"), 16):
            before = await real.there()
            done.append(step)
            assert await model.do(step) == await real.do(step), (before, done)
            wanted, deadline = await model.there(), asyncio.get_running_loop().time() + PATIENCE
            while await real.there() != wanted and asyncio.get_running_loop().time() < deadline:
                await asyncio.sleep(0.05)
            assert wanted == await real.there(), (before, done)
