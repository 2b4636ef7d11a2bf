"""The real server refuses to apply fields that it does not know, without being asked to: which is why we do not ask."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from applier.errors import Invalid, UnknownKind
from applier.ref import Kind, Manifest
from applier.testing.control_plane import ControlPlane
from applier.transport import ApiCluster, connect

from .scripted import raised

pytestmark = pytest.mark.cluster


@pytest_asyncio.fixture
async def cluster(control_plane: ControlPlane) -> AsyncIterator[ApiCluster]:
    async with connect(kubeconfig=str(control_plane.kubeconfig)) as connected:
        yield connected


WORKLOAD = {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": []}}}
UNKNOWN: dict[str, tuple[Kind, Manifest, str]] = {
    "at the top": (Kind("", "v1", "ConfigMap"), {"bogus": 1}, ".bogus"),
    "in the metadata": (Kind("", "v1", "ConfigMap"), {"metadata": {"bogus": 1}}, ".metadata.bogus"),
    "in other letters": (Kind("", "v1", "ConfigMap"), {"Data": {}}, ".Data"),
    "in a template": (Kind("apps", "v1", "Deployment"), {"spec": WORKLOAD | {"template": {"bogus": 1}}}, ".spec.template.bogus"),
    "in an item": (Kind("", "v1", "Service"), {"spec": {"ports": [{"port": 1, "bogus": 1}]}}, '.spec.ports[port=1,protocol="TCP"].bogus'),
    "in an atomic map": (Kind("apps", "v1", "Deployment"), {"spec": {"selector": {"bogus": 1}}}, ".spec.selector.bogus"),
    "in an atomic list": (
        Kind("rbac.authorization.k8s.io", "v1", "Role"),
        {"rules": [{"verbs": ["get"], "bogus": 1}]},
        ".rules[0].bogus",
    ),
    "in a custom resource": (Kind("", "v1", "Widget"), {"spec": {"bogus": 1}}, ".spec.bogus"),
    "in the metadata of a custom resource": (Kind("", "v1", "Widget"), {"metadata": {"bogus": 1}}, ".metadata.bogus"),
    "in an atomic list of a custom resource": (Kind("", "v1", "Widget"), {"spec": {"list": [{"bogus": 1}]}}, ".spec.list[0].bogus"),
}


@pytest.mark.parametrize("name", UNKNOWN)
async def test_an_unknown_field_is_refused(name: str, cluster: ApiCluster, namespace: str) -> None:
    kind, part, path = UNKNOWN[name]
    if kind.kind == "Widget":
        kind = await widgets(cluster, namespace)
    metadata = {"name": "a", "namespace": namespace} | part.get("metadata", {})
    manifest = {"apiVersion": kind.api_version, "kind": kind.kind, **part, "metadata": metadata}
    error = await raised(lambda: until_served(cluster, kind, manifest))
    assert isinstance(error, Invalid)
    assert f"{path}: field not declared in schema" in str(error)


async def widgets(cluster: ApiCluster, namespace: str) -> Kind:
    """A kind of our own, in a group of the namespace's name."""
    group = f"{namespace}.example.com"
    item = {"type": "object", "properties": {"a": {"type": "string"}}}
    spec = {"type": "object", "properties": {"size": {"type": "integer"}, "list": {"type": "array", "items": item}}}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"widgets.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": "Widget", "plural": "widgets"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }
    await cluster.apply(await cluster.resource(Kind.of(definition)), definition, manager="m")
    kind = Kind(group, "v1", "Widget")
    await cluster.await_established([kind])
    return kind


async def until_served(cluster: ApiCluster, kind: Kind, manifest: Manifest) -> Manifest:
    """Applies, again for as long as the server has not begun to serve a new kind everywhere."""
    resource = await cluster.resource(kind)
    while True:
        try:
            return await cluster.apply(resource, manifest, manager="m")
        except UnknownKind:
            await asyncio.sleep(0.05)
