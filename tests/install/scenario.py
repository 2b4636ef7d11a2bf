"""Lets the operator do all that it can: every example comes, changes and goes, where schedulers and drivers have brought their kinds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from applier.testing.control_plane import ControlPlane
from grove_operator.install.manifests import manifests
from grove_operator.install.user_values import load_values
from tests.controller.live.account import EVERYTHING, NAMESPACE
from tests.controller.live.test_mnnvl import DEFINITION as COMPUTE_DOMAIN
from tests.controller.live.test_topology import KAI_DEFINITION, kai_topology, topology

from .cluster import Cluster

Manifest = dict[str, Any]
EXAMPLES = Path(__file__).parents[2] / "examples"
RACK, HOST, BLOCK = "example.com/rack", "kubernetes.io/hostname", "example.com/block"
INSTALLED = "app.kubernetes.io/name=grove-operator"
OURS, COMPONENT = "app.kubernetes.io/managed-by=grove-operator", "app.kubernetes.io/component"
PUT_BACK = (
    "secrets",
    "services",
    "serviceaccounts",
    "horizontalpodautoscalers",
    "podcliques",
    "podcliquescalinggroups",
    "podgangs",
    "resourceclaims",
    "computedomains",
    "podgroups.scheduling.run.ai",
    "podgroups.scheduling.volcano.sh",
)
"""What the operator makes and puts back when somebody edits it."""
LABEL = "example.com/played"
KEPT = "example.com/kept"
"""A finalizer of somebody else."""
THEIRS = [{"schedulerName": "kai-scheduler", "topologyReference": "theirs"}]


EMPTY: Manifest = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "grove-webhook-server-cert", "namespace": NAMESPACE}}


def definition(group: str, kind: str, plural: str) -> Manifest:
    """A kind of somebody else, of which any object is taken."""
    text = (
        json.dumps(COMPUTE_DOMAIN).replace("resource.nvidia.com", group).replace("v1beta1", "v2alpha2" if "run.ai" in group else "v1beta1")
    )
    made = json.loads(text.replace("computedomains", plural).replace("computedomain", kind.lower()).replace("ComputeDomain", kind))
    return dict(made)


def settings(*, with_topologies: bool = True) -> list[str]:
    """The values of an installation that has everything."""
    values = [
        *EVERYTHING,
        f"config.topologyAwareScheduling.enabled={str(with_topologies).lower()}",
        "config.server.webhooks.bindAddress=127.0.0.1",
        "config.server.webhooks.port=0",
        "config.server.healthProbes.port=0",
        "config.server.metrics.port=0",
    ]
    return [*values, *(["config.topologyAwareScheduling.levels=[{domain: rack, key: example.com/rack}]"] if with_topologies else [])]


def install(cluster: Cluster, values: list[str]) -> None:
    """Installs all but the pods of the operator. Its webhooks are asked about nothing: no API server reaches a Service here.

    The Secret for their certificates is there and empty, as the shipped chart leaves it.
    """
    cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}, EMPTY)
    for one in manifests(load_values([], values), NAMESPACE):
        if one["kind"] == "Deployment":
            continue
        for hook in one.get("webhooks") or ():
            hook["objectSelector"] = {"matchLabels": {"example.com/asked": "never"}}
        cluster.apply(one)


def uninstalled(plane: ControlPlane, folder: Path) -> Cluster:
    """Returns a cluster without what operators wrote into an installation before, and without its rights. Definitions stay."""
    there = Cluster(plane, folder)
    there.kubectl("delete", "secret", EMPTY["metadata"]["name"], "-n", NAMESPACE, "--ignore-not-found")
    there.kubectl("delete", "validatingwebhookconfigurations,mutatingwebhookconfigurations", "--all")
    there.kubectl("delete", "clusterroles,clusterrolebindings,roles,rolebindings", "-n", NAMESPACE, "-l", INSTALLED)
    return there


def others(cluster: Cluster) -> None:
    """Installs the kinds of schedulers and drivers."""
    podgroups = [definition("scheduling.run.ai", "PodGroup", "podgroups"), definition("scheduling.volcano.sh", "PodGroup", "podgroups")]
    domains = json.loads(json.dumps(COMPUTE_DOMAIN))
    (served,) = domains["spec"]["versions"]
    domains["spec"]["versions"].append({**served, "name": "v1alpha1", "storage": False})
    cluster.apply(domains, KAI_DEFINITION, *podgroups)
    cluster.kubectl("wait", "--for=condition=Established", "--timeout=60s", "crd", "--all")


def examples() -> Iterator[Manifest]:
    """The objects of all examples, each set once with the scheduler that it names."""
    for path in sorted(EXAMPLES.glob("*.yaml")):
        for one in yaml.load_all(path.read_text("utf-8"), yaml.CSafeLoader):
            if one and one["kind"] in ("PodCliqueSet", "ClusterTopology", "ClusterTopologyBinding"):
                yield one


def for_volcano() -> Manifest:
    """The smallest example, for another scheduler."""
    made: Manifest = next(yaml.load_all((EXAMPLES / "minimal.yaml").read_text("utf-8"), yaml.CSafeLoader))
    made["metadata"]["name"] = "volcanic"
    made["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["schedulerName"] = "volcano"
    return made


def passing() -> Manifest:
    """A job whose time is over at once, and which goes with it."""
    made: Manifest = next(yaml.load_all((EXAMPLES / "minimal.yaml").read_text("utf-8"), yaml.CSafeLoader))
    made["metadata"] = {"name": "passing", "namespace": "default"}
    made["spec"] |= {"workloadType": "Training", "trainingSpec": {"maxRuntime": "1s"}, "ttlSecondsAfterFinished": 0}
    return made


def play_as_proposed(cluster: Cluster) -> None:
    """Lets the sets that ask for multi-node NVLink come and go, in the form of the designs."""
    for one in examples():
        if one["kind"] == "PodCliqueSet" and ("grove.io/mnnvl" in (text := json.dumps(one)) or "computeDomainConfig" in text):
            one["metadata"].setdefault("labels", {})[LABEL] = "true"
            one["metadata"]["finalizers"] = [KEPT]
            cluster.apply(one)
    templates = ("resourceclaimtemplates", "-A", "-l", OURS)
    cluster.until(lambda: bool(cluster.items(*templates)), True)
    cluster.kubectl("label", *templates, "--overwrite", f"{COMPONENT}=edited")
    cluster.until(lambda: cluster.items("resourceclaimtemplates", "-A", "-l", f"{COMPONENT}=edited"), [])
    _delete_sets(cluster)
    for kind in ("podcliquesets", "resourceclaimtemplates", "computedomains"):
        cluster.until(lambda kind=kind: [one["metadata"]["name"] for one in cluster.items(kind, "-A")], [])  # type: ignore[misc]


def play(cluster: Cluster) -> None:
    """Lets sets and topologies come, change and go while the operator runs. Returns once all is gone."""
    sets = []
    for one in (*examples(), for_volcano()):
        one["metadata"].setdefault("labels", {})[LABEL] = "true"
        if one["kind"] == "PodCliqueSet":
            one["metadata"].setdefault("namespace", "default")
            # That the shipped operator has seen it: its finalizer is ours to take off.
            one["metadata"]["finalizers"] = ["grove.io/podcliqueset.grove.io", KEPT]
            cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": one["metadata"]["namespace"]}})
            sets.append(one)
        cluster.apply(one)
    lab = topology("lab", "ClusterTopologyBinding", THEIRS, rack=RACK, host=HOST)
    cluster.apply(kai_topology("theirs", RACK, HOST), lab, topology("mine", rack=RACK, host=HOST))
    wanted = len(sets)
    cluster.until(
        lambda: sum(bool((one.get("status") or {}).get("observedGeneration")) for one in cluster.items("podcliquesets", "-A")), wanted
    )
    cluster.until(lambda: bool((cluster.get("clustertopologybinding", "lab").get("status") or {}).get("conditions")), True)
    _change(cluster, sets)
    cluster.apply(passing())
    cluster.until(lambda: cluster.get("podcliqueset", "passing", "-n", "default"), None)
    _delete_sets(cluster)
    cluster.kubectl("delete", "clustertopologies,clustertopologybindings", "-l", LABEL, "--wait=false")
    cluster.kubectl("delete", "clustertopology", "mine", "--wait=false")
    for kind in ("podcliquesets", "podcliques", "podgangs", "pods", "computedomains", "resourceclaims"):
        cluster.until(lambda kind=kind: [one["metadata"]["name"] for one in _left(cluster, kind)], [])  # type: ignore[misc]


def _delete_sets(cluster: Cluster) -> None:
    """Deletes all sets. As long as somebody keeps one, the operator takes down what it owns, and no garbage collector does."""
    for one in {one["metadata"]["namespace"]: one for one in cluster.items("podcliquesets", "-A", "-l", LABEL)}.values():
        path = cluster.plane.objects.kind_of(one).path(one["metadata"]["namespace"])
        cluster.plane.request("DELETE", f"{path}?labelSelector={LABEL}")  # one request: kubectl has one for each, and pauses between them
    owned = ",".join(("serviceaccounts", "roles", "secrets", "controllerrevisions", "podcliques", "resourceclaimtemplates"))
    cluster.until(lambda: [_named(one) for one in cluster.items(owned, "-A", "-l", OURS) if "ownerReferences" in one["metadata"]], [])
    for one in cluster.items("podcliquesets", "-A", "-l", LABEL):
        _patch(cluster, one, {"metadata": {"finalizers": None}}, "merge-patch")


def _change(cluster: Cluster, sets: list[Manifest]) -> None:
    """An edit of the pods of one set for each scheduler, of one object of each kind that is put back, and levels that change."""
    serving = [one for one in sets if one["spec"].get("workloadType") != "Training"]  # the pods of others cannot change
    for one in {_scheduler(one): one for one in serving}.values():
        image = [
            {"op": "add", "path": f"/spec/template/cliques/{index}/spec/podSpec/containers/0/image", "value": "registry.example/next:1"}
            for index in range(len(one["spec"]["template"]["cliques"]))
        ]
        _patch(cluster, one, image, "json-patch")
    cluster.apply(topology("mine", block=BLOCK, host=HOST))
    cluster.until(lambda: _kai_levels(cluster, "mine"), [BLOCK, HOST])
    edited = ",".join(PUT_BACK)
    for kind in PUT_BACK:
        cluster.until(lambda kind=kind: bool(cluster.items(kind, "-A", "-l", OURS)), True)  # type: ignore[misc]
        _patch(cluster, cluster.items(kind, "-A", "-l", OURS)[0], {"metadata": {"labels": {COMPONENT: "edited"}}}, "merge-patch")
    cluster.until(lambda: [_named(one) for one in cluster.items(edited, "-A", "-l", f"{COMPONENT}=edited")], [])


def _scheduler(pcs: Manifest) -> str:
    return str(pcs["spec"]["template"]["cliques"][0]["spec"]["podSpec"].get("schedulerName", ""))


def _patch(cluster: Cluster, one: Manifest, patch: Any, form: str) -> None:
    """What kubectl does, without a process of it, which costs a fifth of a second of CPU: there are dozens of sets."""
    path = cluster.plane.objects.kind_of(one).path(one["metadata"]["namespace"], one["metadata"]["name"])
    cluster.plane.request("PATCH", path, patch, content_type=f"application/{form}+json")


def _named(one: Manifest) -> str:
    return f"{one['kind']}/{one['metadata']['name']}"


def _kai_levels(cluster: Cluster, name: str) -> list[str]:
    made = cluster.get("topologies.kai.scheduler", name)
    return [one["nodeLabel"] for one in made["spec"]["levels"]] if made else []


def _left(cluster: Cluster, kind: str) -> list[Manifest]:
    return [one for one in cluster.items(kind, "-A") if one["metadata"].get("namespace") != NAMESPACE]
