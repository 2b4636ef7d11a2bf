"""A cluster in memory stores what is written to it as a real one does."""

from __future__ import annotations

from typing import Any

import pytest

from applier.cluster import Cluster
from applier.errors import AlreadyExists, FieldConflict, Forbidden, Invalid, NotFound, UnknownKind, WriteConflict
from applier.ref import Kind, Manifest, Ref
from applier.testing.memory import MemoryCluster

from .conftest import DEPLOYMENT, config_map, deployment, served

A = Ref("", "ConfigMap", "default", "a")


async def apply(cluster: Cluster, manifest: Manifest, manager: str = "us", **options: Any) -> Manifest:
    return await cluster.apply(await cluster.resource(Kind.of(manifest)), manifest, manager=manager, **options)


async def test_what_is_applied_can_be_read(cluster: MemoryCluster) -> None:
    await apply(cluster, config_map(data={"k": "v"}))
    assert (await cluster.get(served(cluster), "default", "a"))["data"] == {"k": "v"}


async def test_each_object_gets_a_uid_of_its_own(cluster: MemoryCluster) -> None:
    made = [await apply(cluster, config_map(name)) for name in "ab"]
    assert len({one["metadata"]["uid"] for one in made}) == 2


async def test_the_same_requests_give_the_same_uids_and_versions() -> None:
    one, other = MemoryCluster(), MemoryCluster()
    assert await apply(one, config_map()) == await apply(other, config_map())


async def test_each_write_makes_a_later_version(cluster: MemoryCluster) -> None:
    first = await apply(cluster, config_map(data={"k": "1"}))
    second = await apply(cluster, config_map(data={"k": "2"}))
    assert int(second["metadata"]["resourceVersion"]) > int(first["metadata"]["resourceVersion"])


async def test_applying_the_same_again_writes_nothing(cluster: MemoryCluster) -> None:
    first = await apply(cluster, config_map(data={"k": "1"}))
    assert await apply(cluster, config_map(data={"k": "1"})) == first


async def test_a_dry_run_shows_the_result_and_stores_nothing(cluster: MemoryCluster) -> None:
    shown = await apply(cluster, config_map(data={"k": "1"}), dry_run=True)
    assert shown["data"] == {"k": "1"}
    assert cluster.find(A) is None


async def test_the_generation_counts_what_is_desired(cluster: MemoryCluster) -> None:
    await apply(cluster, deployment(replicas=1))
    assert (await apply(cluster, deployment(replicas=2)))["metadata"]["generation"] == 2


async def test_the_generation_does_not_count_labels(cluster: MemoryCluster) -> None:
    await apply(cluster, deployment(replicas=1))
    labelled = deployment(replicas=1)
    labelled["metadata"]["labels"] = {"x": "y"}
    assert (await apply(cluster, labelled))["metadata"]["generation"] == 1


async def test_a_field_that_is_no_longer_applied_goes_away(cluster: MemoryCluster) -> None:
    await apply(cluster, config_map(data={"k": "1", "l": "2"}))
    assert (await apply(cluster, config_map(data={"k": "1"})))["data"] == {"k": "1"}


async def test_a_field_that_others_apply_too_stays(cluster: MemoryCluster) -> None:
    await apply(cluster, config_map(data={"k": "1", "l": "2"}))
    await apply(cluster, config_map(data={"l": "2"}), "them")
    assert (await apply(cluster, config_map(data={"k": "1"})))["data"] == {"k": "1", "l": "2"}


async def test_two_managers_that_want_other_values_conflict(cluster: MemoryCluster) -> None:
    await apply(cluster, config_map(data={"k": "1"}), "them")
    with pytest.raises(FieldConflict) as raised:
        await apply(cluster, config_map(data={"k": "2"}))
    assert raised.value.causes[0][1:] == (".data.k", 'conflict with "them"')


async def test_force_takes_the_field(cluster: MemoryCluster) -> None:
    await apply(cluster, config_map(data={"k": "1"}), "them")
    await apply(cluster, config_map(data={"k": "2"}), force=True)
    with pytest.raises(FieldConflict, match='"us"'):
        await apply(cluster, config_map(data={"k": "1"}), "them")


async def test_a_patch_takes_what_it_changes(cluster: MemoryCluster) -> None:
    await apply(cluster, config_map(data={"k": "1", "l": "1"}))
    await cluster.patch(served(cluster), "default", "a", {"data": {"k": "2"}}, manager="editor")
    with pytest.raises(FieldConflict):
        await apply(cluster, config_map(data={"k": "1", "l": "1"}))


async def test_an_object_from_before_its_first_apply_belongs_to_whoever_was_there(cluster: MemoryCluster) -> None:
    cluster.seed(config_map(data={"k": "1"}))
    with pytest.raises(FieldConflict, match="before-first-apply"):
        await apply(cluster, config_map(data={"k": "2"}))


async def test_creating_twice_is_refused(cluster: MemoryCluster) -> None:
    await cluster.create(served(cluster), config_map(), manager="us")
    with pytest.raises(AlreadyExists):
        await cluster.create(served(cluster), config_map(), manager="us")


async def test_a_generated_name_is_made_on_creation(cluster: MemoryCluster) -> None:
    manifest = config_map(generateName="run-")
    del manifest["metadata"]["name"]
    made = await cluster.create(served(cluster), manifest, manager="us")
    assert made["metadata"]["name"].startswith("run-")


PATCHES: list[tuple[Any, dict[str, str]]] = [
    ({"data": {"k": None, "m": "3"}}, {"l": "2", "m": "3"}),
    ([{"op": "replace", "path": "/data/k", "value": "9"}], {"k": "9", "l": "2"}),
    ([{"op": "test", "path": "/data/k", "value": "1"}, {"op": "remove", "path": "/data/k"}], {"l": "2"}),
]


@pytest.mark.parametrize(("patch", "data"), PATCHES)
async def test_both_kinds_of_patches_are_understood(cluster: MemoryCluster, patch: Any, data: dict[str, str]) -> None:
    cluster.seed(config_map(data={"k": "1", "l": "2"}))
    assert (await cluster.patch(served(cluster), "default", "a", patch))["data"] == data


async def test_a_json_patch_whose_test_fails_is_refused(cluster: MemoryCluster) -> None:
    cluster.seed(config_map(data={"k": "1"}))
    with pytest.raises(Invalid):
        await cluster.patch(served(cluster), "default", "a", [{"op": "test", "path": "/data/k", "value": "2"}])


async def test_a_patch_of_an_old_version_is_refused(cluster: MemoryCluster) -> None:
    version = cluster.seed(config_map(data={"k": "1"}))[0]["metadata"]["resourceVersion"]
    await apply(cluster, config_map(data={"l": "1"}))
    with pytest.raises(WriteConflict):
        await cluster.patch(served(cluster), "default", "a", {"metadata": {"resourceVersion": version}, "data": {"k": "2"}})


async def test_the_status_is_written_by_its_subresource_only(cluster: MemoryCluster) -> None:
    await apply(cluster, {**deployment(replicas=1), "status": {"replicas": 7}})
    resource = served(cluster, DEPLOYMENT)
    patched = await cluster.patch(resource, "default", "a", {"spec": {"replicas": 5}, "status": {"replicas": 1}}, subresource="status")
    assert (patched["spec"], patched["status"]) == ({"replicas": 1}, {"replicas": 1})


async def test_a_write_of_the_object_leaves_its_status(cluster: MemoryCluster) -> None:
    cluster.seed({**deployment(replicas=1), "status": {"replicas": 1}})
    assert (await apply(cluster, deployment(replicas=2), force=True))["status"] == {"replicas": 1}


async def test_an_immutable_field_cannot_change(cluster: MemoryCluster) -> None:
    await apply(cluster, deployment(selector={"matchLabels": {"a": "1"}}))
    with pytest.raises(Invalid, match="field is immutable"):
        await apply(cluster, deployment(selector={"matchLabels": {"a": "2"}}))


async def test_an_immutable_config_map_keeps_its_data(cluster: MemoryCluster) -> None:
    await apply(cluster, {**config_map(data={"k": "1"}), "immutable": True})
    with pytest.raises(Invalid):
        await apply(cluster, {**config_map(data={"k": "2"}), "immutable": True})


async def test_nothing_is_made_in_a_namespace_that_is_not_there(cluster: MemoryCluster) -> None:
    with pytest.raises(NotFound, match="namespaces"):
        await apply(cluster, config_map(namespace="nowhere"))


async def test_a_kind_is_served_once_its_definition_is_there(cluster: MemoryCluster) -> None:
    kind = Kind("shop.example", "v1", "Order")
    with pytest.raises(UnknownKind):
        await cluster.resource(kind)
    names = {"kind": "Order", "plural": "orders"}
    spec = {"group": "shop.example", "scope": "Namespaced", "names": names, "versions": [{"name": "v1"}]}
    definition = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "orders.shop.example"}}
    await apply(cluster, {**definition, "spec": spec})
    assert (await cluster.resource(kind)).plural == "orders"


async def test_admission_can_refuse(cluster: MemoryCluster) -> None:
    def deny(manifest: Manifest) -> Manifest:
        raise Forbidden(403, "Forbidden", "not on my watch")

    cluster.admit = deny
    with pytest.raises(Forbidden):
        await apply(cluster, config_map())


async def test_what_is_read_can_be_changed_without_harm(cluster: MemoryCluster) -> None:
    made = await apply(cluster, config_map(data={"k": "1"}))
    made["data"]["k"] = "other"
    assert (await cluster.get(served(cluster), "default", "a"))["data"] == {"k": "1"}


async def test_lists_select_by_labels(cluster: MemoryCluster) -> None:
    cluster.seed(config_map("a", labels={"app": "x"}), config_map("b", labels={"app": "y"}), config_map("c"))
    listing = await cluster.list(served(cluster), labels="app in (x, y),app!=y")
    assert [item["metadata"]["name"] for item in listing.items] == ["a"]
