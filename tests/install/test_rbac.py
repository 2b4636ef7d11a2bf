"""Least privilege: what the operator may do is what it does, no verb too many and none too few."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml

from applier.testing.control_plane import ControlPlane
from applier.testing.counts import CountedRequest
from grove_cli.rulebook import built_in_folder
from grove_operator.install.manifests import manifests
from grove_operator.install.user_values import load_values
from tests.controller.live.account import ACCOUNT, NAMESPACE

from .cluster import Cluster
from .scenario import install, others, play, play_as_proposed, settings, uninstalled

pytestmark = pytest.mark.cluster("kwok", "kube-scheduler", "kube-controller-manager")
READ = frozenset({"get", "list", "watch"})
"""Who may list may as well get and watch: none of them shows more than another."""
BY_NAME = ("leases.coordination.k8s.io", "replicasets.apps")
"""What is only ever asked for by its name."""
EVERYBODY = ("selfsubjectaccessreviews.authorization.k8s.io",)
"""What Kubernetes lets everybody do who has logged in."""
ROLE = yaml.load((Path(built_in_folder()) / "templates" / "role.yaml").read_text("utf-8"), yaml.CSafeLoader)
"""What the operator grants to pods that wait for others: it has to have that itself."""
WHILE_KINDS_ARE_MISSING = {(verb, "customresourcedefinitions.apiextensions.k8s.io") for verb in READ}
"""Definitions are watched as long as a kind is not served (`tests/controller/live/test_requests.py`); here all are."""
OWNERS = {
    ("update", f"{kind}/finalizers")
    for kind in (
        "podcliquesets.grove.io",
        "podcliques.grove.io",
        "podcliquescalinggroups.grove.io",
        "clustertopologies.grove.io",
        "clustertopologybindings.grove.io",
        "podgangs.scheduler.grove.io",
    )
}
"""What the server asks for of the owners of what is made (`STRICT`): it looks these rights up by itself, and no request shows it."""
OF_USERS = ("grove-view", "grove-edit", "grove-cluster-view", "grove-configuration-view")
"""Roles that people get, and not the operator (`test_user_roles.py`)."""
Right = tuple[str, str]
"""A verb and a resource, with its group and subresource: `patch podcliques.grove.io/status`."""


@pytest.fixture
def cluster(strict_plane: ControlPlane, tmp_path: Path) -> Cluster:
    return uninstalled(strict_plane, tmp_path)


def needed(requests: Iterable[CountedRequest]) -> set[Right]:
    """The rights without which these requests would be refused. An apply that makes an object needs two."""
    rights = set[Right]()
    for one in requests:
        if one.resource.startswith("/") or one.resource in EVERYBODY:
            continue
        resource = f"{one.resource}/{one.subresource}" if one.subresource else one.resource
        verbs = {one.verb} | (READ if one.verb in READ and one.resource not in BY_NAME else set())
        rights |= {(verb, resource) for verb in (verbs | {"create"} if one.verb == "patch" and one.code == 201 else verbs)}
    return rights


def granted(objects: Iterable[dict[str, Any]]) -> set[Right]:
    """What the roles of an installation say."""
    roles = [one for one in objects if one["kind"] in ("ClusterRole", "Role") and one["metadata"]["name"] not in OF_USERS]
    rules = [rule for one in roles for rule in one["rules"]]
    return {
        (verb, ".".join(filter(None, (resource.partition("/")[0], group))) + resource[len(resource.partition("/")[0]) :])
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def refusals(cluster: Cluster) -> list[str]:
    """What the server refused for want of a right: it says "forbidden" of a class that is not there as well."""
    lines = (cluster.folder / "operator.log").read_text("utf-8").splitlines()
    return [line for line in lines if ("cannot" in line and "forbidden: User" in line) or "attempting to grant" in line]


def pod_of_the_operator(cluster: Cluster) -> str:
    """The name of a pod of its Deployment, in which nothing runs here."""
    for one in manifests(load_values([], []), NAMESPACE):
        if one["kind"] == "Deployment":
            cluster.apply(one)
    cluster.until(lambda: len(cluster.items("pods", "-n", NAMESPACE)), 2)
    return str(cluster.items("pods", "-n", NAMESPACE)[0]["metadata"]["name"])


def abouts_of(cluster: Cluster, reason: str) -> set[str]:
    """What events of a reason are about."""
    events = cluster.items("events", "-n", NAMESPACE, "--field-selector", f"reason={reason}")
    return {f"{one['involvedObject']['kind']}/{one['involvedObject']['name']}" for one in events}


def test_the_operator_may_do_what_it_does_and_nothing_else(cluster: Cluster) -> None:
    others(cluster)
    install(cluster, settings())
    cluster.kubectl("wait", "--for=condition=Established", "--timeout=60s", "crd", "--all")
    pod, rules = pod_of_the_operator(cluster), cluster.folder / "rules"
    rules.mkdir()
    mark = cluster.plane.mark()
    with cluster.operator("--workers", "8", "--rules", str(rules), POD_NAME=pod):
        cluster.until(lambda: cluster.get("clustertopology", "grove-topology") is not None, True)
        (rules / "wrong.yaml").write_text("rule: [")  # which it finds some time while it goes on with the others
        play(cluster)
        cluster.until(lambda: abouts_of(cluster, "RulesRefused"), {"Deployment/grove-operator"})
    # Alone it need not wait for a word about each kind since it leads, of which there is none for a minute where nothing happens.
    install(cluster, [*settings(with_topologies=False), "config.leaderElection.enabled=false", "replicas=1"])
    with cluster.operator("--mnnvl-shape", "as-proposed"):
        play_as_proposed(cluster)
        cluster.until(lambda: cluster.get("clustertopology", "grove-topology"), None)
    requests = cluster.plane.requests(mark).only(user=ACCOUNT)
    may = granted(manifests(load_values([], settings()), NAMESPACE))
    does = needed(one for one in requests if one.code != 403) | granted([ROLE]) | OWNERS | WHILE_KINDS_ARE_MISSING
    assert "\n".join(refusals(cluster)) == "", "too few"
    assert "\n".join(sorted(f"{verb} {what}" for verb, what in does - may)) == "", "granted by somebody else"
    assert "\n".join(sorted(f"{verb} {what}" for verb, what in may - does)) == "", "too many"
