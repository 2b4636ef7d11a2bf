"""`grove why -A` and `grove why -l`: every set that waits, a line each, the worst first."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.cluster.in_memory import Bench
from tests.cli.running import ROOT, Ended, run

NO_ROOM = ROOT / "docs/snapshots/no-room.yaml"
Manifest = dict[str, Any]


def objects() -> list[Manifest]:
    loaded: list[Manifest] = yaml.load(NO_ROOM.read_text(), yaml.CSafeLoader)["items"]
    return loaded


def in_namespace(namespace: str, made: list[Manifest], **change: Any) -> list[Manifest]:
    """The same set in another namespace, with fields of its spec or status changed, and labels."""
    copies = copy.deepcopy(made)
    for each in copies:
        each["metadata"] |= {"namespace": namespace, "uid": f"{namespace}-{each['metadata'].get('uid')}"}
        for reference in each["metadata"].get("ownerReferences") or []:
            reference["uid"] = f"{namespace}-{reference.get('uid')}"
        if each["kind"] == "PodCliqueSet":
            each["metadata"]["labels"] = {"team": namespace}
            for part, fields in change.items():
                each.setdefault(part, {}).update(fields)
    return copies


def as_running(made: list[Manifest]) -> list[Manifest]:
    for each in made:
        if each["kind"] == "Pod":
            each["spec"] |= {"nodeName": "node-1", "schedulingGates": []}
            each["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    return made


@pytest.fixture
def snapshot(tmp_path: Path) -> str:
    """Four sets: one that runs, one without a place, one that serves half, and one that is held."""
    one = objects()
    made = [
        *as_running(in_namespace("runs", one)),
        *in_namespace("half", one, spec={"replicas": 1}, status={"availableReplicas": 1}),
        *in_namespace("none", one),
        *in_namespace("held", one, spec={"replicas": 2**31 - 1}),
    ]
    (tmp_path / "now.yaml").write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": made}))
    return str(tmp_path / "now.yaml")


def test_every_set_that_waits_is_a_line_the_worst_first(snapshot: str) -> None:
    ended = run("why", "-A", "--snapshot", snapshot)
    assert (ended.code, ended.err) == (1, "")
    head, *lines = (line.split() for line in ended.out.splitlines())
    assert head == ["NAMESPACE", "NAME", "READY", "FOR", "WHY"]
    assert [line[:3] for line in lines] == [["held", "chat", "0/2147483647"], ["none", "chat", "0/1"], ["half", "chat", "1/1"]]


def test_a_line_tells_the_root_cause(snapshot: str) -> None:
    held, none, _ = run("why", "-A", "--snapshot", snapshot).out.splitlines()[1:]
    assert "Held: spec.replicas: would generate more than 200000 objects" in held
    assert "Unschedulable: Pod chat-0-model-0-worker-6dk2p: default-scheduler cannot place it: 0/5 nodes" in none


def test_labels_select_sets(snapshot: str) -> None:
    told = json.loads(run("why", "-l", "team in (half,runs)", "-o", "json", "--snapshot", snapshot).out)
    assert [(one["kind"], one["namespace"], one["name"]) for one in told] == [("PodCliqueSet", "half", "chat")]
    assert told[0]["waits"] == json.loads(run("why", "chat", "-n", "half", "-o", "json", "--snapshot", snapshot).out)["waits"]


@pytest.mark.parametrize("words", [("-l", "team=runs"), ("-l", "team=nobody"), ("-A", "-l", "team=runs")], ids=" ".join)
def test_where_nothing_waits_that_is_said(words: tuple[str, ...], snapshot: str) -> None:
    assert run("why", *words, "--snapshot", snapshot) == Ended(0, "nothing waits\n", "")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "NAME is missing: specify an object, or all sets with -A or -l."),
        (("chat", "-A"), "NAME excludes -A and -l: specify one object, or all sets."),
        (("-l", "a=b=c"), "cannot parse 'a=b=c'"),
    ],
    ids=["nothing", "both", "selector"],
)
def test_a_mistake_is_named(words: tuple[str, ...], told: str) -> None:
    ended = run("why", *words, "--snapshot", str(NO_ROOM))
    assert (ended.code, ended.out) == (2, "")
    assert told in ended.err


def test_a_cluster_is_asked_in_the_same_way(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.define_ours()
    bench.cluster.seed(*in_namespace("shop", objects()))
    everywhere, here = bench.run("why", "-A"), bench.run("why", "-l", "team=shop", "-n", "shop")
    assert (everywhere.code, everywhere.err, here.code) == (1, "", 1)
    assert [line.split()[:2] for line in everywhere.out.splitlines()[1:]] == [["shop", "chat"]]
    assert [line.split()[0] for line in here.out.splitlines()] == ["NAME", "chat"]
    assert bench.run("why", "-l", "team=shop").out == "nothing waits\n"
