"""How kinds and objects are named, and what their metadata says."""

from __future__ import annotations

import pytest

from applier.cluster import Resource
from applier.ref import Kind, Ref, being_deleted, resource_version_of, uid_of

DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "shop", "uid": "u1", "resourceVersion": "7"},
}


def test_a_kind_is_read_from_a_manifest() -> None:
    assert Kind.of(DEPLOYMENT) == Kind("apps", "v1", "Deployment")


@pytest.mark.parametrize("api_version", ["v1", "apps/v1", "resource.k8s.io/v1beta2"])
def test_a_kind_writes_the_api_version_that_it_was_read_from(api_version: str) -> None:
    assert Kind.read(api_version, "Thing").api_version == api_version


@pytest.mark.parametrize(("api_version", "text"), [("v1", "Secret"), ("apps/v1", "Secret.apps")])
def test_a_group_kind_is_written_as_applysets_do(api_version: str, text: str) -> None:
    assert Kind.read(api_version, "Secret").group_kind == text


def test_two_versions_of_an_api_name_the_same_object() -> None:
    assert Ref.of(DEPLOYMENT) == Ref.of({**DEPLOYMENT, "apiVersion": "apps/v1beta1"})


@pytest.mark.parametrize(
    ("ref", "text"),
    [
        (Ref("", "ConfigMap", "shop", "a"), "ConfigMap/shop/a"),
        (Ref("apps", "Deployment", "shop", "a"), "Deployment.apps/shop/a"),
        (Ref("", "Namespace", "", "shop"), "Namespace/shop"),
    ],
)
def test_a_reference_is_written_for_people(ref: Ref, text: str) -> None:
    assert str(ref) == text


@pytest.mark.parametrize("manifest", [{}, {"metadata": None}, {"metadata": {"name": None}}, {"kind": "ConfigMap", "metadata": {}}])
def test_a_manifest_without_metadata_names_nothing(manifest: dict[str, object]) -> None:
    assert Ref.of(manifest).name == ""


def test_what_the_server_gave_is_read_from_metadata() -> None:
    assert (uid_of(DEPLOYMENT), resource_version_of(DEPLOYMENT)) == ("u1", "7")


def test_an_object_on_paper_has_neither_uid_nor_version() -> None:
    assert (uid_of({"metadata": None}), resource_version_of({})) == ("", "")


CONFIG_MAP, DEPLOYMENTS = (
    Resource(Kind("", "v1", "ConfigMap"), "configmaps", True),
    Resource(Kind("apps", "v1", "Deployment"), "deployments", True),
)
NODES = Resource(Kind("", "v1", "Node"), "nodes", False)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (CONFIG_MAP.path(), "/api/v1/configmaps"),
        (CONFIG_MAP.path("shop"), "/api/v1/namespaces/shop/configmaps"),
        (CONFIG_MAP.path("shop", "a"), "/api/v1/namespaces/shop/configmaps/a"),
        (DEPLOYMENTS.path("shop", "a", "scale"), "/apis/apps/v1/namespaces/shop/deployments/a/scale"),
        (NODES.path("ignored", "n1"), "/api/v1/nodes/n1"),
    ],
)
def test_a_resource_knows_its_urls(path: str, expected: str) -> None:
    assert path == expected


def test_who_holds_up_a_deletion_is_said() -> None:
    live = {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["example.com/wait"]}}
    assert being_deleted(live) == "has been terminating since 2026-01-01T00:00:00Z, held by example.com/wait"
