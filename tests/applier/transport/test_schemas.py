"""Schemas: which documents are fetched, and what the disk spares."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from applier.decision import Schemas
from applier.errors import Unreachable
from applier.ref import Kind
from applier.transport import ApiCluster
from tests.connecting import connect_to

from .scripted import HASTY, RESET, Answer, Scripted, raised, status

CONFIG_MAP = Kind("", "v1", "ConfigMap")
DEPLOYMENT = Kind("apps", "v1", "Deployment")


def document(kind: Kind) -> Answer:
    """An OpenAPI v3 document with one kind."""
    names = [{"group": kind.group, "version": kind.version, "kind": kind.kind}]
    data = {"type": "object", "additionalProperties": {"type": "string"}}
    model = {"type": "object", "properties": {"data": data}, "x-kubernetes-group-version-kind": names}
    return Answer(200, {"openapi": "3.0.0", "components": {"schemas": {f"io.example.{kind.kind}": model}}})


def index(**hashes: str) -> Answer:
    """`api_v1="1"` stands for the document of the core with the hash 1."""
    named = {name.replace("_", "/"): value for name, value in hashes.items()}
    return Answer(200, {"paths": {name: {"serverRelativeURL": f"/openapi/v3/{name}?hash={value}"} for name, value in named.items()}})


@pytest.fixture
def publishing(server: Scripted) -> Scripted:
    server.on("GET", "/openapi/v3", index(api_v1="1", apis_apps_v1="1"))
    server.on("GET", "/openapi/v3/api/v1", document(CONFIG_MAP))
    server.on("GET", "/openapi/v3/apis/apps/v1", document(DEPLOYMENT))
    return server


def known(schemas: Schemas, *kinds: Kind) -> list[bool]:
    return [schemas.get(kind) is not None for kind in kinds]


async def test_only_the_documents_of_the_asked_kinds_are_fetched(publishing: Scripted, cluster: ApiCluster) -> None:
    assert known(await cluster.schemas([CONFIG_MAP]), CONFIG_MAP, DEPLOYMENT) == [True, False]
    assert [heard.path for heard in publishing.heard] == ["/openapi/v3", "/openapi/v3/api/v1"]


async def test_documents_are_fetched_by_their_hash(publishing: Scripted, cluster: ApiCluster) -> None:
    await cluster.schemas([DEPLOYMENT])
    assert publishing.heard[-1].query == {"hash": "1"}


async def test_schemas_of_several_versions_are_one(publishing: Scripted, cluster: ApiCluster) -> None:
    assert known(await cluster.schemas([CONFIG_MAP, DEPLOYMENT]), CONFIG_MAP, DEPLOYMENT) == [True, True]


async def test_no_kinds_need_no_requests(publishing: Scripted, cluster: ApiCluster) -> None:
    await cluster.schemas([])
    assert publishing.heard == []


async def test_a_kind_that_nobody_publishes_is_missing(publishing: Scripted, cluster: ApiCluster) -> None:
    assert known(await cluster.schemas([Kind("example.com", "v1", "Widget")]), Kind("example.com", "v1", "Widget")) == [False]


MISSING: dict[str, Answer] = {
    "forbidden": status(403, "Forbidden", 'forbidden: User "bob" cannot get path "/openapi/v3"'),
    "not served": Answer(404, "404 page not found"),
    "no index": Answer(200, "{}"),
    "no JSON": Answer(200, "<html>"),
}


@pytest.mark.parametrize("answer", MISSING.values(), ids=MISSING)
async def test_without_an_index_every_kind_is_missing(answer: Answer, server: Scripted, cluster: ApiCluster) -> None:
    server.on("GET", "/openapi/v3", answer)
    assert known(await cluster.schemas([CONFIG_MAP]), CONFIG_MAP) == [False]


FAILING: dict[str, Answer] = {
    "a document that is another one by now": Answer(301, "", {"Location": "/openapi/v3/api/v1?hash=2"}),
    "a document that is no JSON": Answer(200, "<html>"),
    "a server that fails": status(500, "InternalError", "boom"),
}


@pytest.mark.parametrize("answer", FAILING.values(), ids=FAILING)
async def test_a_document_that_cannot_be_had_is_asked_for_again_next_time(answer: Answer, server: Scripted, cluster: ApiCluster) -> None:
    server.on("GET", "/openapi/v3", index(api_v1="1"))
    server.on("GET", "/openapi/v3/api/v1", *[answer] * (4 if answer.status == 500 else 1), document(CONFIG_MAP))
    assert known(await cluster.schemas([CONFIG_MAP]), CONFIG_MAP) == [False]
    assert known(await cluster.schemas([CONFIG_MAP]), CONFIG_MAP) == [True]


async def test_a_server_that_is_away_is_an_error(server: Scripted, cluster: ApiCluster) -> None:
    server.on("GET", "/openapi/v3", RESET)
    assert isinstance(await raised(lambda: cluster.schemas([CONFIG_MAP])), Unreachable)


async def test_what_was_compiled_is_kept_in_memory(publishing: Scripted, cluster: ApiCluster) -> None:
    for _ in range(3):
        await cluster.schemas([CONFIG_MAP])
    assert len(publishing.asked(path="/openapi/v3/api/v1")) == 1


async def test_a_document_with_another_hash_is_fetched(server: Scripted, cluster: ApiCluster) -> None:
    server.on("GET", "/openapi/v3", index(api_v1="1"), index(api_v1="2"))
    server.on("GET", "/openapi/v3/api/v1", document(CONFIG_MAP))
    for _ in range(2):
        await cluster.schemas([CONFIG_MAP])
    assert [heard.query for heard in server.asked(path="/openapi/v3/api/v1")] == [{"hash": "1"}, {"hash": "2"}]


async def again(server: Scripted, folder: Path, *kinds: Kind) -> tuple[list[bool], list[str]]:
    """What a new run knows of kinds, and which documents it asks for."""
    before = len(server.heard)
    async with connect_to(server.url, cache_dir=folder, retries=HASTY) as cluster:
        return known(await cluster.schemas(kinds), *kinds), [heard.path for heard in server.heard[before:]]


async def test_the_disk_spares_the_next_run_all_requests(publishing: Scripted, tmp_path: Path) -> None:
    await again(publishing, tmp_path, CONFIG_MAP, DEPLOYMENT)
    assert await again(publishing, tmp_path, CONFIG_MAP, DEPLOYMENT) == ([True, True], [])


async def test_a_new_group_on_the_server_is_seen_at_once(server: Scripted, tmp_path: Path) -> None:
    server.on("GET", "/openapi/v3", index(api_v1="1"), index(api_v1="1", apis_apps_v1="1"))
    server.on("GET", "/openapi/v3/api/v1", document(CONFIG_MAP))
    server.on("GET", "/openapi/v3/apis/apps/v1", document(DEPLOYMENT))
    await again(server, tmp_path, CONFIG_MAP)
    assert (await again(server, tmp_path, CONFIG_MAP, DEPLOYMENT))[0] == [True, True]


async def test_another_hash_makes_the_disk_void(server: Scripted, tmp_path: Path) -> None:
    server.on("GET", "/openapi/v3", index(api_v1="1"), index(api_v1="2"))
    server.on("GET", "/openapi/v3/api/v1", document(CONFIG_MAP))
    await again(server, tmp_path, CONFIG_MAP)
    [kept] = tmp_path.glob("*/openapi.json")
    kept.unlink()
    assert await again(server, tmp_path, CONFIG_MAP) == ([True], ["/openapi/v3", "/openapi/v3/api/v1"])


@pytest.mark.parametrize("damage", [b"", b"nonsense", b"\x00\xff"])
async def test_a_damaged_file_is_fetched_again(damage: bytes, publishing: Scripted, tmp_path: Path) -> None:
    await again(publishing, tmp_path, CONFIG_MAP)
    for kept in tmp_path.glob("*/schemas-*"):
        kept.write_bytes(kept.read_bytes().partition(b"\n")[0] + b"\n" + damage)
    assert await again(publishing, tmp_path, CONFIG_MAP) == ([True], ["/openapi/v3/api/v1"])


async def test_without_a_hash_nothing_is_kept(server: Scripted, tmp_path: Path) -> None:
    paths: dict[str, Any] = {"api/v1": {"serverRelativeURL": "/openapi/v3/api/v1"}}
    server.on("GET", "/openapi/v3", Answer(200, {"paths": paths}))
    server.on("GET", "/openapi/v3/api/v1", document(CONFIG_MAP))
    await again(server, tmp_path, CONFIG_MAP)
    assert not list(tmp_path.glob("*/schemas-*"))
