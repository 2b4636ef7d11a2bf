"""What goes over the wire for each call."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import pytest

from applier.errors import ClusterError
from applier.ref import Ref
from applier.transport import ApiCluster
from applier.transport.refusals import WRONG_ADDRESS
from applier.transport.retries import ApiRequest
from tests.connecting import connect_to

from ..http.raw_server import serving
from .scripted import CONFIG_MAPS, DEPLOYMENTS, HASTY, NAMESPACES, Answer, Scripted, config_map, raised, status

APPLY = {"fieldManager": "m", "fieldValidation": "Ignore"}
WRITE = APPLY | {"fieldValidation": "Strict"}
OBJECT = "/api/v1/namespaces/ns/configmaps/a"


class Case(NamedTuple):
    """A call, and the request that it is."""

    id: str
    call: Callable[[ApiCluster], Awaitable[Any]]
    method: str
    path: str
    query: dict[str, str] = {}  # noqa: RUF012
    body: Any = None
    content_type: str = ""


def deployment() -> dict[str, Any]:
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "namespace": "ns"}}


def delete_options(**more: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background", "preconditions": {"uid": "1"}} | more


PATCHED = "application/apply-patch+yaml"
CASES = [
    Case("get", lambda c: c.get(CONFIG_MAPS, "ns", "a"), "GET", OBJECT),
    Case("get of a group", lambda c: c.get(DEPLOYMENTS, "ns", "a"), "GET", "/apis/apps/v1/namespaces/ns/deployments/a"),
    Case("get of the cluster", lambda c: c.get(NAMESPACES, "", "ns"), "GET", "/api/v1/namespaces/ns"),
    Case("get of a name with a colon", lambda c: c.get(CONFIG_MAPS, "ns", "system:a"), "GET", "/api/v1/namespaces/ns/configmaps/system:a"),
    Case("apply", lambda c: c.apply(CONFIG_MAPS, config_map(), manager="m"), "PATCH", OBJECT, APPLY, config_map(), PATCHED),
    Case(
        "apply by force",
        lambda c: c.apply(CONFIG_MAPS, config_map(), manager="m", force=True),
        "PATCH",
        OBJECT,
        APPLY | {"force": "true"},
        config_map(),
        PATCHED,
    ),
    Case(
        "apply as a dry run",
        lambda c: c.apply(CONFIG_MAPS, config_map(), manager="m", dry_run=True),
        "PATCH",
        OBJECT,
        APPLY | {"dryRun": "All"},
        config_map(),
        PATCHED,
    ),
    Case(
        "apply of a status",
        lambda c: c.apply(DEPLOYMENTS, deployment(), manager="m", subresource="status"),
        "PATCH",
        "/apis/apps/v1/namespaces/ns/deployments/a/status",
        APPLY,
        deployment(),
        PATCHED,
    ),
    Case(
        "create",
        lambda c: c.create(CONFIG_MAPS, config_map(), manager="m"),
        "POST",
        "/api/v1/namespaces/ns/configmaps",
        WRITE,
        config_map(),
        "application/json",
    ),
    Case(
        "a merge patch",
        lambda c: c.patch(CONFIG_MAPS, "ns", "a", {"data": None}, manager="m"),
        "PATCH",
        OBJECT,
        WRITE,
        {"data": None},
        "application/merge-patch+json",
    ),
    Case(
        "a JSON patch",
        lambda c: c.patch(CONFIG_MAPS, "ns", "a", [{"op": "remove", "path": "/data"}]),
        "PATCH",
        OBJECT,
        {"fieldValidation": "Strict"},
        [{"op": "remove", "path": "/data"}],
        "application/json-patch+json",
    ),
    Case("delete", lambda c: c.delete(CONFIG_MAPS, "ns", "a", uid="1"), "DELETE", OBJECT, {}, delete_options(), "application/json"),
    Case(
        "delete of one version, its dependants first, as a dry run",
        lambda c: c.delete(CONFIG_MAPS, "ns", "a", uid="1", resource_version="5", propagation="Foreground", dry_run=True),
        "DELETE",
        OBJECT,
        {},
        delete_options(propagationPolicy="Foreground", preconditions={"uid": "1", "resourceVersion": "5"}, dryRun=["All"]),
        "application/json",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
async def test_a_call_is_one_request(case: Case, server: Scripted, cluster: ApiCluster) -> None:
    server.on(case.method, case.path, Answer(200, config_map()))
    await case.call(cluster)
    [heard] = server.heard
    assert (heard.method, heard.path, heard.query, heard.body) == (case.method, case.path, case.query, case.body)
    assert heard.headers.get("Content-Type", "") == case.content_type


async def test_requests_say_who_asks(server: Scripted) -> None:
    server.on("GET", OBJECT, Answer(200, config_map()))
    async with connect_to(server.url, token="t", user_agent="grove/1") as cluster:
        await cluster.get(CONFIG_MAPS, "ns", "a")
    [heard] = server.heard
    assert (heard.headers["User-Agent"], heard.headers["Authorization"]) == ("grove/1", "Bearer t")


async def test_without_a_token_none_is_sent(server: Scripted) -> None:
    server.on("GET", OBJECT, Answer(200, config_map()))
    async with connect_to(server.url) as cluster:
        await cluster.get(CONFIG_MAPS, "ns", "a")
    assert "Authorization" not in server.heard[0].headers


async def test_warnings_of_the_server_are_handed_on_with_the_object(server: Scripted) -> None:
    server.on("PATCH", OBJECT, Answer(200, config_map(), {"Warning": '299 - "unknown field \\"spec\\""'}))
    heard: list[tuple[Ref, str]] = []
    async with connect_to(server.url, warn=lambda ref, text: heard.append((ref, text))) as cluster:
        await cluster.apply(CONFIG_MAPS, config_map(), manager="m")
    assert heard == [(Ref("", "ConfigMap", "ns", "a"), 'unknown field "spec"')]


async def test_a_namespace_that_is_being_deleted_is_left_to_that(server: Scripted, cluster: ApiCluster) -> None:
    message = 'Operation cannot be fulfilled on namespaces "ns": The system is ensuring all content is removed from this namespace.'
    server.on("DELETE", "/api/v1/namespaces/ns", status(409, "Conflict", message))
    ending = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns", "deletionTimestamp": "2026-01-01T00:00:00Z"}}
    server.on("GET", "/api/v1/namespaces/ns", Answer(200, ending))
    assert await cluster.delete(NAMESPACES, "", "ns", uid="1") == ending


LAST = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "ns", "uid": "1"}}
LEAVING = {**LAST, "metadata": {**LAST["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("answer", "left"),
    [({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}, None), (LAST, None), (LEAVING, LEAVING)],
    ids=["a Status", "the object as it was last", "an object that has finalizers"],
)
async def test_a_delete_says_what_is_left(server: Scripted, cluster: ApiCluster, answer: Any, left: Any) -> None:
    server.on("DELETE", OBJECT, Answer(200, answer))
    assert await cluster.delete(CONFIG_MAPS, "ns", "a", uid="1") == left


async def test_an_answer_that_is_no_json_is_an_error(server: Scripted, cluster: ApiCluster) -> None:
    server.on("GET", OBJECT, Answer(200, "<html>log in</html>"))
    error = await raised(lambda: cluster.get(CONFIG_MAPS, "ns", "a"))
    assert isinstance(error, ClusterError)
    assert "is not JSON" in str(error)


@pytest.mark.parametrize("answer", [{"kind": "Status", "metadata": {}, "status": "Success"}, {"ok": True}, [], None])
async def test_an_answer_that_is_no_object_is_an_error(server: Scripted, cluster: ApiCluster, answer: Any) -> None:
    """Such as that of a proxy which says that all is well: nothing was written, and nothing says so later."""
    server.on("GET", OBJECT, Answer(200, json.dumps(answer)))
    error = await raised(lambda: cluster.get(CONFIG_MAPS, "ns", "a"))
    assert isinstance(error, ClusterError)
    assert "the server's answer is no " in str(error)


@pytest.mark.parametrize("answer", [{"kind": "Status", "metadata": {}, "status": "Success"}, {"ok": True}, [], None, "<html>log in</html>"])
async def test_an_answer_that_is_no_list_is_not_an_empty_one(server: Scripted, cluster: ApiCluster, answer: Any) -> None:
    server.on("GET", "/api/v1/namespaces/ns/configmaps", Answer(200, answer if isinstance(answer, str) else json.dumps(answer)))
    error = await raised(lambda: cluster.list(CONFIG_MAPS, "ns"))
    assert isinstance(error, ClusterError)
    assert "the server's answer is no" in str(error)


async def test_a_redirect_is_not_followed(server: Scripted, cluster: ApiCluster) -> None:
    server.on("GET", OBJECT, Answer(302, "", {"Location": "/login?state=hunter2"}))
    error = await raised(lambda: cluster.get(CONFIG_MAPS, "ns", "a"))
    assert str(error) == f"{server.url} redirects us to /login, like a login page or a proxy; {WRONG_ADDRESS}"
    assert len(server.heard) == 1


async def test_the_version_of_the_server_is_read(server: Scripted) -> None:
    server.on("GET", "/version", Answer(200, {"gitVersion": "v1.35.4"}))
    async with connect_to(server.url, retries=HASTY) as cluster:
        assert (await cluster.version())["gitVersion"] == "v1.35.4"


async def test_each_header_goes_once_and_a_request_may_want_another_answer() -> None:
    async with serving() as server, connect_to(server.url, token="t", retries=HASTY) as cluster:
        await cluster.wire.call(ApiRequest("get", "discovery"), "GET", "/apis", headers={"Accept": "application/json;as=List"})
        lines = server.requests[0].strip().split(b"\r\n")[1:]
    assert sorted(line.partition(b":")[0] for line in lines) == [b"Accept", b"Accept-Encoding", b"Authorization", b"Host", b"User-Agent"]
    assert b"Accept: application/json;as=List" in lines
