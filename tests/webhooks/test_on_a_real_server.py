"""`grove operator webhooks` behind a real API server: what people see in kubectl."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from applier.testing.control_plane import ControlPlane
from grove_operator.install.webhook_configurations import DEFAULT_SETS, VALIDATE_SETS
from tests.applier.transport.certificates import needs_openssl
from tests.cli.conftest import cache_of_the_session
from tests.webhooks.conftest import Manifest
from tests.webhooks.process import Served, webhooks

pytestmark = [pytest.mark.cluster, needs_openssl]

__all__ = ["cache_of_the_session"]


@pytest.fixture(scope="module")
def webhooks_plane(crds: None, control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The webhooks as a program of their own, which nobody asks yet."""
    with webhooks(control_plane, tmp_path_factory.mktemp("webhooks")) as served:
        yield served


def probe(**clique: int) -> Manifest:
    """A set by whose dry run is seen who is asked."""
    spec = {"roleName": "a", "replicas": 1, "podSpec": {"containers": [{"name": "box", "image": "none"}]}, **clique}
    spec = {"replicas": 1, "template": {"cliques": [{"name": "a", "spec": spec}]}}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": {"name": "probe"}, "spec": spec}


@contextmanager
def asked(plane: ControlPlane, served: Served, namespace: str) -> Iterator[None]:
    """Has the webhooks asked for what is in a namespace until the block ends."""
    try:
        configurations = [configuration(kind, served.url, served.bundle, namespace) for kind in ("Mutating", "Validating")]
        plane.kubectl("apply", "-f", "-", input="\n".join(map(json.dumps, configurations)))
        sets = f"/apis/grove.io/v1alpha1/namespaces/{namespace}/podcliquesets"
        plane.await_answer(sets, probe(), "4h0m0s")
        plane.await_answer(sets, probe(minAvailable=3), "must not be greater than replicas")
        yield
    finally:
        names = [f"{kind}webhookconfiguration/grove-{namespace}" for kind in ("mutating", "validating")]
        plane.kubectl("delete", *names, "--ignore-not-found")


@pytest.fixture
def admission(webhooks_plane: Served, control_plane: ControlPlane, namespace: str) -> Iterator[None]:
    with asked(control_plane, webhooks_plane, namespace):
        yield


def configuration(kind: str, url: str, bundle: str, namespace: str) -> Manifest:
    path = (DEFAULT_SETS if kind == "Mutating" else VALIDATE_SETS).path
    rule = {"apiGroups": ["grove.io"], "apiVersions": ["v1alpha1"], "operations": ["CREATE", "UPDATE"], "resources": ["podcliquesets"]}
    webhook = {
        "name": f"pcs.{kind.lower()}.webhooks.grove.io",
        "clientConfig": {"url": url + path, "caBundle": bundle},
        "rules": [rule],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Fail",
    }
    metadata = {"name": f"grove-{namespace}"}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": f"{kind}WebhookConfiguration",
        "metadata": metadata,
        "webhooks": [webhook],
    }


def apply(control_plane: ControlPlane, manifest: Manifest) -> tuple[int, str]:
    ended = control_plane.kubectl("apply", "-f", "-", input=json.dumps(manifest), check=False)
    return ended.returncode, ended.stderr


@pytest.mark.usefixtures("admission")
def test_kubectl_shows_every_error_with_its_field(control_plane: ControlPlane, there: Manifest) -> None:
    worker = there["spec"]["template"]["cliques"][0]["spec"]
    worker["minAvailable"], worker["podSpec"]["restartPolicy"] = 3, "always"
    code, told = apply(control_plane, there)
    assert (code, sorted(told.splitlines())[:2]) == (
        1,
        [
            "* spec.template.cliques[0].spec.minAvailable: Invalid value: 3: minAvailable must not be greater than replicas (2): "
            "the gang could never start",
            '* spec.template.cliques[0].spec.podSpec.restartPolicy: Unsupported value: "always": must be one of Always, Never, OnFailure, '
            'not "always"; did you mean "Always"?',
        ],
    )


@pytest.mark.usefixtures("admission")
def test_a_set_is_stored_with_our_defaults(control_plane: ControlPlane, there: Manifest, namespace: str) -> None:
    assert apply(control_plane, there)[0] == 0
    stored = json.loads(control_plane.kubectl("get", "pcs", "chat", "-n", namespace, "-o", "json").stdout)["spec"]["template"]
    assert (stored["terminationDelay"], stored["cliques"][0]["spec"]["podSpec"]["restartPolicy"]) == ("4h0m0s", "Always")


@pytest.mark.usefixtures("admission")
def test_applying_it_again_changes_nothing(control_plane: ControlPlane, there: Manifest, namespace: str) -> None:
    generations = []
    for _ in range(2):
        assert apply(control_plane, there)[0] == 0
        generations.append(control_plane.kubectl("get", "pcs", "chat", "-n", namespace, "-o", "jsonpath={.metadata.generation}").stdout)
    assert generations == ["1", "1"]


def apply_as(control_plane: ControlPlane, manager: str, manifest: Manifest, *options: str) -> Manifest:
    """Applies as GitOps tools do on the server's side; returns what comes of it, without who owns what."""
    words = ("apply", "--server-side", "--force-conflicts", f"--field-manager={manager}", "-o", "json", *options, "-f", "-")
    made: Manifest = json.loads(control_plane.kubectl(*words, input=json.dumps(manifest)).stdout)
    made["metadata"].pop("managedFields", None)
    return made


@pytest.mark.usefixtures("admission")
def test_a_gitops_tool_sees_no_drift_and_changes_nothing_by_applying_again(control_plane: ControlPlane, there: Manifest) -> None:
    made = apply_as(control_plane, "kustomize-controller", there)
    made["metadata"].pop("resourceVersion")
    for options in (("--dry-run=server",), ()):
        again = apply_as(control_plane, "kustomize-controller", there, *options)
        again["metadata"].pop("resourceVersion")
        assert again == made


@pytest.mark.usefixtures("admission")
def test_a_clique_without_min_available_in_git_keeps_it_and_grows(control_plane: ControlPlane, there: Manifest) -> None:
    clique = there["spec"]["template"]["cliques"][0]["spec"]
    del clique["minAvailable"]
    assert apply(control_plane, there)[0] == 0
    clique["replicas"] = 4
    assert apply(control_plane, there)[0] == 0
    clique["replicas"] = 5
    stored = apply_as(control_plane, "kustomize-controller", there)["spec"]["template"]["cliques"][0]["spec"]
    assert (stored["replicas"], stored["minAvailable"]) == (5, 2)


@pytest.mark.usefixtures("admission")
@pytest.mark.parametrize(("others", "left"), [((), 0), (("scaling",), 1)], ids=["nobody owns them", "somebody else owns them"])
def test_replicas_that_git_no_longer_has_stay_only_where(
    others: tuple[str, ...], left: int, control_plane: ControlPlane, there: Manifest
) -> None:
    apply_as(control_plane, "kustomize-controller", there)
    for other in others:
        apply_as(control_plane, other, {**there, "spec": {"replicas": 1}})
    del there["spec"]["replicas"]
    assert apply_as(control_plane, "kustomize-controller", there)["spec"]["replicas"] == left


@pytest.mark.usefixtures("admission")
def test_an_edit_that_is_not_allowed_is_refused(control_plane: ControlPlane, there: Manifest) -> None:
    assert apply(control_plane, there)[0] == 0
    there["spec"]["template"]["cliques"][0]["spec"]["minAvailable"] = 1
    code, told = apply(control_plane, there)
    assert code == 1
    assert "spec.template.cliques.spec.minAvailable: Invalid value: 1: field is immutable" in told


@pytest.mark.usefixtures("admission")
def test_a_job_keeps_its_size_and_its_pods(control_plane: ControlPlane, there: Manifest) -> None:
    there["spec"]["workloadType"] = "Training"
    assert apply(control_plane, there)[0] == 0
    there["spec"]["replicas"] = 7
    there["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][0]["image"] = "another:1"
    code, told = apply(control_plane, there)
    assert code == 1
    assert "spec.replicas: " in told
    assert "spec.template.cliques[0].spec.podSpec.containers[0].image: " in told


def test_a_set_that_was_stored_before_and_is_wrong_can_go(
    webhooks_plane: Served, control_plane: ControlPlane, there: Manifest, namespace: str
) -> None:
    there["metadata"]["finalizers"] = ["somebody.example/keeps"]
    there["spec"]["template"]["cliques"][0]["spec"]["minAvailable"] = 3
    assert apply(control_plane, there)[0] == 0
    with asked(control_plane, webhooks_plane, namespace):
        control_plane.kubectl("delete", "pcs", "chat", "-n", namespace, "--wait=false")
        patch = '{"metadata": {"finalizers": null}}'
        assert control_plane.kubectl("patch", "pcs", "chat", "-n", namespace, "--type=merge", "-p", patch, check=False).returncode == 0


def test_without_the_webhooks_nothing_is_let_in(
    crds: None, control_plane: ControlPlane, there: Manifest, namespace: str, tmp_path: Path
) -> None:
    with webhooks(control_plane, tmp_path) as served, asked(control_plane, served, namespace):
        served.process.terminate()
        assert served.process.wait(20) == 0
        assert "failed calling webhook" in apply(control_plane, there)[1]
