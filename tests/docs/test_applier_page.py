"""The page about the applier: its examples run, and print what it says."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from applier import transport
from applier.desired import Desired, Graph
from applier.ref import Manifest, Ref
from applier.testing.memory import MemoryCluster
from tests.suite.journals import read_journal

from ..applier.free_schemas import FreeSchemas
from .pages import DOCS

PAGE = (DOCS / "applier.md").read_text()
EXAMPLE, LISTENERS, LOOP = re.findall(r"^```python\n((?:.*\n)*?)```$", PAGE, re.MULTILINE)
PRINTED = re.findall(r"^```text\n((?:.*\n)*?)```$", PAGE, re.MULTILINE)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> MemoryCluster:
    """A cluster in memory, behind `connect`."""
    found = MemoryCluster(schemas=FreeSchemas())

    @asynccontextmanager
    async def connect(**_: Any) -> AsyncIterator[MemoryCluster]:
        yield found

    monkeypatch.setattr(transport, "connect", connect)
    return found


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines()]


@pytest.mark.usefixtures("cluster")
def test_the_example_prints_what_the_page_says(capsys: pytest.CaptureFixture[str]) -> None:
    for printed in PRINTED:
        exec(compile(EXAMPLE, "applier.md", "exec"), {"__name__": "__main__"})
        assert lines(capsys.readouterr().out) == lines(printed)
    assert len(PRINTED) == 2


@pytest.mark.cluster
def test_the_example_prints_the_same_on_a_real_server(
    control_plane: Any, namespace: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(control_plane.kubeconfig))
    for printed in PRINTED:
        assert in_a_thread(namespace) == 0
        assert lines(capsys.readouterr().out.replace(f"/{namespace}/", "/default/")) == lines(printed)


def in_a_thread(namespace: str) -> int:
    """Runs the example where no event loop runs."""
    ended: list[int] = []
    thread = threading.Thread(target=lambda: ended.append(run_elsewhere(namespace)))
    thread.start()
    thread.join()
    return ended[0]


def run_elsewhere(namespace: str) -> int:
    """Runs the example in a namespace of our own."""
    example = EXAMPLE.replace('"default"', f'"{namespace}"').replace("asyncio.run(main())", "ended = asyncio.run(main())")
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(example, "applier.md", "exec"), names)
    return int(names["ended"])


async def test_a_run_is_recorded_in_the_journal_as_the_page_shows(
    cluster: MemoryCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(compile(LISTENERS, "applier.md", "exec"), names)
    assert (await names["apply_with_observers"](Graph([Desired(team("a", "1"))]), cluster)).ok
    assert [line["event"] for line in read_journal(tmp_path / "runs.jsonl")][-1] == "ended"


def team(name: str, pods: str) -> Manifest:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}, "data": {"pods": pods}}


async def test_the_loop_keeps_what_the_page_says(cluster: MemoryCluster) -> None:
    names: dict[str, Any] = {}
    exec(compile(LOOP, "applier.md", "exec"), names)
    cluster.seed(team("team-a", "10"), team("bystander", "1"))
    loop = names["loop_on"](cluster)
    task = asyncio.create_task(loop.run())
    ref = Ref("", "ResourceQuota", "default", "team-a")
    async with asyncio.timeout(60):
        while (quota := cluster.find(ref)) is None:
            await asyncio.sleep(0)
    assert quota["spec"] == {"hard": {"pods": "10"}}
    assert cluster.find(ref._replace(name="bystander")) is None
    loop.stop()
    await asyncio.wait_for(task, 60)
