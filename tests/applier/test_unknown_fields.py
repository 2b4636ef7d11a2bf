"""The real server refuses to apply fields that it does not know, without being asked to: which is why we do not ask."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from applier.errors import Invalid, UnknownKind
from applier.ref import Kind, Manifest
from applier.transport import ApiCluster

from .transport.scripted import raised
from .transport.test_real_server import DEFINITION, definition

pytestmark = pytest.mark.cluster

WORKLOAD = {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": []}}}
ITEM = {"type": "object", "properties": {"a": {"type": "string"}}}
SPEC = {"type": "object", "properties": {"size": {"type": "integer"}, "list": {"type": "array", "items": ITEM}}}
BUILT_IN: dict[str, tuple[Kind, Manifest, str]] = {
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
}
CUSTOM: dict[str, tuple[Manifest, str]] = {
    "in the spec": ({"spec": {"bogus": 1}}, ".spec.bogus"),
    "in the metadata": ({"metadata": {"bogus": 1}}, ".metadata.bogus"),
    "in an atomic list": ({"spec": {"list": [{"bogus": 1}]}}, ".spec.list[0].bogus"),
}


def manifest(kind: Kind, namespace: str, part: Manifest) -> Manifest:
    metadata = {"name": "a", "namespace": namespace} | part.get("metadata", {})
    return {"apiVersion": kind.api_version, "kind": kind.kind, **part, "metadata": metadata}


@pytest.mark.parametrize("name", BUILT_IN)
async def test_an_unknown_field_is_refused(name: str, cluster: ApiCluster, namespace: str) -> None:
    kind, part, path = BUILT_IN[name]
    resource = await cluster.resource(kind)
    error = await raised(lambda: cluster.apply(resource, manifest(kind, namespace, part), manager="m"))
    assert isinstance(error, Invalid)
    assert f"{path}: field not declared in schema" in str(error)


@pytest_asyncio.fixture
async def widget(cluster: ApiCluster, namespace: str) -> AsyncIterator[Kind]:
    """A kind of our own, in a group of the namespace's name."""
    kind = Kind(f"{namespace}.example.com", "v1", "Widget")
    described = definition(kind.group)
    described["spec"]["versions"][0]["schema"] = {"openAPIV3Schema": {"type": "object", "properties": {"spec": SPEC}}}
    definitions = await cluster.resource(DEFINITION)
    made = await cluster.apply(definitions, described, manager="m")
    await cluster.await_established([kind])
    yield kind
    await cluster.delete(definitions, "", made["metadata"]["name"], uid=made["metadata"]["uid"])


@pytest.mark.parametrize("name", CUSTOM)
async def test_an_unknown_field_of_a_custom_resource_is_refused(name: str, cluster: ApiCluster, namespace: str, widget: Kind) -> None:
    part, path = CUSTOM[name]
    error = await raised(lambda: applied_once_served(cluster, manifest(widget, namespace, part)))
    assert isinstance(error, Invalid)
    assert f"{path}: field not declared in schema" in str(error)


async def applied_once_served(cluster: ApiCluster, wanted: Manifest) -> Manifest:
    """Applies, again for as long as the server has not begun to serve a new kind everywhere."""
    resource = await cluster.resource(Kind.of(wanted))
    while True:
        try:
            return await cluster.apply(resource, wanted, manager="m")
        except UnknownKind:
            await asyncio.sleep(0.05)
