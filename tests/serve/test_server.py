"""The page over HTTP: what it shows, to whom, and that nothing but reading is possible."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from applier.errors import Forbidden
from applier.ref import Kind, Manifest
from grove_cli.serve import server as server_module
from grove_cli.serve import stage as stage_module
from grove_cli.serve.scene import SceneObjects, draw_scene
from grove_cli.serve.server import HEADERS, is_known_host
from grove_compiler.step import StepContext
from grove_operator.controller.operator import settings_of
from tests.features.compiling import program_with, shipped_program
from tests.model.sets import clique, pcs
from tests.serve.serving import CLIQUE, SET, Served, served

PATIENCE = 60.0
STALLED = {"type": "Stalled", "status": "True", "reason": "Held", "message": "a rule fails", "lastTransitionTime": "2026-01-01T00:00:00Z"}


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is collected before it is drawn."""
    monkeypatch.setattr(stage_module, "SETTLE", 0.0)


async def got(url: str, method: str = "GET", **headers: str) -> tuple[int, str, dict[str, str]]:
    async with aiohttp.ClientSession() as client, client.request(method, url, headers=headers) as answer:
        return answer.status, await answer.text(), dict(answer.headers)


async def graph_of(page: Served) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((await got(f"{page.url}graph"))[1])
    return found


def states(graph: dict[str, Any], rows: list[list[Any]] | None = None) -> dict[str, tuple[str, str]]:
    """The words and the mood of each object, by its id."""
    ids = [f"{kind}/{namespace}/{name}" for kind, name, namespace, *_ in graph["nodes"]]
    return {ids[index]: (words, mood) for index, words, mood in (graph["states"] if rows is None else rows)}


@asynccontextmanager
async def listening(page: Served) -> AsyncIterator[Any]:
    """What a browser is told, message by message."""
    async with aiohttp.ClientSession() as client, client.get(f"{page.url}events") as answer:
        assert answer.headers["Content-Type"].startswith("text/event-stream")

        async def told() -> dict[str, Any]:
            while True:
                line = await asyncio.wait_for(answer.content.readline(), PATIENCE)
                if line.startswith(b"data: "):
                    message: dict[str, Any] = json.loads(line[6:])
                    return message

        yield told


async def test_the_page_is_that_of_grove_graph_and_may_ask_its_server() -> None:
    async with served() as page:
        status, text, headers = await got(page.url)
        assert status == 200
        assert "; connect-src 'self'" in text
        assert "new EventSource(" in text
        assert HEADERS.items() <= headers.items()


async def test_a_set_has_a_picture_of_its_history_in_the_colours_of_the_page() -> None:
    async with served() as page:
        status, text, headers = await got(f"{page.url}timeline?id={SET}")
        assert (status, headers["Content-Type"]) == (200, "image/svg+xml; charset=utf-8")
        assert 'class="timeline"' in text
        assert "<style>" not in text  # which the page's policy would refuse


@pytest.mark.parametrize("of", ["PodCliqueSet/default/nope", CLIQUE, "", "../.."])
async def test_what_is_no_set_has_no_history(of: str) -> None:
    async with served() as page:
        assert (await got(f"{page.url}timeline?id={of}"))[:2] == (404, "there is no such set\n")


async def test_each_object_says_how_far_it_is() -> None:
    async with served() as page:
        found = states(await graph_of(page))
        assert found[SET] == ("0/2 available", "waiting")
        assert found[CLIQUE] == ("0/2 ready", "waiting")
        assert found["Service/default/demo-0"][1] == "ready"
        assert {mood for id, (words, mood) in found.items() if id.startswith("Pod/") and "gated by" in words} == {"waiting"}


async def test_an_object_that_is_gone_is_missing() -> None:
    async with served() as page, listening(page) as told:
        graph, _ = await graph_of(page), await told()
        service = await page.cluster.resource(Kind("", "v1", "Service"))
        await page.cluster.delete(service, "default", "demo-0", uid=page.found("Service", "demo-0")["metadata"]["uid"])
        assert states(graph, (await told())["states"]) == {"Service/default/demo-0": ("missing", "missing")}


async def test_a_change_is_told_with_what_differs_alone() -> None:
    async with served() as page, listening(page) as told:
        graph, first = await graph_of(page), await told()
        assert first["live"] == graph["live"]
        assert states(graph, first["states"]) == states(graph)
        page.report("PodClique", "demo-0-worker", readyReplicas=1)
        message = await told()
        assert states(graph, message["states"]) == {CLIQUE: ("1/2 ready", "waiting")}


async def test_a_set_that_waits_is_told_first() -> None:
    async with served() as page, listening(page) as told:
        await told()
        page.report("PodCliqueSet", "demo", conditions=[STALLED])
        message = await told()
        while not message["notes"]:
            message = await told()
        assert message["notes"] == [[SET, "Held: a rule fails"]]


async def test_a_page_that_is_closed_is_nobodys_error(caplog: pytest.LogCaptureFixture) -> None:
    async with served() as page:
        for replicas in (3, 4, 5):
            async with listening(page) as told:
                await told()
            page.scale(replicas)  # the server learns by a write that nobody reads any more
        async with listening(page) as told:
            await told()
            page.report("PodClique", "demo-0-worker", readyReplicas=1)
            await told()
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []


@pytest.mark.parametrize(("is_complete", "of"), [(True, "live"), (False, "a snapshot")])
async def test_a_page_says_whether_it_is_live(is_complete: bool, of: str) -> None:
    scene = draw_scene(SceneObjects([], is_complete=is_complete), StepContext(shipped_program(), settings_of("1.35")))
    assert scene.page()["of"] == of


async def test_another_graph_is_told_with_all_of_its_states() -> None:
    async with served() as page, listening(page) as told:
        before = (await told())["live"]
        page.scale(3)
        message = await told()
        while message["live"] == before:
            message = await told()
        graph = await graph_of(page)
        assert graph["live"] == message["live"]
        assert states(graph, message["states"])["PodClique/default/demo-2-worker"] == ("missing", "missing")


async def test_a_set_that_cannot_be_made_says_why_and_is_shown() -> None:
    async with served() as page:
        live = page.found("PodCliqueSet", "demo")
        page.cluster.seed({**live, "spec": {**live["spec"], "template": {"cliques": []}}})
        async with listening(page) as told:
            message = await told()
            while not message["notes"]:
                message = await told()
        [[id, words]] = message["notes"]
        assert id == SET
        assert not words.startswith("1:1")
        assert "cliques" in words
        assert SET in states(await graph_of(page))


async def test_why_an_object_waits_is_told_when_it_is_asked() -> None:
    async with served() as page:
        _, text, headers = await got(f"{page.url}why?id={CLIQUE}")
        assert headers["Content-Type"].startswith("text/plain")
        assert "└─ " in text


@pytest.mark.parametrize("id", ["Service/default/demo-0", "PodClique/default/none", "nothing", "", "a/b/c/d", "%00"])
async def test_of_what_waits_for_nothing_nothing_is_told(id: str) -> None:
    async with served() as page:
        assert (await got(f"{page.url}why?id={id}"))[:2] == (200, "")


async def test_one_set_alone_can_be_shown() -> None:
    other: Manifest = {**pcs([clique("a", 1)])}
    other["metadata"] = {"name": "other", "namespace": "default", "uid": "another", "generation": 1}
    async with served(other, name="other") as page:
        names = {name for _, name, *_ in (await graph_of(page))["nodes"]}
        assert "other" in names
        assert "demo" not in names


async def test_no_value_of_a_secret_is_shown() -> None:
    rule = "rule: own/secret\ndoc: A password.\ngenerate: own.yaml\nowner: set.ref\n"
    template = "{apiVersion: v1, kind: Secret, metadata: {name: own, namespace: default}, stringData: {key: hunter2}}"
    async with served(shared=StepContext(program_with(rule, template), settings_of("1.35"))) as page:
        _, text, _ = await got(page.url)
        assert "own/secret" in text
        assert "hunter2" not in text


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
async def test_nothing_but_reading_is_possible(method: str) -> None:
    async with served() as page:
        page.cluster.forget_requests()
        assert [(await got(page.url + path, method))[0] for path in ("", "graph", "events", "why")] == [405] * 4
        assert (await got(f"{page.url}apply", method))[0] == 404
        assert page.cluster.writes() == []


HOSTS = {
    "127.0.0.1:8700": True,
    "127.0.0.1": True,
    "[::1]:8700": True,
    "localhost:8700": True,
    "LOCALHOST": True,
    "10.1.2.3:80": True,
    "grove.example": True,
    "Grove.Example:443": True,
    "evil.example": False,
    "evil.example:8700": False,
    "127.0.0.1.evil.example": False,
    "localhost.evil.example:8700": False,
    "": False,
    ":8700": False,
}


@pytest.mark.parametrize("host", HOSTS)
def test_a_server_is_known_by_addresses_and_names_that_are_allowed(host: str) -> None:
    assert is_known_host(host, {"grove.example"}) == HOSTS[host]


@pytest.mark.parametrize("path", ["", "graph", "events", "why?id=a", "none"])
async def test_a_page_of_a_stranger_reads_nothing(path: str) -> None:
    async with served() as page:
        status, text, _ = await got(page.url + path, Host="evil.example")
        assert status == 403
        assert "--allow-host" in text
        assert "demo" not in text


async def test_a_name_that_is_allowed_may_be_used() -> None:
    async with served(names=("Grove.example",)) as page:
        assert (await got(page.url, Host="grove.example:8700"))[0] == 200


async def test_no_more_browsers_listen_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "MAX_LISTENERS", 1)
    async with served() as page:
        async with listening(page) as told:
            await told()
            assert (await got(f"{page.url}events"))[0] == 503
        async with asyncio.timeout(PATIENCE):  # who has gone makes room as soon as that is noticed
            while (await begun(f"{page.url}events")) != 200:
                page.report("PodClique", "demo-0-worker", readyReplicas=len(page.cluster.log))
                await asyncio.sleep(0.05)


async def begun(url: str) -> int:
    """The status of an answer that does not end."""
    async with aiohttp.ClientSession() as client, client.get(url) as answer:
        return answer.status


async def test_a_browser_hears_that_the_server_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "HEARTBEAT", 0.01)
    async with served() as page, aiohttp.ClientSession() as client, client.get(f"{page.url}events") as answer:
        async with asyncio.timeout(PATIENCE):
            while (await answer.content.readline()) != b": still here\n":
                pass


async def test_who_may_not_read_all_sees_the_rest_and_what_the_operator_has_reported() -> None:
    async with served(forbidden=["ClusterTopology", "Service"]) as page:
        page.report("PodCliqueSet", "demo", conditions=[{**STALLED, "type": "WhyPending", "reason": "Unschedulable", "message": "no room"}])
        page.stage.change()
        while len(page.stage.scene.notes) < 2:
            await asyncio.sleep(0.01)
        assert page.stage.scene.notes == [("", "you may not read ClusterTopology, Service"), (SET, "Unschedulable: no room")]
        assert "Service/default/demo-0" not in states(await graph_of(page))
        assert (await got(f"{page.url}why?id={SET}"))[1].startswith("└─ Unschedulable for ")


async def test_who_may_not_read_sets_sees_nothing() -> None:
    with pytest.raises(Forbidden, match="you may not list podcliquesets"):
        async with served(forbidden=["PodCliqueSet"]):
            pass
