"""Subresources that are text, such as the logs of pods: line by line, as long as the server sends them."""

from __future__ import annotations

from contextlib import aclosing

import pytest

from applier.cluster import Resource
from applier.errors import Invalid, NotFound, Unreachable
from applier.ref import Kind
from applier.transport import ApiCluster

from .scripted import Answer, Scripted, status

PODS = Resource(Kind("", "v1", "Pod"), "pods", True)
PATH = "/api/v1/namespaces/ns/pods/web/log"


async def log(cluster: ApiCluster, silence: float | None = None, **query: str) -> list[bytes]:
    async with aclosing(cluster.lines(PODS, "ns", "web", "log", query, silence=silence)) as lines:
        return [line async for line in lines]


async def test_a_text_comes_line_by_line_and_the_last_one_needs_no_end(server: Scripted, cluster: ApiCluster) -> None:
    server.on("GET", PATH, Answer(200, "one\ntwo\nthr"))
    assert await log(cluster, follow="true", container="main") == [b"one", b"two", b"thr"]
    assert server.heard[0].query == {"follow": "true", "container": "main"}


async def test_a_refusal_is_an_error_before_the_first_line(server: Scripted, cluster: ApiCluster) -> None:
    waiting = status(400, "BadRequest", 'container "main" in pod "web" is waiting to start: ContainerCreating')
    server.on("GET", PATH, waiting, status(404, "NotFound", 'pods "web" not found', name="web", kind="pods"))
    with pytest.raises(Invalid, match="is waiting to start: ContainerCreating"):
        await log(cluster)
    with pytest.raises(NotFound):
        await log(cluster)


async def test_a_text_that_breaks_off_is_an_error_after_its_lines(server: Scripted, cluster: ApiCluster) -> None:
    server.on("GET", PATH, Answer(200, "one\ntwo\n", broken=True))
    seen = []
    with pytest.raises(Unreachable):
        async with aclosing(cluster.lines(PODS, "ns", "web", "log", {})) as lines:
            async for line in lines:
                seen.append(line)  # noqa: PERF401 - what came before the error counts
    assert seen == [b"one", b"two"]


async def test_silence_ends_a_text_where_it_is_limited(server: Scripted, cluster: ApiCluster) -> None:
    server.on("GET", PATH, Answer(200, "one\n", hangs=True))
    with pytest.raises(Unreachable):
        await log(cluster, silence=0.05)
