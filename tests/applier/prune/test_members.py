"""Where members are looked for, with how many lists, and what happens when a list cannot be had."""

from __future__ import annotations

from typing import Any

import pytest

from applier.cluster import Resource
from applier.errors import Forbidden, ServerFailure, UnknownKind
from applier.plan.membership import PART_OF
from applier.prune import ApplySetError
from applier.prune.applyset import ApplySetScope
from applier.prune.members import API_SERVICE, find_members, orphans
from applier.ref import Manifest, Ref
from applier.testing.memory import MemoryCluster

from .sets import account, annotation, applyset, cluster_role, config, run, selectors_of_lists

SPACES = ("a", "b", "c", "d", "e")
LABEL = {PART_OF: applyset().id}


@pytest.fixture
def cluster() -> MemoryCluster:
    cluster = MemoryCluster(namespaces=("default", *SPACES, "elsewhere"))
    cluster.serve(Resource(API_SERVICE, "apiservices", namespaced=False))
    return cluster


def scope(*kinds: str, namespaces: tuple[str, ...] = ("default",)) -> ApplySetScope:
    return ApplySetScope(frozenset(("", kind) for kind in kinds), frozenset(namespaces))


def lists(cluster: MemoryCluster) -> list[str]:
    return [f"{request.resource.plural} {request.namespace}".strip() for request in cluster.log if request.verb == "list"]


async def test_an_empty_record_needs_no_request(cluster: MemoryCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(MemoryCluster, "resources")  # discovery is not in the log
    assert (await find_members(applyset(), ApplySetScope(), cluster)).objects == []
    assert cluster.log == []


async def test_in_few_namespaces_each_is_listed(cluster: MemoryCluster) -> None:
    await find_members(applyset(), scope("ConfigMap", namespaces=("c", "a", "b")), cluster)
    assert lists(cluster) == ["configmaps a", "configmaps b", "configmaps c"]


async def test_only_what_has_the_label_is_listed(cluster: MemoryCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = selectors_of_lists(cluster, monkeypatch)
    await find_members(applyset(), scope("ConfigMap"), cluster)
    assert asked == [applyset().selector]


async def test_a_server_that_serves_every_kind_is_asked_for_nothing_anew(cluster: MemoryCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(MemoryCluster, "resource")
    assert (await find_members(applyset(), scope("ConfigMap", "Secret"), cluster)).unserved == frozenset()


async def test_in_many_namespaces_one_list_is_enough(cluster: MemoryCluster) -> None:
    cluster.seed(*(config(space, space, labels=LABEL) for space in (*SPACES, "elsewhere")))
    found = await find_members(applyset(), scope("ConfigMap", namespaces=SPACES), cluster)
    assert lists(cluster) == ["configmaps"]
    assert sorted(one["metadata"]["name"] for one in found.objects) == list(SPACES)


async def test_a_role_in_each_namespace_is_enough(cluster: MemoryCluster) -> None:
    cluster.seed(*(config(space, space, labels=LABEL) for space in SPACES))
    cluster.fail(lambda request: request.verb == "list" and not request.namespace, Forbidden(403, "Forbidden", "no"), times=-1)
    found = await find_members(applyset(), scope("ConfigMap", namespaces=SPACES), cluster)
    assert len(found.objects) == len(SPACES)


async def test_kinds_without_namespaces_are_listed_once(cluster: MemoryCluster) -> None:
    cluster.seed({**cluster_role("r"), "metadata": {"name": "r", "labels": LABEL}})
    roles = ApplySetScope(frozenset({("rbac.authorization.k8s.io", "ClusterRole")}), frozenset(SPACES))
    assert len((await find_members(applyset(), roles, cluster)).objects) == 1
    assert lists(cluster) == ["clusterroles"]


async def test_all_lists_that_cannot_be_had_are_named(cluster: MemoryCluster) -> None:
    for plural in ("configmaps", "serviceaccounts"):
        refusal = Forbidden(403, "Forbidden", f"may not list {plural}")
        cluster.fail(lambda request, plural=plural: request.resource.plural == plural, refusal, times=-1)  # type: ignore[misc]
    with pytest.raises(ApplySetError, match="may not list configmaps; may not list serviceaccounts"):
        await find_members(applyset(), scope("ConfigMap", "ServiceAccount"), cluster)


async def test_what_is_no_refusal_is_not_hidden(cluster: MemoryCluster) -> None:
    cluster.fail("list", ZeroDivisionError("a fault of ours"))
    with pytest.raises(ZeroDivisionError):
        await find_members(applyset(), scope("ConfigMap"), cluster)


WIDGETS = ApplySetScope(frozenset({("example.org", "Widget")}), frozenset({"default"}))


def api_service(group: str, *, server: bool, available: str = "True", **others: str) -> Manifest:
    spec: dict[str, Any] = {"group": group, "version": "v1", "service": {"name": "s"} if server else None}
    conditions = [{"type": name, "status": status} for name, status in {"Available": available, **others}.items()]
    return {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": f"v1.{group}"},
        "spec": spec,
        "status": {"conditions": conditions},
    }


@pytest.mark.parametrize(
    ("service", "comes_back"),
    [
        (None, False),
        (api_service("example.org", server=False), False),
        (api_service("example.org", server=True), False),
        (api_service("example.org", server=True, available="False"), True),
        (api_service("example.org", server=True, available="False", Synced="True"), True),
        (api_service("example.org", server=True, Synced="False"), False),
        ({**api_service("example.org", server=True), "status": {}}, True),
        ({**api_service("example.org", server=True), "status": None}, True),
        (api_service("example.org", server=False, available="False"), False),
        (api_service("other.org", server=True, available="False"), False),
    ],
    ids=[
        "no definition",
        "served by definitions",
        "served by a server",
        "server is away",
        "away with another condition",
        "there with another condition",
        "no conditions yet",
        "no status yet",
        "no server to be away",
        "another server is away",
    ],
)
async def test_a_kind_that_is_not_served_is_gone_unless_its_server_is_away(
    cluster: MemoryCluster, service: Manifest | None, comes_back: bool
) -> None:
    cluster.seed(*([service] if service else []))
    found = await find_members(applyset(), WIDGETS, cluster)
    assert found.unserved == (WIDGETS.kinds if comes_back else frozenset())


@pytest.mark.parametrize("error", [Forbidden(403, "Forbidden", "no"), UnknownKind("none")])
async def test_when_it_cannot_be_found_out_a_kind_may_come_back(cluster: MemoryCluster, error: Exception) -> None:
    cluster.fail(lambda request: request.resource.plural == "apiservices", error, times=-1)
    assert (await find_members(applyset(), WIDGETS, cluster)).unserved == WIDGETS.kinds


async def test_a_server_that_fails_is_not_taken_for_one_without_the_kind(cluster: MemoryCluster) -> None:
    cluster.fail("list", ServerFailure(500, "InternalError", "no"), times=-1)
    with pytest.raises(ServerFailure):
        await find_members(applyset(), WIDGETS, cluster)


async def test_the_record_keeps_a_kind_whose_server_is_away(cluster: MemoryCluster) -> None:
    await run(cluster, config("a"))
    cluster.seed(api_service("example.org", server=True, available="False"))
    resource = await cluster.resource(applyset().kind)
    annotations = {"applyset.kubernetes.io/contains-group-kinds": "ConfigMap,Gone.gone.org,Widget.example.org"}
    await cluster.patch(resource, "default", "shop", {"metadata": {"annotations": annotations}})
    await run(cluster, account("b"))
    assert annotation(cluster, "contains-group-kinds") == "ServiceAccount,Widget.example.org"


class Forgetful(MemoryCluster):
    """Knows what it serves from a file that is old, until it is asked for what is served now."""

    async def resources(self, *, fresh: bool = False) -> list[Resource]:
        return [one for one in await super().resources() if fresh or one.plural != "configmaps"]


async def test_a_kind_that_an_old_discovery_does_not_know_is_found() -> None:
    cluster = Forgetful()
    cluster.seed(config("a", labels=LABEL))
    assert len((await find_members(applyset(), scope("ConfigMap"), cluster)).objects) == 1


def test_orphans_are_the_members_that_are_neither_wanted_nor_the_record() -> None:
    wanted, parent = [Ref("", "ConfigMap", "default", "a")], Ref("", "ConfigMap", "default", "c")
    assert [one["metadata"]["name"] for one in orphans([config(name) for name in "abc"], parent, wanted)] == ["b"]
