"""`grove get tree`: an object with all that it owns."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from applier.cluster import Resource
from applier.errors import Forbidden, Unreachable
from applier.ref import Kind, Manifest
from applier.testing.memory import MemoryCluster
from grove_cli.cluster.get import watch as tree_watch
from grove_cli.cluster.get.output import drawn_tree, tree_text
from grove_cli.queries.live_states import readiness_check
from grove_cli.queries.tree import grow
from grove_cli.queries.tree_query import NoSuchObject, read_tree
from grove_cli.terminal import Terminal

from ...shipped import program
from .in_memory import Bench

GROVE = "grove.io/v1alpha1"
GATES = [{"name": "grove.io/podgang-pending-creation"}]
SERVED = [
    Resource(Kind("grove.io", "v1alpha1", "PodCliqueSet"), "podcliquesets", True),
    Resource(Kind("grove.io", "v1alpha1", "PodClique"), "podcliques", True),
]


def live(kind: str, name: str, owner: str = "", api: str = "v1", **rest: Any) -> Manifest:
    references = [{"apiVersion": GROVE, "kind": "x", "name": owner, "uid": f"uid-{owner}", "controller": True}] if owner else []
    metadata = {"name": name, "namespace": "shop", "uid": f"uid-{name}", "ownerReferences": references}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **rest}


SET = live("PodCliqueSet", "qwen", api=GROVE, spec={"replicas": 1}, status={"availableReplicas": 0})
CLIQUE = live("PodClique", "qwen-0-server", "qwen", GROVE, spec={"replicas": 2}, status={"readyReplicas": 1})
POD = live("Pod", "qwen-0-server-a", "qwen-0-server", spec={"schedulingGates": GATES}, status={"phase": "Pending"})
OTHER = live("Pod", "another", spec={}, status={"phase": "Running"})


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    cluster = MemoryCluster(namespaces=("default", "shop"))
    for resource in SERVED:
        cluster.serve(resource)
    cluster.seed(SET, CLIQUE, POD, OTHER)
    return Bench(tmp_path, cluster)


def test_a_set_is_drawn_with_all_that_it_owns(bench: Bench) -> None:
    ended = bench.run("get", "tree", "qwen", "-n", "shop")
    assert (ended.code, ended.err) == (0, "")
    assert [line.split()[:3] for line in ended.out.splitlines()[:3]] == [
        ["PodCliqueSet", "qwen", "in"],
        ["└─", "PodClique", "qwen-0-server"],
        ["└─", "Pod", "qwen-0-server-a"],
    ]


def test_a_training_workload_tells_its_attempt_budget_and_deadline(bench: Bench) -> None:
    replicas = [{"index": 0, "attempt": 2, "phase": "Running"}]
    status = {"phase": "Running", "restartCount": 1, "startTime": "2026-11-23T08:00:00Z", "trainingReplicas": replicas}
    spec = {"replicas": 1, "workloadType": "Training", "trainingSpec": {"maxRestarts": 3, "maxRuntime": "90m"}}
    bench.cluster.seed(live("PodCliqueSet", "sft", api=GROVE, spec=spec, status=status))
    first = bench.run("get", "tree", "sft", "-n", "shop").out.splitlines()[0]
    assert "attempt 2" in first
    assert "1 of 3 restarts spent" in first
    assert "until 2026-11-23T09:30:00Z" in first


@pytest.mark.parametrize(
    ("stood", "told"), [({"suspendedSeconds": 600}, "until 2026-11-23T09:40:00Z"), ({"suspendTime": "2026-11-23T08:10:00Z"}, "")]
)
def test_the_deadline_of_a_job_stands_still_while_it_is_suspended(bench: Bench, stood: dict[str, Any], told: str) -> None:
    spec = {"replicas": 1, "workloadType": "Training", "trainingSpec": {"maxRuntime": "90m"}}
    bench.cluster.seed(live("PodCliqueSet", "sft", api=GROVE, spec=spec, status={"startTime": "2026-11-23T08:00:00Z", **stood}))
    first = bench.run("get", "tree", "sft", "-n", "shop").out.splitlines()[0]
    assert told in first
    assert ("until" in first) is bool(told)


def test_the_gates_of_a_pod_are_named(bench: Bench) -> None:
    assert "gated by grove.io/podgang-pending-creation" in bench.run("get", "tree", "qwen", "-n", "shop").out


def test_it_ends_with_how_much_is_ready(bench: Bench) -> None:
    assert bench.run("get", "tree", "qwen", "-n", "shop").out.splitlines()[-1] == "0 of 3 ready"


@pytest.mark.parametrize(
    "name", ["podclique/qwen-0-server", "pclq/qwen-0-server", "podcliques.grove.io/qwen-0-server", "PodClique/qwen-0-server"]
)
def test_any_object_can_be_the_root(bench: Bench, name: str) -> None:
    ended = bench.run("get", "tree", name, "-n", "shop")
    assert ended.out.startswith("PodClique qwen-0-server ")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("cm/", "grove: 'cm/' is not an object: expected NAME or KIND/NAME\n"),
        ("..", "grove: '..' is not an object: expected NAME or KIND/NAME\n"),
        ("none", "grove: there is no PodCliqueSet 'none' in the namespace shop\n"),
        ("po/none", "grove: there is no Pod 'none' in the namespace shop\n"),
        ("bicycle/x", "grove: the server has no kind 'bicycle'\n"),
    ],
)
def test_what_is_not_there_is_an_error(bench: Bench, name: str, message: str) -> None:
    ended = bench.run("get", "tree", name, "-n", "shop")
    assert (ended.code, ended.out, ended.err) == (2, "", message)


def test_without_our_definitions_it_says_how_to_get_them(tmp_path: Path) -> None:
    ended = Bench(tmp_path).run("get", "tree", "qwen")
    assert (ended.code, "grove crds | kubectl apply --server-side -f -" in ended.err) == (2, True)


def test_programs_get_the_same_as_json(bench: Bench) -> None:
    tree = json.loads(bench.run("get", "tree", "qwen", "-n", "shop", "-o", "json").out)
    assert (tree["name"], tree["state"]) == ("qwen", "InProgress")
    [pod] = tree["owns"][0]["owns"]
    assert (pod["name"], pod["gates"]) == ("qwen-0-server-a", ["grove.io/podgang-pending-creation"])


def test_kinds_that_may_not_be_read_are_told_and_the_rest_is_drawn(bench: Bench) -> None:
    bench.cluster.fail(
        lambda request: request.verb == "list" and request.resource.plural == "secrets", Forbidden(403, "Forbidden", "you may not")
    )
    ended = bench.run("get", "tree", "qwen", "-n", "shop")
    assert ended.code == 0
    assert "not read: Secret: you may not" in ended.out


@pytest.mark.parametrize("width", [40, 60, 100])
def test_a_narrow_terminal_is_not_overrun(width: int) -> None:
    terminal = Terminal(colours=False, width=width, wraps=True)
    assert max(map(len, tree_text(grow(SET, [CLIQUE, POD]), readiness_check(program()), terminal).splitlines())) <= width


def test_colours_are_for_terminals_only(bench: Bench) -> None:
    assert "\x1b" not in bench.run("get", "tree", "qwen", "-n", "shop").out
    assert "\x1b[33m" in tree_text(grow(SET, []), readiness_check(program()), Terminal(colours=True, width=80, wraps=True))


@pytest.fixture
def drawn(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> asyncio.Queue[list[str]]:
    """The words of each tree that is drawn, while a test runs."""
    monkeypatch.setattr(tree_watch, "SETTLE", 0)
    return asyncio.Queue()


async def next_with(drawn: asyncio.Queue[list[str]], name: str, *, there: bool) -> None:
    """Comes back once a tree was drawn in which a name is, or is not."""
    async with asyncio.timeout(60):
        while (name in await drawn.get()) is not there:
            pass


def test_what_ready_means_is_a_rules_to_say(bench: Bench, tmp_path: Path) -> None:
    own = "rule: readiness/counts\ndoc: One pod is enough.\ndecide: ready_when\nvalue: |-\n  [['/status/readyReplicas', '>=', 1]]\n"
    (tmp_path / "own.yaml").write_text(own)
    tree = ("get", "tree", "qwen", "-n", "shop", "-o", "json")
    shown = [json.loads(bench.run(*tree, *more).out) for more in ((), ("--rules", str(tmp_path)))]
    assert [top["owns"][0]["state"] for top in shown] == ["InProgress", "Ready"]


def follow(bench: Bench, drawn: asyncio.Queue[list[str]]) -> asyncio.Task[None]:
    async def read() -> tree_watch.Drawing:
        return drawn_tree(await read_tree(bench.cluster, "qwen", "shop"), "text", readiness_check(program()))

    def draw(text: bytes) -> None:
        drawn.put_nowait(text.decode().split())

    return asyncio.ensure_future(tree_watch.follow(bench.cluster, read, "shop", draw))


async def test_a_watched_tree_is_drawn_again_when_it_grows_and_when_it_shrinks(bench: Bench, drawn: asyncio.Queue[list[str]]) -> None:
    task = follow(bench, drawn)
    await next_with(drawn, "qwen-0-server-a", there=True)
    pods = await bench.cluster.resource(Kind("", "v1", "Pod"))
    new = live("Pod", "qwen-0-server-b", "qwen-0-server")
    del new["metadata"]["uid"]
    await bench.cluster.create(pods, new, manager="test")
    await next_with(drawn, "qwen-0-server-b", there=True)
    await bench.cluster.delete(pods, "shop", "qwen-0-server-a", uid="uid-qwen-0-server-a")
    await next_with(drawn, "qwen-0-server-a", there=False)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_watched_tree_outlives_watches_that_break(
    bench: Bench, drawn: asyncio.Queue[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_watch, "PAUSE", 0)
    task = follow(bench, drawn)
    await next_with(drawn, "qwen-0-server-a", there=True)
    bench.cluster.end_watches(Unreachable("the connection broke"))
    pods = await bench.cluster.resource(Kind("", "v1", "Pod"))
    await bench.cluster.delete(pods, "shop", "qwen-0-server-a", uid="uid-qwen-0-server-a")
    await next_with(drawn, "qwen-0-server-a", there=False)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_watching_ends_when_the_object_is_gone(bench: Bench, drawn: asyncio.Queue[list[str]]) -> None:
    task = follow(bench, drawn)
    await drawn.get()
    sets = await bench.cluster.resource(Kind("grove.io", "v1alpha1", "PodCliqueSet"))
    await bench.cluster.delete(sets, "shop", "qwen", uid="uid-qwen")
    with pytest.raises(NoSuchObject):
        await asyncio.wait_for(task, 60)


TALL = "PodCliqueSet qwen\n" + "".join(f"├── Pod {number}\n" for number in range(40)) + "\n7 of 41 ready\nnot read: nodes\n"


@pytest.mark.parametrize("height", [4, 10, 24])
def test_a_tree_that_is_taller_than_the_screen_keeps_its_summary(height: int) -> None:
    lines = tree_watch.fitted(TALL, height).splitlines()
    assert len(lines) == height
    assert lines[0] == "PodCliqueSet qwen"
    assert lines[-3:] == [f"… {41 - height + 3} more lines", "7 of 41 ready", "not read: nodes"]


def test_a_tree_that_fits_is_left_as_it_is() -> None:
    assert tree_watch.fitted(TALL, 44) == TALL
