"""A small world before and after a change, the way from one to the other, and what is there in the end."""

from __future__ import annotations

import copy
import json
import re
from typing import Any, NamedTuple

from applier.cluster import Cluster
from applier.desired import DEFAULT_POLICY, Desired, Graph, Policy
from applier.execute.options import Timeouts
from applier.outcome import Outcome
from applier.prune import ApplySet, ApplySetOptions, Deleter, OpenApplySet
from applier.ref import Kind, Manifest, Ref
from applier.run.options import ApplyOptions
from applier.run.pipeline import apply
from applier.testing.control_plane import ControlPlane

MANAGER = "endurance"
SET = "world"
PATHS = ("/api/v1", "configmaps"), ("/api/v1", "secrets"), ("/api/v1", "services"), ("/apis/apps/v1", "deployments")
SERVERS_OWN = ("uid", "resourceVersion", "creationTimestamp", "managedFields", "namespace", "generation")
CONTROLLERS_OWN = (
    ("annotations", "deployment.kubernetes.io/revision"),
    ("labels", "applyset.kubernetes.io/part-of"),  # the set's id contains the namespace
    ("labels", "applyset.kubernetes.io/id"),
)
NOT_OURS = {"kube-root-ca.crt"}
PATIENCE = Timeouts(gone=15.0, passing=5.0)


def config_map(namespace: str, name: str, data: dict[str, str], **more: Any) -> Manifest:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}, "data": data, **more}


def ref(namespace: str, name: str) -> Ref:
    return Ref("", "ConfigMap", namespace, name)


def owned(manifest: Manifest, owner: str) -> Manifest:
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": owner}
    return {**manifest, "metadata": {**manifest["metadata"], "ownerReferences": [reference]}}


def desired(manifest: Manifest, *after: str, owner: str = "", policy: Policy = DEFAULT_POLICY) -> Desired:
    namespace = manifest["metadata"]["namespace"]
    if owner:
        manifest = owned(manifest, owner)
    return Desired(manifest, ref(namespace, owner) if owner else None, [ref(namespace, other) for other in after], policy)


def deployment(namespace: str, image: str) -> Manifest:
    labels = {"app": "web"}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": image}]}}
    metadata = {"name": "web", "namespace": namespace}
    spec = {"replicas": 0, "selector": {"matchLabels": labels}, "template": pod}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


def secret(namespace: str, value: str) -> Manifest:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "key", "namespace": namespace}, "stringData": {"token": value}}


def service(namespace: str) -> Manifest:
    spec = {"clusterIP": "None", "selector": {"app": "web"}, "ports": [{"name": "http", "port": 80}]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": namespace}, "spec": spec}


def before(namespace: str) -> Graph:
    """An owner with a dependant, things that stay, things that go, and one that can only be changed by making it again."""
    return Graph(
        [
            desired(config_map(namespace, "root", {"version": "1"})),
            desired(config_map(namespace, "child", {"version": "1"}), owner="root"),
            desired(config_map(namespace, "sealed", {"version": "1"}, immutable=True), policy=Policy(recreate=True)),
            desired(config_map(namespace, "goes-first", {}), "goes-last"),
            desired(config_map(namespace, "goes-last", {})),
            desired(secret(namespace, "one")),
            desired(service(namespace)),
            desired(deployment(namespace, "web:1"), "root"),
        ]
    )


def after(namespace: str) -> Graph:
    """The same world later: some changed, one made again, two gone, two new of which one owns the other."""
    return Graph(
        [
            desired(config_map(namespace, "root", {"version": "2"})),
            desired(config_map(namespace, "child", {"version": "2"}), owner="root"),
            desired(config_map(namespace, "sealed", {"version": "2"}, immutable=True), "root", policy=Policy(recreate=True)),
            desired(config_map(namespace, "new", {"version": "2"}), "child"),
            desired(config_map(namespace, "newer", {"version": "2"}), owner="new"),
            desired(secret(namespace, "two")),
            desired(service(namespace)),
            desired(deployment(namespace, "web:2"), "root"),
        ]
    )


async def made_true(graph: Graph, cluster: Cluster, namespace: str) -> list[Outcome]:
    """Applies and prunes as one set."""
    applyset = ApplySet(Kind("", "v1", "ConfigMap"), namespace, SET, "endurance/1")
    pruning = await OpenApplySet.open(ApplySetOptions(applyset), graph, cluster)
    await pruning.widen()
    report = await apply(pruning.graph, cluster, ApplyOptions(MANAGER, timeouts=PATIENCE))
    return [*report.outcomes, *await pruning.finish(report.outcomes, Deleter(cluster, seconds=15.0))]


class ClusterContents(NamedTuple):
    """What is there: objects by kind and name, without what differs from one namespace to the next; and their UIDs."""

    objects: dict[str, Manifest]
    uids: dict[str, str]


def look(plane: ControlPlane, namespace: str) -> ClusterContents:
    """Everything that an apply in this namespace could have written. The fields that each manager owns are part of it."""
    objects, uids = {}, {}
    for api, plural in PATHS:
        for item in plane.request("GET", f"{api}/namespaces/{namespace}/{plural}")["items"]:
            name = item["metadata"]["name"]
            if name not in NOT_OURS:
                key = f"{plural}/{name}"
                uids[key] = item["metadata"]["uid"]
                objects[key] = plain(item)
    return ClusterContents({key: named_owners(one, uids, namespace) for key, one in objects.items()}, uids)


def plain(item: Manifest) -> Manifest:
    """An object without what the server decides alone."""
    item = copy.deepcopy(item)
    metadata = item["metadata"]
    fields = {entry["manager"]: json.dumps(entry["fieldsV1"]) for entry in metadata["managedFields"] if entry["operation"] == "Apply"}
    for field in SERVERS_OWN:
        metadata.pop(field, None)
    for place, key in CONTROLLERS_OWN:
        metadata.get(place, {}).pop(key, None)
        if not metadata.get(place, True):
            del metadata[place]
    item.pop("status", None)
    return {**item, "owned": {manager: re.sub(r"applyset-[\w-]+-v1", "the set", text) for manager, text in fields.items()}}


def named_owners(item: Manifest, uids: dict[str, str], namespace: str) -> Manifest:
    """Owner references by name where their UID is that of the live owner; a wrong UID stays, and makes worlds differ."""
    references = item["metadata"].get("ownerReferences", [])
    for reference in references:
        if reference["uid"] == uids.get(f"configmaps/{reference['name']}"):
            item["owned"] = {manager: fields.replace(reference["uid"], "the owner's") for manager, fields in item["owned"].items()}
            reference["uid"] = "the owner's"
    return item
