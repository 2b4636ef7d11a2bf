"""Webhooks beside another operator: what `webhooks.only` installs is enough for them, and nothing that belongs to the other one."""

from __future__ import annotations

import json
import re
import ssl
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grove_compiler.api.crd import crds
from grove_operator.install.manifests import manifests
from grove_operator.install.user_values import InvalidValues, load_values
from tests.controller.live.account import ACCOUNT, NAMESPACE
from tests.controller.live.test_mnnvl import AS_PROPOSED
from tests.seeds.sets import clique, mnnvl, pcs

from .cluster import Cluster, cluster_without_definitions
from .scenario import install
from .test_rbac import READ, granted, needed, refusals

VALUES = [
    "webhooks.only=true",
    "config.admission.mnnvlWebhooks=true",
    "config.server.webhooks.bindAddress=127.0.0.1",
    "config.server.webhooks.port=0",
]
WHILE_KINDS_ARE_MISSING = {(verb, "customresourcedefinitions.apiextensions.k8s.io") for verb in READ}
KINDS_OF_OTHERS = {
    (verb, f"{kind}")
    for verb in READ
    for kind in (
        "topologies.kai.scheduler",
        "podgroups.scheduling.run.ai",
        "podgroups.scheduling.volcano.sh",
    )
}
"""What is read where it is served; here it is not."""
OF_A_NEW_INSTALLATION = {("create", "secrets")}
"""Here the Secret of the certificates is there already, as the shipped chart leaves it."""
OWNERS = {
    ("update", "podcliquesets.grove.io/finalizers"),
    ("update", "podgangs.scheduler.grove.io/finalizers"),
    ("delete", "computedomains.resource.nvidia.com"),
    ("delete", "resourceclaims.resource.k8s.io"),
}
"""What the server asks for where owners are written and changed (`STRICT`): it looks these rights up by itself."""
LABELS = {
    "app.kubernetes.io/managed-by": "grove-operator",
    "app.kubernetes.io/part-of": "demo",
    "grove.io/podcliqueset-replica-index": "0",
    "grove.io/podgang": "demo-0",
}


def test_nothing_that_belongs_to_the_other_operator_is_installed() -> None:
    made = manifests(load_values([], VALUES), NAMESPACE)
    assert "CustomResourceDefinition" not in {one["kind"] for one in made}
    paths = {hook["clientConfig"]["service"]["path"] for one in made for hook in one.get("webhooks") or ()}
    assert paths == {"/webhooks/mnnvl-podclique", "/webhooks/validate-mnnvl-podclique", "/webhooks/mnnvl-podgang"}
    [deployment] = [one for one in made if one["kind"] == "Deployment"]
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    assert container["command"][:3] == ["grove", "operator", "webhooks"]
    assert [one["name"] for one in container["ports"]] == ["webhooks"]
    assert container["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "webhooks", "scheme": "HTTPS"}


def test_without_the_webhooks_that_would_be_installed_it_is_refused() -> None:
    with pytest.raises(InvalidValues, match="nothing would be installed"):
        load_values([], ["webhooks.only=true"])


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with cluster_without_definitions(tmp_path / "cluster") as there:
        there.apply(*crds(), AS_PROPOSED)
        there.kubectl("wait", "--for=condition=Established", "--timeout=120s", "crd", "--all")
        yield there


def asked(port: str, path: str, object: dict[str, Any]) -> dict[str, Any]:
    """What the webhook answers about an object that somebody makes. Who asks knows it by no name, so that its certificate says nothing."""
    request = {"uid": "1", "operation": "CREATE", "namespace": "default", "kind": {"kind": object["kind"]}, "object": object}
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    posted = urllib.request.Request(f"https://127.0.0.1:{port}{path}", json.dumps(review).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(posted, timeout=60, context=trusting) as answer:
        response: dict[str, Any] = json.load(answer)["response"]
    return response


@pytest.mark.cluster("kube-controller-manager")
def test_the_webhooks_may_do_what_they_do_and_nothing_else(cluster: Cluster) -> None:
    cluster.apply(pcs([clique("worker")], annotations=mnnvl("replica")))
    install(cluster, VALUES)
    mark = cluster.plane.mark()
    metadata = {"name": "demo-0-worker", "namespace": "default", "labels": LABELS}
    podclique = {"apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "metadata": metadata, "spec": clique("worker")["spec"]}
    gang = {"name": "demo-0", "namespace": "default", "labels": {"app.kubernetes.io/part-of": "demo"}}
    with cluster.process("webhooks"):
        cluster.until(lambda: '"ready"' in cluster.log(), True)
        port = re.search(r'"port": ?(\d+)', cluster.log())
        assert port, cluster.log()
        assert asked(port[1], "/webhooks/mnnvl-podclique", podclique)["allowed"]
        assert cluster.get("computedomain", "demo-0-cd") is not None
        cluster.apply({"apiVersion": "scheduler.grove.io/v1alpha1", "kind": "PodGang", "metadata": gang, "spec": {"podgroups": []}})
        cluster.until(lambda: cluster.get("computedomain", "demo-0-cd")["metadata"]["ownerReferences"][0]["kind"], "PodGang")
        cluster.until(lambda: "annotations" in cluster.get("podgang", "demo-0")["metadata"], True)
    requests = cluster.plane.requests(mark).only(user=ACCOUNT)
    asked_for = needed(one for one in requests if one.code != 403) | OWNERS
    does = asked_for | WHILE_KINDS_ARE_MISSING | KINDS_OF_OTHERS | OF_A_NEW_INSTALLATION
    may = granted(manifests(load_values([], VALUES), NAMESPACE))
    assert "\n".join(refusals(cluster)) == "", "too few"
    assert "\n".join(sorted(f"{verb} {what}" for verb, what in does - may)) == "", "granted by somebody else"
    assert "\n".join(sorted(f"{verb} {what}" for verb, what in may - does)) == "", "too many"
