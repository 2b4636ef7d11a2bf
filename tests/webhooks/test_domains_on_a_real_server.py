"""The MNNVL webhooks behind a real API server, where another controller writes PodCliques and PodGangs: here kubectl plays it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from applier.testing.control_plane import ControlPlane
from grove_compiler.api import crd
from grove_operator.install.webhook_configurations import MNNVL, Installation, webhook_configuration
from tests.applier.transport.certificates import needs_openssl
from tests.cli.conftest import cache_of_the_session
from tests.controller.live.test_mnnvl import DEFINITION
from tests.definitions import serve_with_garbage_collection
from tests.seeds.sets import clique, mnnvl, pcs
from tests.webhooks.conftest import Manifest
from tests.webhooks.process import Served, webhooks

pytestmark = [pytest.mark.cluster, needs_openssl, pytest.mark.xdist_group("domains")]  # one control plane of their own

__all__ = ["cache_of_the_session"]

PATIENCE = 90.0
CONFIGURATION = """
apiVersion: operator.config.grove.io/v1alpha1
kind: OperatorConfiguration
logFormat: text
admission: {mnnvlWebhooks: true}
"""
LABELS = {"app.kubernetes.io/part-of": "demo", "grove.io/podcliqueset-replica-index": "0", "grove.io/podgang": "demo-0"}
"""Those of the shipped operator."""


class Place(NamedTuple):
    """A cluster of its own, since it has NVIDIA's kind, and the webhooks in it."""

    plane: ControlPlane
    folder: Path

    def apply(self, *manifests: Manifest) -> None:
        self.plane.kubectl("apply", "-f", "-", input="\n".join(map(json.dumps, manifests)))

    def get(self, kind: str, name: str) -> Any:
        return self.plane.objects.get(kind, name)

    def until(self, look: Callable[[], Any], wanted: Any) -> None:
        deadline = time.monotonic() + PATIENCE
        while (seen := look()) != wanted:
            assert time.monotonic() < deadline, f"wanted {wanted!r}, and there is still {seen!r}; {(self.folder / 'log').read_text()}"
            time.sleep(0.2)

    def disabled(self, name: str) -> str:
        """What people are told who try to switch MNNVL off for a PodClique that exists."""
        change = ("annotate", "--dry-run=server", "--overwrite", "podclique", name, "grove.io/mnnvl-enabled=false")
        return self.plane.kubectl(*change, check=False).stderr

    def owner_of_domain(self) -> str:
        domain = self.get("computedomain", "demo-0-cd")
        return domain["metadata"]["ownerReferences"][0]["kind"] if domain else ""

    @contextmanager
    def webhooks(self) -> Iterator[None]:
        """Runs them, and has the API server ask them."""
        with webhooks(self.plane, self.folder, "--config", str(self.folder / "config.yaml")) as served:
            self.apply(*configurations(served))
            self.until(self._is_asked, True)
            yield

    def _is_asked(self) -> bool:
        """An API server follows its configurations with some delay."""
        tried = self.plane.kubectl("create", "--dry-run=server", "-f", "-", "-o", "json", input=json.dumps(podclique("demo-0-probe")))
        return "resourceClaims" in json.loads(tried.stdout)["spec"]["podSpec"]


def configurations(served: Served) -> Iterator[Manifest]:
    for manifest in (webhook_configuration(each, Installation("default")) for each in MNNVL):
        [hook] = manifest["webhooks"]
        path = hook["clientConfig"]["service"]["path"]
        hook["clientConfig"] = {"url": served.url + path, "caBundle": served.bundle}
        yield manifest


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("webhooks")
    (folder / "config.yaml").write_text(CONFIGURATION)
    with ControlPlane.start(parts=("kube-controller-manager",)) as plane:
        there = Place(plane, folder)
        serve_with_garbage_collection(plane, [*crd.crds(), DEFINITION])
        yield there


@pytest.fixture
def demo(place: Place) -> Iterator[Place]:
    """A set that enables MNNVL, whose controller hands no annotations on, as the shipped one does not."""
    place.apply(pcs([clique("worker"), clique("ps")], annotations=mnnvl("replica")))
    yield place
    for hook in (webhook_configuration(each, Installation("default")) for each in MNNVL):
        place.plane.kubectl("delete", hook["kind"], hook["metadata"]["name"], "--ignore-not-found")
    place.plane.kubectl("delete", "podgangs,podcliques,podcliquesets", "--all")
    place.until(lambda: place.get("computedomain", "demo-0-cd"), None)


def podclique(name: str) -> Manifest:
    labels = {**LABELS, "app.kubernetes.io/managed-by": "grove-operator"}
    spec = clique(name.removeprefix("demo-0-"))["spec"]
    metadata: Manifest = {"name": name, "namespace": "default", "labels": labels}
    if name.endswith("probe"):  # of no template of the set, from which it would have them
        metadata["annotations"] = mnnvl("replica")
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "metadata": metadata, "spec": spec}


def podgang() -> Manifest:
    metadata = {"name": "demo-0", "namespace": "default", "labels": {"app.kubernetes.io/part-of": "demo"}}
    return {"apiVersion": "scheduler.grove.io/v1alpha1", "kind": "PodGang", "metadata": metadata, "spec": {"podgroups": []}}


def test_podcliques_join_a_domain_that_comes_and_goes_with_their_gang(demo: Place) -> None:
    with demo.webhooks():
        assert demo.get("computedomain", "demo-0-cd") is None, "a trial made a domain"
        demo.apply(podclique("demo-0-worker"), podclique("demo-0-ps"))
        made = [demo.get("podclique", f"demo-0-{name}") for name in ("worker", "ps")]
        claim = [{"name": "mnnvl", "resourceClaimTemplateName": "demo-0-mnnvl-claim"}]
        assert [one["spec"]["podSpec"]["resourceClaims"] for one in made] == [claim, claim]
        assert [one["metadata"]["annotations"]["grove.io/mnnvl-enabled"] for one in made] == ["true", "true"]
        assert demo.owner_of_domain() == "PodCliqueSet"
        demo.apply(podgang())
        demo.until(demo.owner_of_domain, "PodGang")
        demo.until(lambda: demo.get("podgang", "demo-0")["metadata"].get("annotations", {}).get("grove.io/mnnvl-resources-adopted"), "true")
        demo.plane.kubectl("delete", "podgang", "demo-0")
        demo.until(lambda: demo.get("computedomain", "demo-0-cd"), None)


def test_a_gang_that_came_while_they_were_away_gets_its_domains_later(demo: Place) -> None:
    with demo.webhooks():
        demo.apply(podclique("demo-0-worker"))
    demo.apply(podgang())
    assert demo.owner_of_domain() == "PodCliqueSet"
    with demo.webhooks():
        demo.until(demo.owner_of_domain, "PodGang")


def test_annotations_of_a_podclique_cannot_change(demo: Place) -> None:
    with demo.webhooks():
        demo.apply(podclique("demo-0-worker"))
        refused = 'metadata.annotations[grove.io/mnnvl-enabled]: Invalid value: "false": annotation grove.io/mnnvl-enabled is immutable'
        demo.until(lambda: refused in demo.disabled("demo-0-worker"), True)
