"""The proxy that makes faults: each one happens as scripted, and nothing else does."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp
import pytest

from applier.testing.control_plane import ControlPlane
from applier.testing.errors import RequestRefused
from applier.testing.faults import Script
from applier.testing.proxy import Faults

pytestmark = pytest.mark.cluster

GONE_AWAY = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError, aiohttp.ClientPayloadError)


def path(namespace: str, name: str = "") -> str:
    return f"/api/v1/namespaces/{namespace}/configmaps" + (f"/{name}" if name else "")


def config_map(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


async def create(client: aiohttp.ClientSession, namespace: str, name: str) -> int:
    async with client.post(path(namespace), json=config_map(name)) as answer:
        await answer.read()
        return answer.status


def names(control_plane: ControlPlane, namespace: str) -> set[str]:
    items = control_plane.request("GET", path(namespace))["items"]
    return {item["metadata"]["name"] for item in items} - {"kube-root-ca.crt"}


async def test_without_a_script_the_proxy_only_counts(control_plane: ControlPlane, namespace: str) -> None:
    async with Faults(control_plane) as proxy, aiohttp.ClientSession(proxy.url, headers={"User-Agent": "me"}) as client:
        assert await create(client, namespace, "a") == 201
        assert await create(client, namespace, "a") == 409
        async with client.get(path(namespace) + "?limit=500") as answer:
            assert (await answer.json())["kind"] == "ConfigMapList"
        assert proxy.requests.by("verb", "resource", "agent", "code") == {
            "create configmaps me 201": 1,
            "create configmaps me 409": 1,
            "list configmaps me 200": 1,
        }
        assert not proxy.injected


async def test_who_runs_for_hours_remembers_only_the_latest_requests(control_plane: ControlPlane, namespace: str) -> None:
    async with Faults(control_plane, remember=2) as proxy, aiohttp.ClientSession(proxy.url) as client:
        for name in "abc":
            await create(client, namespace, name)
        await create(client, namespace, "a")
    assert [request.code for request in proxy.requests] == [201, 409]


async def test_the_servers_counts_are_the_proxys(control_plane: ControlPlane, namespace: str) -> None:
    mark = control_plane.mark()
    async with Faults(control_plane) as proxy, aiohttp.ClientSession(proxy.url) as client:
        await create(client, namespace, "a")
        async with client.delete(path(namespace, "a")), client.get(f"/apis/apps/v1/namespaces/{namespace}/deployments/a/scale"):
            pass
        fields = ("verb", "resource", "subresource", "namespace", "name", "code")
        ours = control_plane.requests(mark).only(namespace=namespace, user="admin")
        # The audit log names an object that is created, the URL does not.
        assert ours.only(verb="delete").by(*fields) + ours.only(verb="get").by(*fields) == (
            proxy.requests.only(verb="delete").by(*fields) + proxy.requests.only(verb="get").by(*fields)
        )


@pytest.mark.parametrize(("when", "there"), [("before", {"a", "c"}), ("after", {"a", "b", "c"})])
async def test_one_write_is_dropped(control_plane: ControlPlane, namespace: str, when: Any, there: set[str]) -> None:
    async with Faults(control_plane, Script(drop_write=2, drop_when=when)) as proxy, aiohttp.ClientSession(proxy.url) as client:
        assert await create(client, namespace, "a") == 201
        with pytest.raises(GONE_AWAY):
            await create(client, namespace, "b")
        assert proxy.dropped.is_set()
        assert await create(client, namespace, "c") == 201
        assert names(control_plane, namespace) == there
        assert proxy.injected == {f"drop-{when}": 1}
        assert [request.code for request in proxy.requests] == [201, 0, 201]


async def test_reads_and_dry_runs_are_no_writes(control_plane: ControlPlane, namespace: str) -> None:
    async with Faults(control_plane, Script(drop_write=1)) as proxy, aiohttp.ClientSession(proxy.url) as client:
        async with client.get(path(namespace)) as answer:
            assert answer.status == 200
        async with client.post(path(namespace) + "?dryRun=All", json=config_map("a")) as answer:
            assert answer.status == 201
        assert not proxy.dropped.is_set()


async def test_after_a_drop_everything_may_be_refused(control_plane: ControlPlane, namespace: str) -> None:
    async with Faults(control_plane, Script(drop_write=1, then="refuse")) as proxy, aiohttp.ClientSession(proxy.url) as client:
        async with client.get(path(namespace) + "?watch=true") as watch:
            with pytest.raises(GONE_AWAY):
                await create(client, namespace, "a")
            with pytest.raises(GONE_AWAY):
                await asyncio.wait_for(watch.read(), 60)
        with pytest.raises(GONE_AWAY):
            await client.get(path(namespace))
        proxy.refusing = False
        assert await create(client, namespace, "a") == 201


@pytest.mark.parametrize(
    ("script", "status", "reason", "retry_after"),
    [
        (Script(conflict=1), 409, "Conflict", None),
        (Script(too_many_requests=1, retry_after=3), 429, "TooManyRequests", "3"),
        (Script(internal_error=1), 500, "InternalError", None),
        (Script(unavailable=1), 503, "ServiceUnavailable", None),
    ],
)
async def test_the_answer_is_a_refusal(
    control_plane: ControlPlane, namespace: str, script: Script, status: int, reason: str, retry_after: str | None
) -> None:
    async with Faults(control_plane, script) as proxy, aiohttp.ClientSession(proxy.url) as client:
        async with client.post(path(namespace), json=config_map("a")) as answer:
            told = await answer.json()
        assert (answer.status, told["code"], told["reason"], answer.headers.get("Retry-After")) == (status, status, reason, retry_after)
        assert names(control_plane, namespace) == set()


async def test_reads_never_conflict(control_plane: ControlPlane, namespace: str) -> None:
    async with Faults(control_plane, Script(conflict=1)) as proxy, aiohttp.request("GET", proxy.url + path(namespace)) as answer:
        assert answer.status == 200


async def test_resets_come_before_and_after_the_server(control_plane: ControlPlane, namespace: str) -> None:
    async with Faults(control_plane, Script(reset=1, seed=1)) as proxy:
        for number in range(12):
            # A client of its own for each: none sends a second time by itself.
            async with aiohttp.ClientSession(proxy.url) as client:
                with pytest.raises(GONE_AWAY):
                    await create(client, namespace, f"c-{number}")
        assert proxy.injected.total() == 12
        assert len(names(control_plane, namespace)) == proxy.injected["reset-after"]


async def test_a_stalled_request_is_answered_late(control_plane: ControlPlane, namespace: str) -> None:
    async with Faults(control_plane, Script(stall=1, stall_seconds=0.2)) as proxy, aiohttp.ClientSession(proxy.url) as client:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(create(client, namespace, "a"), 0.1)
        assert await create(client, namespace, "b") == 201
        assert proxy.injected == {"stall": 2}
        assert names(control_plane, namespace) >= {"b"}


async def test_the_same_seed_makes_the_same_faults(control_plane: ControlPlane, namespace: str) -> None:
    async def faults(seed: int) -> list[int]:
        async with Faults(control_plane, Script(unavailable=0.5, seed=seed)) as proxy, aiohttp.ClientSession(proxy.url) as client:
            for _ in range(20):
                async with client.get(path(namespace)):
                    pass
            return [request.code for request in proxy.requests]

    first = await faults(7)
    assert set(first) == {200, 503}
    assert await faults(7) == first
    assert await faults(8) != first


async def test_a_watch_is_gone_after_so_many_events(control_plane: ControlPlane, namespace: str) -> None:
    async with Faults(control_plane, Script(gone_every=3)) as proxy, aiohttp.ClientSession(proxy.url) as client:
        for name in "abc":
            await create(client, namespace, name)
        async with client.get(path(namespace) + "?watch=true&resourceVersion=0") as watch:
            events = [json.loads(line) for line in (await asyncio.wait_for(watch.read(), 60)).splitlines()]
        assert [event["type"] for event in events] == ["ADDED"] * 3 + ["ERROR"]
        assert events[-1]["object"]["code"] == 410


async def test_a_watch_breaks_off(control_plane: ControlPlane, namespace: str) -> None:
    async with Faults(control_plane, Script(reset=1)) as proxy, aiohttp.ClientSession(proxy.url) as client:
        control_plane.request("POST", path(namespace), config_map("a"))
        with pytest.raises(GONE_AWAY):
            async with client.get(path(namespace) + "?watch=true&resourceVersion=0") as watch:
                await asyncio.wait_for(watch.read(), 60)
        assert proxy.injected == {"reset-watch": 1}


async def test_kubectl_comes_through_as_admin(control_plane: ControlPlane, namespace: str) -> None:
    async with Faults(control_plane) as proxy:
        kubeconfig = str(proxy.kubeconfig())
        arguments = ("--kubeconfig", kubeconfig, "create", "configmap", "a", "-n", namespace)
        await asyncio.to_thread(control_plane.kubectl, *arguments)
        assert proxy.requests.only(resource="configmaps").by("verb", "code") == {"create 201": 1}


async def test_credentials_of_the_client_go_first(control_plane: ControlPlane, namespace: str) -> None:
    nobody = {"Authorization": f"Bearer {control_plane.users['nobody'].token}"}
    async with Faults(control_plane) as proxy, aiohttp.ClientSession(proxy.url, headers=nobody) as client:
        assert await create(client, namespace, "a") == 403
    with pytest.raises(RequestRefused):
        control_plane.request("GET", path(namespace, "a"))
