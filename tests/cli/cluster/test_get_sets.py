"""`grove get sets`: a line for each set."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from applier.ref import Kind, Manifest
from grove_cli.cluster.get import watch as watches
from grove_cli.cluster.get.listing import ListOptions, ViewListing
from grove_cli.cluster.get.table import table_text
from grove_cli.cluster.get.views import SETS
from grove_cli.queries.list_query import Found
from grove_cli.terminal import Terminal

from .in_memory import Bench, Ended

READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
GATED = {"schedulingGates": [{"name": "grove.io/podgang-pending-creation"}], "containers": []}
NOW = 1_767_225_660.0  # 2026-01-01T00:01:00Z
PENDING = {"type": "WhyPending", "status": "True", "reason": "Unschedulable", "message": "Pod qwen-a: no place for it"}


def live(kind: str, name: str, set: str = "", namespace: str = "shop", api: str = "v1", **rest: Any) -> Manifest:
    labels = {"app.kubernetes.io/part-of": set} if set else {}
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": namespace, "labels": labels}, **rest}


def on_node(gpus: int) -> Manifest:
    return {"nodeName": "n", "containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": gpus}}}]}


OBJECTS = [
    live("PodCliqueSet", "qwen", api="grove.io/v1alpha1", spec={"replicas": 2}, status={"availableReplicas": 1, "updatedReplicas": 2}),
    live("PodCliqueSet", "old", namespace="default", api="grove.io/v1alpha1", spec={"replicas": 1}),
    live("PodGang", "qwen-0", "qwen", api="scheduler.grove.io/v1alpha1"),
    live("PodGang", "qwen-1", "qwen", api="scheduler.grove.io/v1alpha1"),
    live("Pod", "qwen-a", "qwen", spec=on_node(8), status=READY),
    live("Pod", "qwen-b", "qwen", spec=on_node(8), status={"phase": "Running"}),
    live("Pod", "qwen-c", "qwen", spec=GATED, status={"phase": "Pending"}),
    live("Pod", "qwen-d", "qwen", spec=on_node(8), status={"phase": "Failed"}),
    live("Pod", "another", spec={"containers": []}, status=READY),
]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    bench.define_ours()
    bench.cluster.seed(*OBJECTS)
    return bench


def columns(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_a_set_is_told_in_one_line(bench: Bench) -> None:
    ended = bench.run("get", "sets", "-n", "shop")
    assert (ended.code, ended.err) == (0, "")
    head, line = columns(ended.out)
    assert head == ["NAME", "READY", "PODS", "GATED", "UPDATED", "GANGS", "GPUS", "AGE", "WHY"]
    assert line[:7] == ["qwen", "1/2", "1/3", "1", "2/2", "2", "16"]


def test_all_namespaces_are_told_by_name(bench: Bench) -> None:
    lines = columns(bench.run("get", "sets", "-A").out)
    assert [line[:2] for line in lines] == [
        ["NAMESPACE", "NAME"],
        ["default", "old"],
        ["shop", "qwen"],
    ]


NO_NODE = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no node"}


def test_a_pod_that_the_scheduler_cannot_place_is_told_before_a_condition_is(bench: Bench) -> None:
    bench.cluster.seed(live("Pod", "qwen-e", "qwen", spec={"containers": []}, status={"phase": "Pending", "conditions": [NO_NODE]}))
    assert columns(bench.run("get", "sets", "-n", "shop").out)[1][8:] == ["Unschedulable:", "Pod", "qwen-e:", "no", "node"]


WHY = {
    "pending": ({"status": {"conditions": [PENDING]}}, "Unschedulable: Pod qwen-a: no place for it"),
    "held before pending": (
        {"status": {"conditions": [PENDING, {"type": "Stalled", "status": "True", "reason": "Held", "message": "wrong"}]}},
        "Held: wrong",
    ),
    "pending no more": ({"status": {"conditions": [{**PENDING, "status": "False"}]}}, ""),
    "leaving": ({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["a/b"]}}, "being deleted, held by a/b"),
}


@pytest.mark.parametrize(("change", "why"), WHY.values(), ids=WHY)
def test_a_set_says_why_it_waits(bench: Bench, change: Manifest, why: str) -> None:
    set = OBJECTS[0]
    bench.cluster.seed({**set, **change, "metadata": {**set["metadata"], **change.get("metadata", {})}})
    [line] = bench.run("get", "sets", "-n", "shop", "--no-headers").out.splitlines()
    assert line.split(maxsplit=8)[8:] == ([why] if why else [])


def test_a_namespace_without_sets_says_so(bench: Bench) -> None:
    bench.cluster.seed({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "empty"}})
    assert bench.run("get", "sets", "-n", "empty") == Ended(0, "", "No resources found in empty namespace.\n")


def test_a_cluster_without_our_definitions_is_told_what_is_missing(tmp_path: Path) -> None:
    ended = Bench(tmp_path).run("get", "sets")
    assert ended.code == 2
    assert "grove crds | kubectl apply" in ended.err


@pytest.mark.parametrize("width", [60, 80, 200])
def test_a_line_is_no_wider_than_the_terminal(width: int) -> None:
    pending = {**PENDING, "message": "its gang is not complete " * 9}
    metadata = {**OBJECTS[0]["metadata"], "creationTimestamp": "2026-01-01T00:00:00Z"}
    found = Found([{**OBJECTS[0], "metadata": metadata, "status": {"conditions": [pending]}}], [], {"PodGang": [], "Pod": []}, [])
    text = table_text(SETS, found, NOW, Terminal(colours=False, width=width, wraps=True))
    assert max(map(len, text.splitlines())) <= width


@pytest.mark.parametrize("output", ["", "name", "custom-columns=NAME:.metadata.name"])
async def test_a_watched_table_is_drawn_again_when_a_set_comes(output: str, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watches, "SETTLE", 0)
    drawn: asyncio.Queue[bytes] = asyncio.Queue()
    listing = ViewListing(SETS, ListOptions(output=output))
    task = asyncio.ensure_future(watches.follow(bench.cluster, lambda: listing.drawn(bench.cluster, ""), "", drawn.put_nowait))
    assert b"new" not in await drawn.get()
    sets = await bench.cluster.resource(Kind("grove.io", "v1alpha1", "PodCliqueSet"))
    await bench.cluster.create(sets, live("PodCliqueSet", "new", api="grove.io/v1alpha1", spec={"replicas": 1}), manager="test")
    async with asyncio.timeout(60):
        while b"new" not in await drawn.get():
            pass
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
