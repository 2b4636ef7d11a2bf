"""Deletion in a cluster in memory: preconditions, finalizers, what is owned, namespaces."""

from __future__ import annotations

import pytest

from applier.errors import Forbidden, NotFound, WriteConflict
from applier.ref import Kind, Manifest, Ref
from applier.testing.memory import MemoryCluster

from .conftest import config_map, owned_by, served


def there(cluster: MemoryCluster) -> list[str]:
    return sorted(ref.name for ref in cluster.store.objects if ref.kind == "ConfigMap")


async def delete(cluster: MemoryCluster, manifest: Manifest, **options: str) -> None:
    ref = Ref.of(manifest)
    await cluster.delete(served(cluster, Kind.of(manifest)), ref.namespace, ref.name, **{"uid": manifest["metadata"]["uid"], **options})


async def test_a_deleted_object_is_gone(cluster: MemoryCluster) -> None:
    await delete(cluster, cluster.seed(config_map())[0])
    with pytest.raises(NotFound):
        await cluster.get(served(cluster), "default", "a")


async def test_another_object_of_the_name_is_not_deleted(cluster: MemoryCluster) -> None:
    made = cluster.seed(config_map())[0]
    with pytest.raises(WriteConflict, match="UID in precondition"):
        await delete(cluster, made, uid="another")
    assert there(cluster) == ["a"]


async def test_an_object_that_moved_on_is_not_deleted(cluster: MemoryCluster) -> None:
    made = cluster.seed(config_map())[0]
    cluster.seed(config_map(data={"k": "v"}))
    with pytest.raises(WriteConflict):
        await delete(cluster, made, resource_version=made["metadata"]["resourceVersion"])


async def test_a_dry_run_deletes_nothing(cluster: MemoryCluster) -> None:
    made = cluster.seed(config_map())[0]
    await cluster.delete(served(cluster), "default", "a", uid=made["metadata"]["uid"], dry_run=True)
    assert there(cluster) == ["a"]


async def test_an_object_with_finalizers_stays_marked(cluster: MemoryCluster) -> None:
    await delete(cluster, cluster.seed(config_map(finalizers=["x/y"]))[0])
    assert "deletionTimestamp" in (await cluster.get(served(cluster), "default", "a"))["metadata"]


async def test_the_last_finalizer_lets_it_go(cluster: MemoryCluster) -> None:
    await delete(cluster, cluster.seed(config_map(finalizers=["x/y"]))[0])
    await cluster.patch(served(cluster), "default", "a", {"metadata": {"finalizers": None}})
    assert there(cluster) == []


async def test_what_is_owned_follows_its_owner(cluster: MemoryCluster) -> None:
    owner = cluster.seed(config_map("owner"))[0]
    owned = cluster.seed(config_map("owned", ownerReferences=owned_by(owner)))[0]
    cluster.seed(config_map("below", ownerReferences=owned_by(owned)), config_map("other"))
    await delete(cluster, owner)
    assert there(cluster) == ["other"]


async def test_an_orphan_stays_and_forgets_its_owner(cluster: MemoryCluster) -> None:
    owner = cluster.seed(config_map("owner"))[0]
    cluster.seed(config_map("owned", ownerReferences=owned_by(owner)))
    await delete(cluster, owner, propagation="Orphan")
    orphan = await cluster.get(served(cluster), "default", "owned")
    assert orphan["metadata"]["ownerReferences"] == []


async def test_an_owner_in_the_foreground_waits_for_what_it_owns(cluster: MemoryCluster) -> None:
    owner = cluster.seed(config_map("owner"))[0]
    cluster.seed(config_map("owned", ownerReferences=owned_by(owner, blocks=True), finalizers=["x/y"]))
    await delete(cluster, owner, propagation="Foreground")
    assert there(cluster) == ["owned", "owner"]
    await cluster.patch(served(cluster), "default", "owned", {"metadata": {"finalizers": None}})
    assert there(cluster) == []


async def test_what_has_another_owner_stays(cluster: MemoryCluster) -> None:
    owners = cluster.seed(config_map("one"), config_map("two"))
    cluster.seed(config_map("owned", ownerReferences=[*owned_by(owners[0]), *owned_by(owners[1])]))
    await delete(cluster, owners[0])
    assert there(cluster) == ["owned", "two"]


async def test_a_namespace_takes_its_objects_along(cluster: MemoryCluster) -> None:
    cluster.seed(config_map())
    await delete(cluster, await cluster.get(served(cluster, Kind("", "v1", "Namespace")), "", "default"))
    assert there(cluster) == []
    assert cluster.find(Ref("", "Namespace", "", "default")) is None


async def test_nothing_is_made_in_a_namespace_that_ends(cluster: MemoryCluster) -> None:
    cluster.seed(config_map(finalizers=["x/y"]))
    await delete(cluster, await cluster.get(served(cluster, Kind("", "v1", "Namespace")), "", "default"))
    with pytest.raises(Forbidden, match="being terminated"):
        await cluster.create(served(cluster), config_map("b"), manager="us")


async def test_what_names_owners_that_never_were_is_collected(cluster: MemoryCluster) -> None:
    stranger = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "uid": "nobody"}}
    cluster.seed(config_map("lost", ownerReferences=owned_by(stranger)))
    assert [ref.name for ref in cluster.garbage.collect("2026-01-01T00:00:00Z")] == ["lost"]
