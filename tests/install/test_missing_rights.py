"""An operator that lacks a right says which, and goes on with all that does not need it; once it has the right, it does the rest."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from applier.testing.control_plane import ControlPlane
from grove_operator.install.manifests import manifests
from grove_operator.install.user_values import load_values
from tests.controller.live.account import NAMESPACE
from tests.controller.live.world import clique, pod_clique_set

from .cluster import Cluster
from .scenario import install, settings, uninstalled

pytestmark = pytest.mark.cluster("kwok", "kube-scheduler", "kube-controller-manager")

Manifest = dict[str, Any]
VALUES = [*settings(with_topologies=False), "config.leaderElection.enabled=false", "replicas=1", "config.logFormat=text"]
READ = ("get", "list", "watch")
POD = "chat-0-front-0"


class Lack(NamedTuple):
    """Verbs on a resource that are taken away.

    `has_pods` says whether pods come all the same, `is_told` whether the set says why it is not as it should be, `is_scaled` whether it has
    an autoscaler, `allowing` which verbs the rule has that it is told to need.
    """

    resource: str
    verbs: tuple[str, ...]
    has_pods: bool = True
    is_told: bool = True
    is_scaled: bool = True
    allowing: str = ""


LACKS = [
    Lack("horizontalpodautoscalers", ("patch", "delete", "create"), allowing=', verbs: ["create", "patch"]'),
    Lack("horizontalpodautoscalers", READ),
    Lack("services", READ, has_pods=False),
    Lack("podgangs", ("create",), has_pods=False),
    Lack("podgangs", READ, has_pods=False),
    Lack("podcliquesets/status", ("patch",), is_told=False),
    Lack("resourceclaimtemplates", READ, is_told=False, is_scaled=False),
    Lack("priorityclasses", READ, is_told=False, is_scaled=False),
    Lack("namespaces", READ, is_told=False, is_scaled=False),
    Lack("events", ("create",), is_told=False, is_scaled=False),
]


@pytest.fixture(scope="module")
def cluster(strict_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Cluster:
    there = uninstalled(strict_plane, tmp_path_factory.mktemp("cluster"))
    install(there, VALUES)
    there.kubectl("wait", "--for=condition=Established", "--timeout=120s", "crd", "--all")
    return there


@pytest.fixture
def place(cluster: Cluster) -> Iterator[str]:
    """A namespace for the set of a test, and an operator's log of its own."""
    (cluster.folder / "operator.log").unlink(missing_ok=True)
    yield cluster.plane.create_namespace()
    cluster.apply(role())


def role() -> Manifest:
    """What the operator may do."""
    objects = manifests(load_values([], VALUES), NAMESPACE)
    return next(one for one in objects if one["kind"] == "ClusterRole" and one["metadata"]["name"] == "grove-operator")


def role_without(lack: Lack) -> Manifest:
    """The same, but for what is taken away."""
    single = [{**rule, "resources": [resource]} for rule in role()["rules"] for resource in rule["resources"]]
    kept = [  # a rule for each resource, so that only one loses its verbs
        {**one, "verbs": [verb for verb in one["verbs"] if one["resources"] != [lack.resource] or verb not in lack.verbs]} for one in single
    ]
    assert kept != single
    return {**role(), "rules": [one for one in kept if one["verbs"]]}


def workload(is_scaled: bool) -> Manifest:
    scaling: Manifest = {"autoScalingConfig": {"minReplicas": 1, "maxReplicas": 3, "metrics": []}} if is_scaled else {}
    return pod_clique_set(clique("front", **scaling))


def why_stalled(cluster: Cluster, namespace: str) -> str:
    conditions = (cluster.get("pcs", "chat", "-n", namespace).get("status") or {}).get("conditions") or []
    return next((one["message"] for one in conditions if one["type"] == "Stalled" and one["status"] == "True"), "")


@pytest.mark.parametrize("lack", LACKS, ids=lambda lack: f"{lack.verbs[-1]} {lack.resource}")
def test_with_one_right_taken_away_the_operator_says_which_and_goes_on(cluster: Cluster, place: str, lack: Lack) -> None:
    cluster.apply(role_without(lack))
    with cluster.operator():
        cluster.kubectl("apply", "-n", place, "-f", "-", input=json.dumps(workload(lack.is_scaled)))
        if lack.has_pods:
            cluster.until(lambda: list(cluster.pods(place)), [POD])
        if lack.is_told:
            cluster.until(lambda: f'resources: ["{lack.resource}"]{lack.allowing}' in why_stalled(cluster, place), True)
        if lack.resource != "events":  # nobody is told what people cannot be told
            cluster.until(lambda: told(cluster, "missing permission", lack), True)
        cluster.apply(role())
        cluster.until(lambda: (list(cluster.pods(place)), why_stalled(cluster, place)), ([POD], ""))
        if lack.resource != "events":
            cluster.until(lambda: told(cluster, "permission restored", lack), True)
        cluster.until(lambda: len(cluster.items("horizontalpodautoscalers", "-n", place)), int(lack.is_scaled))
        cluster.kubectl("delete", "podcliqueset", "chat", "-n", place)
        cluster.until(lambda: cluster.items("pods,podgangs,podcliques", "-n", place), [])


def told(cluster: Cluster, what: str, lack: Lack) -> bool:
    lines = (cluster.folder / "operator.log").read_text().splitlines()
    return any(f" {what} verb=" in line and f" resource={lack.resource.split('/')[0]}" in line for line in lines)
