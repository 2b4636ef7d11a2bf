"""Which kinds a server serves."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from applier.cluster import Resource
from applier.errors import ClusterError, Forbidden, UnknownKind, Unreachable
from applier.ref import Kind
from applier.transport import ApiCluster
from applier.transport import discovery as module
from applier.transport.discovery import ServedResources
from tests.connecting import connect_to

from .scripted import HASTY, Answer, Scripted, raised, status

CONFIG_MAP = Kind("", "v1", "ConfigMap")
DEPLOYMENT = Kind("apps", "v1", "Deployment")
WIDGET = Kind("example.com", "v1", "Widget")
VERBS = ["get", "list", "patch", "watch"]


def row(plural: str, kind: str, *below: str, scope: str = "Namespaced") -> dict[str, Any]:
    subresources = [{"subresource": name, "responseKind": {}, "verbs": ["get"]} for name in below]
    return {"resource": plural, "responseKind": {"group": "", "version": "", "kind": kind}, "scope": scope, "verbs": VERBS} | (
        {"subresources": subresources} if subresources else {}
    )


def group(name: str, **versions: list[dict[str, Any]] | None) -> dict[str, Any]:
    """A group with the resources of each version; None stands for an API service that does not answer."""
    listed = [
        {"version": version, "resources": rows or [], "freshness": "Current" if rows is not None else "Stale"}
        for version, rows in versions.items()
    ]
    return {"metadata": {"name": name} if name else {}, "versions": listed}


def aggregated(*groups: dict[str, Any]) -> Answer:
    return Answer(200, {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": list(groups)})


CORE = aggregated(group("", v1=[row("configmaps", "ConfigMap"), row("namespaces", "Namespace", "status", scope="Cluster")]))
APPS = group("apps", v1=[row("deployments", "Deployment", "scale", "status")])
WIDGETS = group("example.com", v1=[row("widgets", "Widget")])


def serves(server: Scripted, *groups: Answer) -> None:
    server.on("GET", "/api", CORE)
    server.on("GET", "/apis", *groups)


async def test_a_kind_is_found_with_all_that_is_needed_to_use_it(server: Scripted, cluster: ApiCluster) -> None:
    serves(server, aggregated(APPS))
    assert await cluster.resource(DEPLOYMENT) == Resource(DEPLOYMENT, "deployments", True, frozenset(VERBS), frozenset({"scale", "status"}))


async def test_two_requests_tell_everything(server: Scripted, cluster: ApiCluster) -> None:
    serves(server, aggregated(APPS))
    await asyncio.gather(*(cluster.resource(kind) for kind in (CONFIG_MAP, DEPLOYMENT) * 8))
    assert len(server.heard) == 2


async def test_kinds_of_the_whole_cluster_are_told_apart(server: Scripted, cluster: ApiCluster) -> None:
    serves(server, aggregated())
    found = [await cluster.resource(Kind("", "v1", kind)) for kind in ("ConfigMap", "Namespace")]
    assert [resource.namespaced for resource in found] == [True, False]


async def test_each_kind_is_listed_once_in_its_preferred_version(server: Scripted, cluster: ApiCluster) -> None:
    two = group("example.com", v2=[row("widgets", "Widget")], v1=[row("widgets", "Widget"), row("gadgets", "Gadget")])
    serves(server, aggregated(two))
    found = [(one.kind.version, one.plural) for one in await cluster.resources() if one.kind.group]
    assert found == [("v2", "widgets"), ("v1", "gadgets")]


async def test_every_version_can_be_used(server: Scripted, cluster: ApiCluster) -> None:
    serves(server, aggregated(group("example.com", v2=[row("widgets", "Widget")], v1=[row("widgets", "Widget")])))
    assert (await cluster.resource(WIDGET)).path("ns", "a") == "/apis/example.com/v1/namespaces/ns/widgets/a"


async def test_an_unknown_kind_is_looked_for_once_more(server: Scripted, cluster: ApiCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REFRESH_INTERVAL", -1.0)
    serves(server, aggregated(APPS), aggregated(APPS, WIDGETS))
    assert (await cluster.resource(WIDGET)).plural == "widgets"


async def test_many_unknown_kinds_do_not_make_us_ask_many_times(server: Scripted, cluster: ApiCluster) -> None:
    serves(server, aggregated(APPS))
    for number in range(5):
        await raised(lambda: cluster.resource(Kind("example.com", "v1", f"Widget{number}")))  # noqa: B023
    assert len(server.asked(path="/apis")) == 1


async def test_a_proxy_that_finds_nothing_does_not_make_kinds_unknown(server: Scripted, cluster: ApiCluster) -> None:
    for path in ("/api", "/apis"):
        server.on("GET", path, Answer(404, "404 page not found"))
    error = await raised(lambda: cluster.resource(WIDGET))
    assert isinstance(error, Unreachable)
    assert "is not found, as with a proxy without a server" in str(error)


UNKNOWN: dict[str, tuple[Kind, str]] = {
    "no such group": (WIDGET, "the server serves no Widget of example.com/v1; install its CustomResourceDefinition first"),
    "another version": (Kind("apps", "v1beta1", "Deployment"), "the server serves Deployment of apps not in v1beta1, but in v1"),
    "another group": (Kind("", "v1", "Deployment"), "the server serves no Deployment of v1; Deployment is known in apps/v1"),
    "no Kubernetes at all": (
        Kind("", "v1", "Gizmo"),
        "the server serves no Gizmo of v1; is the address that of a Kubernetes API server?",
    ),
    "a broken API service": (
        Kind("metrics.k8s.io", "v1", "PodMetrics"),
        "the API service of metrics.k8s.io/v1 does not answer, so PodMetrics cannot be read or written",
    ),
}


@pytest.mark.parametrize("case", UNKNOWN.values(), ids=UNKNOWN)
async def test_an_unknown_kind_is_said_with_what_is_there(case: tuple[Kind, str], server: Scripted, cluster: ApiCluster) -> None:
    kind, says = case
    serves(server, aggregated(APPS, group("metrics.k8s.io", v1=None)))
    error = await raised(lambda: cluster.resource(kind))
    assert isinstance(error, UnknownKind)
    assert str(error) == says


async def test_a_server_that_is_too_old_is_told_apart_from_something_else(server: Scripted, cluster: ApiCluster) -> None:
    server.on("GET", "/api", Answer(200, {"kind": "APIVersions", "versions": ["v1"]}))
    server.on("GET", "/apis", Answer(200, {"kind": "APIGroupList", "groups": []}))
    assert "Kubernetes 1.27 or later is required" in str(await raised(lambda: cluster.resource(DEPLOYMENT)))


async def test_whoever_may_not_discover_is_told(server: Scripted, cluster: ApiCluster) -> None:
    server.on("GET", "/api", status(403, "Forbidden", 'forbidden: User "bob" cannot get path "/api"'))
    server.on("GET", "/apis", aggregated())
    assert isinstance(await raised(lambda: cluster.resource(DEPLOYMENT)), Forbidden)


async def test_an_address_of_something_else_is_told(server: Scripted, cluster: ApiCluster) -> None:
    for path in ("/api", "/apis"):
        server.on("GET", path, Answer(200, "<html>welcome</html>"))
    error = await raised(lambda: cluster.resource(DEPLOYMENT))
    assert isinstance(error, ClusterError)
    assert "is no list of APIs; is the address that of a Kubernetes API server?" in str(error)


async def test_the_disk_spares_the_next_run_all_requests(server: Scripted, tmp_path: Path) -> None:
    serves(server, aggregated(APPS))
    for _ in range(2):
        async with connect_to(server.url, cache_dir=tmp_path) as cluster:
            found = await cluster.resource(DEPLOYMENT)
    assert cluster.requests.total() == 0
    assert found == Resource(DEPLOYMENT, "deployments", True, frozenset(VERBS), frozenset({"scale", "status"}))


async def test_what_all_is_served_is_asked_for_again_on_request(server: Scripted, cluster: ApiCluster) -> None:
    serves(server, aggregated(), aggregated(WIDGETS))
    assert "widgets" not in [one.plural for one in await cluster.resources()]
    assert "widgets" not in [one.plural for one in await cluster.resources()]
    assert "widgets" in [one.plural for one in await cluster.resources(fresh=True)]
    assert "widgets" in [one.plural for one in await cluster.resources()]


async def test_what_the_disk_lacks_is_asked_for(server: Scripted, tmp_path: Path) -> None:
    serves(server, aggregated(APPS), aggregated(APPS, WIDGETS))
    async with connect_to(server.url, cache_dir=tmp_path) as cluster:
        await cluster.resource(DEPLOYMENT)
    async with connect_to(server.url, cache_dir=tmp_path) as cluster:
        assert (await cluster.resource(WIDGET)).plural == "widgets"


async def test_an_old_file_does_not_count(server: Scripted, tmp_path: Path) -> None:
    serves(server, aggregated(APPS))
    for _ in range(2):
        async with connect_to(server.url, cache_dir=tmp_path) as cluster:
            await cluster.resource(DEPLOYMENT)
        [file] = tmp_path.glob("*/discovery.json")
        os.utime(file, (0, 0))
    assert cluster.requests.total() == 2


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"resources": [[1]], "broken": []}'])
async def test_a_file_that_cannot_be_read_does_not_count(content: str, server: Scripted, tmp_path: Path) -> None:
    serves(server, aggregated(APPS))
    for _ in range(2):
        async with connect_to(server.url, cache_dir=tmp_path) as cluster:
            assert await cluster.resource(DEPLOYMENT)
        [file] = tmp_path.glob("*/discovery.json")
        file.write_text(content)
    assert cluster.requests.total() == 2


async def test_two_servers_share_no_file(server: Scripted, tmp_path: Path) -> None:
    serves(server, aggregated(APPS))
    for url in (server.url, server.url.replace("127.0.0.1", "localhost")):
        async with connect_to(url, cache_dir=tmp_path, retries=HASTY) as cluster:
            await cluster.resource(DEPLOYMENT)
    assert len(list(tmp_path.glob("*/discovery.json"))) == 2


async def test_a_folder_that_cannot_be_written_is_like_none(server: Scripted, tmp_path: Path) -> None:
    serves(server, aggregated(APPS))
    (tmp_path / "file").write_text("")
    async with connect_to(server.url, cache_dir=tmp_path / "file") as cluster:
        assert await cluster.resource(DEPLOYMENT)


def test_what_is_served_survives_a_dump() -> None:
    served = ServedResources(broken=["metrics.k8s.io/v1"])
    served.add(Resource(DEPLOYMENT, "deployments", True, frozenset(VERBS), frozenset({"scale"})))
    again = ServedResources.load(json.loads(json.dumps(served.dump())))
    assert (again.by_kind, again.broken) == (served.by_kind, served.broken)


async def test_a_kind_that_turns_out_to_be_gone_is_looked_up_again(server: Scripted, tmp_path: Path) -> None:
    serves(server, aggregated(APPS, WIDGETS), aggregated(APPS))
    async with connect_to(server.url, cache_dir=tmp_path) as cluster:
        widgets = await cluster.resource(WIDGET)
        assert isinstance(await raised(lambda: cluster.get(widgets, "ns", "a")), UnknownKind)
        assert isinstance(await raised(lambda: cluster.resource(WIDGET)), UnknownKind)
