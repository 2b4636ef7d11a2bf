"""Namespaces of plain manifests, and what a compilation reads of a cluster."""

from __future__ import annotations

import pytest

from applier.cluster import Listing, Resource
from applier.errors import Forbidden, UnknownKind
from applier.ref import Kind, Manifest
from grove_cli.cluster.placement import OtherNamespace, in_namespace
from grove_compiler.source.document import Document
from grove_operator.cluster.classify import Item
from grove_operator.cluster.snapshot import DRIVER, read_snapshot

from .manifests import obj

NAMESPACED = ("ConfigMap", "Pod", "PodClique", "ComputeDomain")
CLUSTER_WIDE = ("Namespace", "ClusterTopology")


class Server:
    """Serves some kinds, in any version but `v9`; lists what it is given. `closed` are kinds that may not be read."""

    def __init__(self, *kinds: str, objects: tuple[Manifest, ...] = (), closed: tuple[str, ...] = ()) -> None:
        self.kinds, self.objects, self.closed = kinds, objects, closed
        self.listed: list[tuple[str, str]] = []

    async def resource(self, kind: Kind) -> Resource:
        if kind.kind not in self.kinds or kind.version == "v9":
            raise UnknownKind(f"no {kind.kind}")
        return Resource(kind, f"{kind.kind.lower()}s", kind.kind not in CLUSTER_WIDE)

    async def list(self, resource: Resource, namespace: str = "") -> Listing:
        self.listed.append((resource.kind.kind, namespace))
        if resource.kind.kind in self.closed:
            raise Forbidden(403, "Forbidden", "may not")
        return Listing([one for one in self.objects if one["kind"] == resource.kind.kind], "1")


async def placed(*manifests: Manifest, only: bool = False, namespace: str = "team") -> list[str | None]:
    items = [Item(manifest, Document(manifest, "x.yaml")) for manifest in manifests]
    found = await in_namespace(Server(*NAMESPACED, *CLUSTER_WIDE), items, namespace, only=only)  # type: ignore[arg-type]
    return [item.manifest["metadata"].get("namespace") for item in found]


async def test_a_manifest_without_a_namespace_gets_one() -> None:
    assert await placed(obj("ConfigMap", "x", "")) == ["team"]


async def test_a_manifest_keeps_its_own() -> None:
    assert await placed(obj("ConfigMap", "x", "shop")) == ["shop"]


async def test_what_stands_in_no_namespace_has_none() -> None:
    assert await placed(obj("Namespace", "x", ""), obj("Namespace", "y", "shop")) == [None, None]


async def test_another_namespace_than_the_one_asked_for_is_refused() -> None:
    with pytest.raises(OtherNamespace, match=r"x\.yaml:1: ConfigMap 'x' is of the namespace 'shop', and -n asks for 'team'"):
        await placed(obj("ConfigMap", "x", "shop"), only=True)


async def test_given_manifests_are_not_changed() -> None:
    manifest = obj("ConfigMap", "x", "")
    await placed(manifest)
    assert "namespace" not in manifest["metadata"]


@pytest.mark.parametrize(("scope", "namespace"), [("Namespaced", "team"), ("Cluster", None)])
async def test_a_definition_beside_it_says_whether_a_new_kind_stands_in_namespaces(scope: str, namespace: str | None) -> None:
    spec = {"group": "example.com", "names": {"kind": "Fleet"}, "scope": scope}
    definition = obj("CustomResourceDefinition", "fleets", "", api="apiextensions.k8s.io/v1", spec=spec)
    items = [Item(manifest, Document(manifest)) for manifest in (obj("Fleet", "x", "", api="example.com/v1"), definition)]
    found = await in_namespace(Server("CustomResourceDefinition"), items, "team", only=False)  # type: ignore[arg-type]
    assert found[0].manifest["metadata"].get("namespace") == namespace


async def test_a_kind_that_nobody_knows_is_left_as_it_is_for_whoever_names_all_of_them() -> None:
    assert await placed(obj("Fleet", "x", ""), obj("Fleet", "y", "shop"), only=True) == [None, "shop"]


async def test_a_snapshot_has_what_is_served_of_each_namespace() -> None:
    server = Server(*NAMESPACED, *CLUSTER_WIDE, objects=(obj("PodClique", "x"),))
    read = await read_snapshot(server, ["b", "a", "b"])  # type: ignore[arg-type]
    assert read == ([DRIVER, obj("PodClique", "x"), obj("PodClique", "x")], {})
    assert ("PodClique", "a") in server.listed
    assert ("ClusterTopology", "") in server.listed
    assert ("PodGang", "a") not in server.listed


@pytest.mark.parametrize("kind", ["ClusterTopology", "PodClique"])
async def test_a_snapshot_tells_what_may_not_be_read(kind: str) -> None:
    read = await read_snapshot(Server(kind, closed=(kind,)), ["a"])  # type: ignore[arg-type]
    assert (read.objects, [resource.kind.kind for resource in read.unread]) == ([], [kind])


async def test_sets_that_may_not_be_read_are_an_error() -> None:
    with pytest.raises(Forbidden):
        await read_snapshot(Server("PodCliqueSet", closed=("PodCliqueSet",)), ["a"])  # type: ignore[arg-type]
