"""Lists, in pages."""

from __future__ import annotations

from typing import Any

from applier.transport import ApiCluster

from .scripted import CONFIG_MAPS, Answer, Scripted, raised, status

PATH = "/api/v1/namespaces/ns/configmaps"


def page(*names: str, more: str = "", version: str = "7") -> Answer:
    metadata: dict[str, Any] = {"resourceVersion": version} | ({"continue": more} if more else {})
    return Answer(
        200, {"kind": "ConfigMapList", "apiVersion": "v1", "metadata": metadata, "items": [{"metadata": {"name": n}} for n in names]}
    )


def names(items: list[dict[str, Any]]) -> list[str]:
    return [item["metadata"]["name"] for item in items]


async def test_pages_are_joined_in_order(server: Scripted, cluster: ApiCluster) -> None:
    server.on("GET", PATH, page("a", "b", more="next"), page("c"))
    assert names((await cluster.list(CONFIG_MAPS, "ns")).items) == ["a", "b", "c"]


async def test_the_next_page_is_asked_for_by_its_token(server: Scripted, cluster: ApiCluster) -> None:
    server.on("GET", PATH, page("a", more="next/1"), page("b"))
    await cluster.list(CONFIG_MAPS, "ns", labels="app in (a, b)", fields="metadata.name=a")
    chosen = {"labelSelector": "app in (a, b)", "fieldSelector": "metadata.name=a", "limit": "1000"}
    assert [one.query for one in server.heard] == [chosen, chosen | {"continue": "next/1"}]


async def test_a_listing_says_where_in_history_it_was_read(server: Scripted, cluster: ApiCluster) -> None:
    server.on("GET", PATH, page("a", version="42"))
    assert (await cluster.list(CONFIG_MAPS, "ns")).resource_version == "42"


async def test_items_carry_their_kind(server: Scripted, cluster: ApiCluster) -> None:
    server.on("GET", PATH, page("a"))
    [item] = (await cluster.list(CONFIG_MAPS, "ns")).items
    assert (item["apiVersion"], item["kind"]) == ("v1", "ConfigMap")


async def test_a_list_without_items_is_empty(server: Scripted, cluster: ApiCluster) -> None:
    server.on("GET", PATH, Answer(200, {"metadata": {"resourceVersion": "1"}, "items": None}))
    assert (await cluster.list(CONFIG_MAPS, "ns")).items == []


async def test_all_namespaces_are_one_list(server: Scripted, cluster: ApiCluster) -> None:
    server.on("GET", "/api/v1/configmaps", page("a"))
    assert len((await cluster.list(CONFIG_MAPS)).items) == 1


async def test_pages_that_are_too_old_to_go_on_are_read_again_in_one_piece(server: Scripted, cluster: ApiCluster) -> None:
    server.on("GET", PATH, page("a", more="next"), status(410, "Expired", "too old"), page("a", "b", "c"))
    assert names((await cluster.list(CONFIG_MAPS, "ns")).items) == ["a", "b", "c"]
    assert server.heard[-1].query == {}


async def test_a_list_that_is_too_old_from_the_start_is_an_error(server: Scripted, cluster: ApiCluster) -> None:
    server.on("GET", PATH, status(410, "Expired", "too old"))
    await raised(lambda: cluster.list(CONFIG_MAPS, "ns"))
    assert len(server.heard) == 1
