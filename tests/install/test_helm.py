"""The chart's life on a real control plane: installed, upgraded, rolled back, uninstalled, and a set that nobody disturbs meanwhile."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from applier.testing.control_plane import ControlPlane
from grove_operator.install.manifests import manifests
from grove_operator.install.user_values import load_values
from tests.controller.live.account import NAMESPACE
from tests.controller.live.world import BASE, FRONT, SCALED, SERVING
from tools.generate_chart import CHART, PAGE

from .cluster import QUIET, WITHOUT_WEBHOOKS, Cluster, cluster_without_definitions
from .conftest import Helm

pytestmark = pytest.mark.cluster("kwok", "kube-scheduler", "kube-controller-manager")
RELEASE = ("grove", "--namespace", NAMESPACE)
VALUES = load_values([], [])
WITHOUT_DEFINITIONS = ("--set", "crds.enabled=false")
"""Most of what a server has to do about an installation."""
FIELD = "headlessServiceConfig"
"""A field that the release before this one did not have."""
SETS = "podcliquesets.grove.io"
MINIMAL = Path(__file__).parents[2] / "examples" / "minimal.yaml"


@pytest.fixture(scope="module")
def helm_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    with cluster_without_definitions(tmp_path_factory.mktemp("helm")) as there:
        yield there.plane


@pytest.fixture
def cluster(helm_plane: ControlPlane, tmp_path: Path) -> Iterator[Cluster]:
    """One that has nothing of ours, and nothing again after the test, which leaves no set behind."""
    there = Cluster(helm_plane, tmp_path)
    yield there
    there.kubectl("delete", "secrets", "-n", NAMESPACE, "-l", "owner=helm")
    if names := definitions(there):
        there.kubectl("delete", "crds", "--wait=false", *names)
    there.until(partial(definitions_left, there), [])
    there.kubectl("delete", "--ignore-not-found", "-f", "-", input="\n".join(map(json.dumps, manifests(VALUES, NAMESPACE))))


def definitions(there: Cluster) -> list[str]:
    """The names of our definitions."""
    return [name for one in there.items("crds") if (name := one["metadata"]["name"]).endswith("grove.io")]


def definitions_left(there: Cluster) -> list[str]:
    """The names of those that are still being removed. A change of one has the server try at once, whose attempts back off for minutes."""
    left = definitions(there)
    for name in left:
        there.plane.kubectl("annotate", "crd", name, f"example.com/tried={time.monotonic()}", "--overwrite", check=False)
    return left


@pytest.fixture
def helm(helm_program: str, cluster: Cluster, tmp_path: Path) -> Helm:
    return Helm(helm_program, tmp_path / "helm", cluster.plane.kubeconfig)


def previous_chart(folder: Path) -> Path:
    """The chart as a release before this one had it: another version, and a definition without one of its fields."""
    shutil.copytree(CHART, folder)
    about = yaml.load((folder / "Chart.yaml").read_text(), yaml.CSafeLoader)
    (folder / "Chart.yaml").write_text(yaml.safe_dump({**about, "version": "0.0.1", "appVersion": "0.0.1"}))
    crds = folder / "templates" / "crds.yaml"
    text, count = re.subn(rf"\n( +){FIELD}:\n(?:\1 .*\n)+", "\n", crds.read_text(), count=1)
    assert count == 1
    crds.write_text(text)
    return folder


def fields(cluster: Cluster) -> set[str]:
    """The fields of a set's template, as the server knows them."""
    schema = cluster.get("crd", SETS)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return set(schema["properties"]["spec"]["properties"]["template"]["properties"])


def image(cluster: Cluster) -> str:
    made: str = cluster.get("deployment", "grove-operator", "-n", NAMESPACE)["spec"]["template"]["spec"]["containers"][0]["image"]
    return made


def test_436_a_running_set_lives_through_install_upgrade_rollback_and_uninstall(cluster: Cluster, helm: Helm, tmp_path: Path) -> None:
    old = previous_chart(tmp_path / "old")
    helm("install", RELEASE[0], str(old), *RELEASE[1:], "--create-namespace", "--wait", *WITHOUT_WEBHOOKS, *QUIET)
    assert FIELD not in fields(cluster)
    cluster.kubectl("create", "namespace", "team")
    serving = json.dumps({**SERVING, "metadata": {"name": "chat", "namespace": "team"}})
    minimal: Any = next(one for one in yaml.load_all(MINIMAL.read_text(), yaml.CSafeLoader) if one["kind"] == "PodCliqueSet")
    with cluster.operator():
        cluster.kubectl("apply", "-f", "-", input=serving)
        cluster.until(lambda: sorted(cluster.pods("team")), sorted((*FRONT, *BASE, *SCALED)))
    before = cluster.pods("team")

    helm("upgrade", RELEASE[0], str(CHART), *RELEASE[1:], "--wait", "--reset-then-reuse-values", "--set", "image.tag=next")
    assert FIELD in fields(cluster), "definitions are upgraded, too"
    assert image(cluster).endswith(":next")
    with cluster.operator():
        minimal["metadata"]["namespace"] = "team"
        cluster.apply(minimal)
        cluster.until(lambda: cluster.pods("team").keys() > before.keys(), True)
        assert before.items() <= cluster.pods("team").items(), "an upgrade restarts no pod"

    helm("rollback", *RELEASE, "1", "--wait")
    assert not image(cluster).endswith(":next")
    assert before.items() <= cluster.pods("team").items()

    helm("uninstall", *RELEASE, "--wait")
    assert cluster.get("deployment", "grove-operator", "-n", NAMESPACE) is None
    assert cluster.get("clusterrole", "grove-operator") is None
    assert cluster.get(SETS, "chat", "-n", "team") is not None, "definitions stay, and sets with them"
    assert before.items() <= cluster.pods("team").items()

    helm("install", RELEASE[0], str(CHART), *RELEASE[1:], *WITHOUT_WEBHOOKS, *QUIET)
    with cluster.operator():
        cluster.kubectl("scale", "-n", "team", "podcliqueset/chat", "--replicas=0")
        cluster.until(lambda: [name for name in cluster.pods("team") if name.startswith("chat-")], [])
        cluster.kubectl("delete", SETS, "--all", "-n", "team", "--timeout=120s")


def test_453_an_upgrade_leaves_alone_what_the_operator_fills_in(cluster: Cluster, helm: Helm) -> None:
    helm("install", RELEASE[0], str(CHART), *RELEASE[1:], "--create-namespace", *WITHOUT_DEFINITIONS)
    names = [one["metadata"]["name"] for one in cluster.items("validatingwebhookconfigurations")]
    assert names
    patch = json.dumps([{"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": "QUJD"}])
    for name in names:
        cluster.kubectl("patch", "validatingwebhookconfiguration", name, "--type=json", "-p", patch)
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "grove-webhook-server-cert", "namespace": NAMESPACE},
        "data": {"tls.crt": "QUJD"},
    }
    cluster.apply(secret)
    helm("upgrade", RELEASE[0], str(CHART), *RELEASE[1:], "--set", "webhooks.failurePolicy=Ignore", *WITHOUT_DEFINITIONS)
    for one in cluster.items("validatingwebhookconfigurations"):
        assert (one["webhooks"][0]["clientConfig"]["caBundle"], one["webhooks"][0]["failurePolicy"]) == ("QUJD", "Ignore")
    assert cluster.get("secret", "grove-webhook-server-cert", "-n", NAMESPACE)["data"] == {"tls.crt": "QUJD"}


def test_what_grove_install_prints_is_applied_as_the_page_says(cluster: Cluster, tmp_path: Path) -> None:
    from tests.cli.running import run

    assert re.search(r"^grove install .*> operator.yaml\nkubectl apply --server-side -f operator.yaml$", PAGE.read_text(), re.MULTILINE)
    file = tmp_path / "operator.yaml"
    file.write_text(run("install").out)
    cluster.kubectl("apply", "--server-side", "-f", str(file))
    cluster.kubectl("rollout", "status", "deployment/grove-operator", "-n", NAMESPACE, "--timeout=120s")
    assert len(cluster.items("pods", "-n", NAMESPACE)) == 2
