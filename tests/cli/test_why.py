"""`grove why` on recorded objects: what it prints, for whom, and with which exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.cli.running import ROOT, Ended, run

NO_ROOM = ROOT / "docs/snapshots/no-room.yaml"
POD = "chat-0-model-1-worker-x8b4m"


def why(*arguments: str, snapshot: Path = NO_ROOM) -> Ended:
    return run("why", *arguments, "--snapshot", str(snapshot))


def test_a_pod_is_told_down_to_the_last_cause() -> None:
    ended = why(f"pod/{POD}")
    assert (ended.code, ended.err) == (1, "")
    assert "Unschedulable: default-scheduler cannot place it" in ended.out.splitlines()[4]


def test_a_set_needs_no_kind() -> None:
    assert why("chat") == why("pcs/chat") == why("PodCliqueSets/chat")


def test_programs_get_the_same_as_json() -> None:
    report = json.loads(why(f"pod/{POD}", "-o", "json").out)
    assert (report["kind"], report["name"]) == ("Pod", POD)
    waits, reasons = report["waits"], []
    while waits:
        [one] = waits
        reasons.append((one["reason"], one.get("for", "").rpartition("/")[2]))
        waits = one.get("waits", [])
    assert reasons == [
        ("BaseGangNotScheduled", "chat-0"),
        ("PodsNotScheduled", "chat-0-model-0-worker"),
        ("PodNotReady", "chat-0-model-0-worker-6dk2p"),
        ("Unschedulable", ""),
    ]


def test_what_waits_for_nothing_says_so(tmp_path: Path) -> None:
    objects = yaml.load(NO_ROOM.read_text(), yaml.CSafeLoader)
    for one in objects["items"]:
        if one["kind"] == "Pod":
            one["spec"] |= {"nodeName": "node-1", "schedulingGates": []}
            one["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    (tmp_path / "now.yaml").write_text(yaml.safe_dump(objects))
    assert why("pg/chat-0", snapshot=tmp_path / "now.yaml") == Ended(0, "PodGang chat-0 waits for nothing\n", "")


@pytest.mark.parametrize("namespace", ["", "team"])
def test_what_a_compilation_prints_can_be_asked_about_beside_its_set(namespace: str, tmp_path: Path) -> None:
    """Its objects, and the owners that they name, have UIDs no more than the set."""
    declared = yaml.load((ROOT / "examples/minimal.yaml").read_text(), yaml.CSafeLoader)
    declared["metadata"] |= {"namespace": namespace} if namespace else {}
    (tmp_path / "set.yaml").write_text(yaml.safe_dump(declared))
    made = run("compile", str(tmp_path / "set.yaml"), "--pods", "-o", "yaml").out
    (tmp_path / "now.yaml").write_text(f"{yaml.safe_dump(declared)}\n---\n{made}")
    asked = why("minimal", *(["-n", namespace] if namespace else []), snapshot=tmp_path / "now.yaml")
    reasons = [line.split("─ ")[-1].partition(":")[0] for line in asked.out.splitlines()[1:4]]
    assert reasons == ["CliqueNotReady", "PodNotReady", "GateNotLifted"]


WRONG = {
    "pod/none": "there is no Pod 'none'",
    "svc/chat": "'svc' is not a kind that can wait: expected one of PodCliqueSet, PodCliqueScalingGroup, PodClique, PodGang, Pod",
    "pod/": "'pod/' is not an object: expected NAME or KIND/NAME",
}


@pytest.mark.parametrize(("words", "told"), WRONG.items(), ids=WRONG)
def test_what_is_not_there_is_an_error(words: str, told: str) -> None:
    ended = why(words)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == f"grove: {told}\n"


def test_an_object_in_another_namespace_is_not_there() -> None:
    assert why("chat", "-n", "other").err == "grove: there is no PodCliqueSet 'chat' in the namespace other\n"


def test_of_several_objects_of_one_name_people_have_to_choose(tmp_path: Path) -> None:
    objects = yaml.load(NO_ROOM.read_text(), yaml.CSafeLoader)
    twin = json.loads(json.dumps(objects["items"][0]))
    twin["metadata"] |= {"namespace": "team-a", "uid": "another"}
    objects["items"].append(twin)
    (tmp_path / "now.yaml").write_text(yaml.safe_dump(objects))
    ended = why("chat", snapshot=tmp_path / "now.yaml")
    assert (ended.code, ended.err) == (2, "grove: there are several PodCliqueSets 'chat': choose one with -n team-b or -n team-a\n")
    assert why("chat", "-n", "team-b", snapshot=tmp_path / "now.yaml").code == 1


def test_a_pod_of_no_set_is_told_as_such(tmp_path: Path) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "alone", "namespace": "team-b"}, "spec": {}}
    (tmp_path / "now.yaml").write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": [pod]}))
    assert why("pod/alone", snapshot=tmp_path / "now.yaml").err == "grove: Pod 'alone' belongs to no existing PodCliqueSet\n"


@pytest.mark.parametrize("text", ["", "kind: [", "apiVersion: v1\nkind: List\nitems: [{kind: Pod}]\n"])
def test_a_file_that_holds_no_objects_is_told_of(tmp_path: Path, text: str) -> None:
    (tmp_path / "now.yaml").write_text(text)
    ended = why("chat", snapshot=tmp_path / "now.yaml")
    assert (ended.code, ended.out) == (2, "")
    assert "internal error" not in ended.err


def test_a_rule_of_a_user_tells_a_reason_of_its_own(tmp_path: Path) -> None:
    rule = "rule: why/own\ndoc: Teams approve sets.\nwait: Approval\nof: set.ref\nmessage: the team has to approve\n"
    (tmp_path / "own.yaml").write_text(rule)
    assert "├─ Approval: the team has to approve\n" in why("chat", "--rules", str(tmp_path)).out


def test_a_set_of_more_replicas_than_there_can_be_is_held(tmp_path: Path) -> None:
    manifest = yaml.load((ROOT / "examples/minimal.yaml").read_text(), yaml.CSafeLoader)
    manifest["spec"]["replicas"] = 2**31 - 1
    (tmp_path / "now.yaml").write_text(yaml.safe_dump(manifest))
    assert "Held: spec.replicas: would generate more than 200000 objects" in why("minimal", snapshot=tmp_path / "now.yaml").out
