"""Whose replicas are left to an autoscaler."""

from __future__ import annotations

from applier.ref import Manifest, Ref
from grove_operator.cluster.desired import scaled_fields
from tests.suite.rows import rows

from .manifests import obj

WEB = Ref("apps", "Deployment", "shop", "web")


def hpa(**target: str) -> Manifest:
    return obj("HorizontalPodAutoscaler", "scaler", api="autoscaling/v2", spec={"scaleTargetRef": target})


def keda(**target: str) -> Manifest:
    return obj("ScaledObject", "scaler", api="keda.sh/v1alpha1", spec={"scaleTargetRef": target})


def definition(path: str) -> Manifest:
    version = {"name": "v1", "subresources": {"scale": {"specReplicasPath": path}}}
    spec = {"group": "example.com", "names": {"kind": "Fleet"}, "versions": [version]}
    return obj("CustomResourceDefinition", "fleets.example.com", "", api="apiextensions.k8s.io/v1", spec=spec)


def test_an_hpa_drives_the_replicas_of_its_target() -> None:
    assert scaled_fields([hpa(apiVersion="apps/v1", kind="Deployment", name="web")]) == {WEB: "/spec/replicas"}


def test_the_target_of_a_scaled_object_is_a_deployment_unless_it_says_more() -> None:
    assert scaled_fields([keda(name="web")]) == {WEB: "/spec/replicas"}


def test_a_definition_in_the_graph_says_where_replicas_stand() -> None:
    fleet = hpa(apiVersion="example.com/v1", kind="Fleet", name="trucks")
    found = scaled_fields([fleet, definition(".spec.size.count")])
    assert found == {Ref("example.com", "Fleet", "shop", "trucks"): "/spec/size/count"}


@rows(
    "manifest",
    [
        hpa(apiVersion="apps/v1", kind="Deployment"),
        obj("HorizontalPodAutoscaler", "x", api="autoscaling/v2"),
        obj("HorizontalPodAutoscaler", "x", api="example.com/v1", spec={"scaleTargetRef": {"name": "web"}}),
        obj("ScaledObject", "x", api="keda.sh/v1alpha1", spec={"scaleTargetRef": "web"}),
        obj("Deployment", "web", api="apps/v1", spec={"replicas": 3}),
        definition(""),
    ],
    ids=["no name", "no spec", "a stranger's kind", "no reference", "no autoscaler", "a definition without a path"],
)
def test_nothing_is_scaled_by(manifest: Manifest) -> None:
    assert scaled_fields([manifest]) == {}
