"""`grove describe`: what there is to know about an object, on one page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from applier.ref import Manifest

from ..running import ROOT, run
from .in_memory import Bench

NO_ROOM = str(ROOT / "docs/snapshots/no-room.yaml")
RESTARTED = str(ROOT / "docs/snapshots/restarted-job.yaml")


def sections(text: str) -> dict[str, list[str]]:
    """The lines below each title, or what stands beside it."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line[:1] not in (" ", ""):
            title, _, beside = line.partition(":")
            found[title] = [beside.strip()] if beside.strip() else []
        else:
            found[title].append(line.strip())
    return found


def described(name: str, snapshot: str = NO_ROOM, *words: str) -> dict[str, list[str]]:
    ended = run("describe", name, "--snapshot", snapshot, *words)
    assert (ended.code, ended.err) == (0, "")
    return sections(ended.out)


def test_the_page_has_its_sections_in_order() -> None:
    assert [*described("chat")] == [
        "Name", "Namespace", "Kind", "Labels", "Annotations", "Created",
        "Spec", "Status", "Conditions", "Objects", "Waits for", "Events", "Revisions",
    ]  # fmt: skip


def test_programs_get_the_page_as_one_document() -> None:
    told = json.loads(run("describe", "llama-sft", "--snapshot", RESTARTED, "-o", "json").out)
    assert [*told] == ["apiVersion", "kind", "metadata", "spec", "status", "objects", "waits", "events", "revisions"]
    assert (told["spec"]["trainingSpec"]["maxRestarts"], told["status"]["phase"]) == (2, "Succeeded")
    assert [event["reason"] for event in told["events"]] == ["RestartWaits"]
    assert yaml.safe_load(run("describe", "llama-sft", "--snapshot", RESTARTED, "-o", "yaml").out) == told


def test_the_document_says_what_a_part_owns_and_waits_for() -> None:
    told = json.loads(run("describe", "pg/chat-0", "--snapshot", NO_ROOM, "-o", "json").out)
    assert "revisions" not in told
    assert told["waits"][0]["reason"]
    assert json.loads(run("describe", "chat", "--snapshot", NO_ROOM, "-o", "json").out)["objects"] == []


def test_a_spec_is_told_in_short() -> None:
    spec = [line.split() for line in described("chat")["Spec"]]
    assert spec == [
        ["replicas:", "1"],
        ["Cliques:"],
        ["NAME", "REPLICAS", "MIN", "GPUS", "IMAGE"],
        ["worker", "1", "1", "0", "registry.example.com/server:1"],
        ["Scaling", "groups:"],
        ["NAME", "REPLICAS", "MIN", "CLIQUES"],
        ["model", "2", "1", "worker"],
    ]


def test_what_kubectl_apply_has_recorded_is_left_out(tmp_path: Path) -> None:
    recorded = {"kubectl.kubernetes.io/last-applied-configuration": "{}" * 2000, "team": "ml"}
    pcs = {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": {"name": "chat", "annotations": recorded}}
    (tmp_path / "now.json").write_text(json.dumps(pcs | {"spec": {"replicas": 1, "template": {"cliques": []}}}))
    assert described("chat", str(tmp_path / "now.json"))["Annotations"] == ["team=ml"]


def test_nested_fields_are_told_with_their_paths() -> None:
    assert "trainingSpec.maxRestarts: 2" in described("llama-sft", RESTARTED)["Spec"]


def test_the_status_is_told_by_its_facts_and_fields() -> None:
    status = described("llama-sft", RESTARTED)["Status"]
    assert status[0] == "0/1 available; Succeeded; attempt 2; 1 of 2 restarts spent"
    assert "completionTime: 2026-01-01T10:05:30Z" in status


def test_conditions_are_a_table() -> None:
    head, line = described("pg/chat-0")["Conditions"]
    assert head.split() == ["TYPE", "STATUS", "SINCE", "REASON", "MESSAGE"]
    assert line.split()[:2] + line.split()[3:] == ["Initialized", "True", "Ready", "PodGang", "is", "ready"]


@pytest.mark.parametrize("name", ["chat", "pcs/chat", "pg/chat-0", "pod/chat-0-model-1-worker-x8b4m"])
def test_waits_are_those_of_grove_why(name: str) -> None:
    told = run("why", name, "--snapshot", NO_ROOM).out.splitlines()[1:]
    assert described(name)["Waits for"] == [line.strip() for line in told]


def test_events_are_those_of_grove_events() -> None:
    told = run("events", "llama-sft", "-n", "research", "--snapshot", RESTARTED).out.splitlines()
    assert described("llama-sft", RESTARTED)["Events"] == told


def test_what_is_not_there_is_none() -> None:
    page = described("llama-sft", RESTARTED)
    assert (page["Waits for"], page["Conditions"], page["Labels"]) == (["<none>"], ["<none>"], ["<none>"])


WRONG = {
    "nope": "grove: there is no PodCliqueSet 'nope'\n",
    "svc/chat": "grove: 'svc' is not a kind that can wait: expected one of PodCliqueSet,",
    "pod/": "grove: 'pod/' is not an object: expected NAME or KIND/NAME\n",
}


@pytest.mark.parametrize(("name", "told"), WRONG.items(), ids=WRONG)
def test_what_does_not_exist_is_an_error(name: str, told: str) -> None:
    ended = run("describe", name, "--snapshot", NO_ROOM)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(told)


def owned(kind: str, name: str, api: str, **rest: Any) -> Manifest:
    owner = {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "name": "qwen", "uid": "uid-qwen", "controller": True}
    labels = {"app.kubernetes.io/part-of": "qwen", "app.kubernetes.io/managed-by": "grove-operator"}
    metadata = {"name": name, "namespace": "shop", "uid": f"uid-{name}", "ownerReferences": [owner], "labels": labels}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **rest}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    bench.define_ours()
    template = {
        "cliques": [{"name": "a", "spec": {"roleName": "a", "replicas": 1, "podSpec": {"containers": [{"name": "main", "image": "x"}]}}}]
    }
    set = {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": {"name": "qwen", "namespace": "shop", "uid": "uid-qwen"}}
    revisions = [owned("ControllerRevision", f"qwen-{number}", "apps/v1", revision=number, data={}) for number in (9, 10)]
    bench.cluster.seed({**set, "spec": {"replicas": 1, "template": template}}, *revisions)
    bench.cluster.seed(owned("PodClique", "qwen-0-a", "grove.io/v1alpha1", spec={"replicas": 1, "roleName": "a", "podSpec": {}}))
    return bench


def test_revisions_and_owned_objects_of_a_cluster_are_told(bench: Bench) -> None:
    ended = bench.run("describe", "qwen", "-n", "shop")
    assert (ended.code, ended.err) == (0, "")
    page = sections(ended.out)
    assert [line.split()[0::2] for line in page["Revisions"]] == [["REVISION", "NAME"], ["10", "qwen-10"], ["9", "qwen-9"]]
    assert page["Revisions"][1].endswith("qwen-10 (current)")
    assert [line.split() for line in page["Objects"]] == [
        ["KIND", "COUNT", "READY"], ["PodClique", "1", "0"], ["ControllerRevision", "2", "2"],
    ]  # fmt: skip


def test_an_object_cannot_change_the_screen(bench: Bench) -> None:
    clique = bench.find("PodClique", "qwen-0-a", group="grove.io")
    condition = {"type": "Odd", "status": "True", "reason": "Red", "message": "\x1b[31mred"}
    bench.cluster.seed(
        {**clique, "metadata": {**clique["metadata"], "annotations": {"note": "\x1b[2J"}}, "status": {"conditions": [condition]}}
    )
    ended = bench.run("describe", "pclq/qwen-0-a", "-n", "shop")
    assert ended.code == 0
    assert "\x1b" not in ended.out and "\\x1b[31mred" in ended.out
