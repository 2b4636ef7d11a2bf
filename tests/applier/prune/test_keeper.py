"""The record during a run: what is asked for and written, who else may write it, and which parents are refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from applier.cluster import Resource
from applier.errors import WriteConflict
from applier.prune import ApplySetError
from applier.prune.applyset import GROUP_KINDS, GROUP_RESOURCES, ID, PARENT_TYPE, TOOLING, ApplySetScope
from applier.prune.keeper import Keeper
from applier.ref import DEFINITION, Kind, Manifest
from applier.testing.memory import MemoryCluster

from .sets import SECRET, account, annotation, applyset, config, run

SHOP = Kind("example.org", "v1", "Shop")
CONFIG_MAPS = ApplySetScope(frozenset({("", "ConfigMap")}), frozenset({"default"}))
ACCOUNTS = ApplySetScope(frozenset({("", "ServiceAccount")}), frozenset({"default"}))


@pytest.fixture
def cluster() -> MemoryCluster:
    return MemoryCluster()


def definition(**metadata: Any) -> Manifest:
    spec = {
        "group": SHOP.group,
        "scope": "Cluster",
        "names": {"kind": "Shop", "plural": "shops"},
        "versions": [{"name": "v1", "served": True}],
    }
    return {"apiVersion": f"{DEFINITION[0]}/v1", "kind": DEFINITION[1], "metadata": {"name": "shops.example.org", **metadata}, "spec": spec}


def recorded(kind: Kind = SECRET, *, namespace: str = "default", annotations: Mapping[str, str] | None = None) -> Manifest:
    """A parent with a record."""
    of = applyset(kind=kind, namespace=namespace)
    metadata = {"name": "shop", "labels": {ID: of.id}, "annotations": {TOOLING: "grove/0.1", **(annotations or {})}}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata | ({"namespace": namespace} if namespace else {})}


def other_run(cluster: MemoryCluster, *, times: int = 1) -> None:
    """Lets this many writes of the record meet that it has moved on."""
    cluster.fail("apply", WriteConflict(409, "Conflict", "has moved on"), times=times)


@pytest.mark.parametrize(
    ("kind", "namespace", "said"),
    [
        (SECRET, "", "Secret/shop cannot be the parent of an ApplySet: a Secret needs a namespace"),
        (SHOP, "default", r"Shop\.example\.org/default/shop cannot be the parent of an ApplySet: a Shop has no namespace"),
    ],
)
async def test_a_parent_has_a_namespace_as_its_kind_has(cluster: MemoryCluster, kind: Kind, namespace: str, said: str) -> None:
    cluster.seed(definition())
    with pytest.raises(ApplySetError, match=f"^{said}$"):
        await Keeper.open(applyset(kind=kind, namespace=namespace), cluster)


@pytest.mark.parametrize("metadata", [{}, {"labels": {}}, {"labels": {PARENT_TYPE: "false"}}, None])
async def test_a_kind_whose_definition_does_not_allow_it_has_no_parents(cluster: MemoryCluster, metadata: dict[str, Any] | None) -> None:
    cluster.serve(Resource(SHOP, "shops", namespaced=False))
    if metadata is not None:
        cluster.seed(definition(**metadata))
    cluster.seed(recorded(SHOP, namespace="", annotations={GROUP_KINDS: ""}))
    with pytest.raises(
        ApplySetError, match=r"^a Shop\.example\.org cannot be the parent of an ApplySet: only a ConfigMap, a Secret, or a kind whose"
    ):
        await Keeper.open(applyset(kind=SHOP, namespace=""), cluster)


async def test_a_kind_whose_definition_allows_it_has_parents(cluster: MemoryCluster) -> None:
    cluster.seed(definition(labels={PARENT_TYPE: "true"}), recorded(SHOP, namespace="", annotations={GROUP_KINDS: "ConfigMap"}))
    keeper = await Keeper.open(applyset(kind=SHOP, namespace=""), cluster)
    assert keeper.before == ApplySetScope(CONFIG_MAPS.kinds, frozenset())


async def test_an_old_record_of_resources_is_one_of_their_kinds(cluster: MemoryCluster) -> None:
    cluster.seed(recorded(annotations={GROUP_RESOURCES: "configmaps,deployments.apps"}))
    keeper = await Keeper.open(applyset(), cluster)
    assert keeper.before == ApplySetScope(frozenset({("", "ConfigMap"), ("apps", "Deployment")}), frozenset({"default"}))


async def test_an_old_record_of_resources_that_nobody_serves_is_refused(cluster: MemoryCluster) -> None:
    cluster.seed(recorded(annotations={GROUP_RESOURCES: "configmaps,widgets.example.org,gadgets.example.org"}))
    said = r"names resources that the server does not serve: gadgets\.example\.org, widgets\.example\.org$"
    with pytest.raises(ApplySetError, match=said):
        await Keeper.open(applyset(), cluster)


async def test_an_old_record_is_rewritten_although_its_kinds_are_right(cluster: MemoryCluster) -> None:
    cluster.seed(recorded(annotations={GROUP_RESOURCES: "configmaps"}))
    keeper = await Keeper.open(applyset(), cluster)
    await keeper.widen(CONFIG_MAPS)
    assert annotation(cluster, "contains-group-kinds") == "ConfigMap"


async def test_a_record_that_names_enough_is_not_written(cluster: MemoryCluster) -> None:
    await run(cluster, config("a", "kube-system"))
    keeper = await Keeper.open(applyset(), cluster)
    cluster.forget_requests()
    await keeper.widen(ApplySetScope(CONFIG_MAPS.kinds, frozenset({"kube-system"})))
    assert await keeper.narrow(ApplySetScope(CONFIG_MAPS.kinds, frozenset({"kube-system"})))
    assert cluster.log == []


async def test_a_record_that_another_run_wrote_is_read_again_and_widened(cluster: MemoryCluster) -> None:
    await run(cluster, config("a"))
    keeper = await Keeper.open(applyset(), cluster)
    other = await Keeper.open(applyset(), cluster)
    await other.widen(ApplySetScope(frozenset({("", "Secret")})))
    await keeper.widen(ACCOUNTS)
    assert annotation(cluster, "contains-group-kinds") == "ConfigMap,Secret,ServiceAccount"
    assert ("", "Secret") in keeper.before.kinds


async def test_a_record_that_another_run_wrote_is_not_narrowed(cluster: MemoryCluster) -> None:
    await run(cluster, config("a"), account("b"))
    keeper = await Keeper.open(applyset(), cluster)
    other = await Keeper.open(applyset(), cluster)
    await other.widen(ApplySetScope(frozenset({("", "Secret")})))
    assert not await keeper.narrow(CONFIG_MAPS)
    assert annotation(cluster, "contains-group-kinds") == "ConfigMap,Secret,ServiceAccount"


async def test_whoever_narrows_the_record_is_told_that_it_is_true(cluster: MemoryCluster) -> None:
    await run(cluster, config("a"), account("b"))
    keeper = await Keeper.open(applyset(), cluster)
    assert await keeper.narrow(CONFIG_MAPS)
    assert annotation(cluster, "contains-group-kinds") == "ConfigMap"


@pytest.mark.parametrize(("times", "written"), [(5, True), (6, False)])
async def test_a_record_that_others_write_is_tried_six_times(cluster: MemoryCluster, times: int, written: bool) -> None:
    keeper = await Keeper.open(applyset(), cluster)
    other_run(cluster, times=times)
    if written:
        await keeper.widen(CONFIG_MAPS)
    else:
        with pytest.raises(ApplySetError, match=r"^Secret/default/shop is constantly written by another client: is another run"):
            await keeper.widen(CONFIG_MAPS)
    assert (annotation(cluster, "contains-group-kinds") == "ConfigMap") is written
