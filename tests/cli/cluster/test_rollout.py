"""`grove rollout`: which revisions there are, and edits that restart, hold and undo, beside the tools that own the fields."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from applier.errors import Unreachable
from applier.ref import Manifest
from applier.testing.memory.faults import MemoryRequest
from tests.suite.rows import rows

from .in_memory import Bench, Ended

GROVE = "grove.io/v1alpha1"
DEFAULTS = {"restartPolicy": "Always", "terminationGracePeriodSeconds": 30}
EDITS = ["restart", "pause", "resume", "undo"]


def pod_spec(image: str, **container: Any) -> Manifest:
    return {"containers": [{"name": "main", "image": f"registry.example/{image}", **container}]}


def chat(image: str = "app:2", **spec: Any) -> Manifest:
    """A set of two cliques, whose first one has the image."""
    cliques = [
        {"name": "front", "annotations": {"team": "a"}, "spec": {"roleName": "front", "replicas": 2, "podSpec": pod_spec(image)}},
        {"name": "back", "spec": {"roleName": "back", "replicas": 1, "podSpec": pod_spec("back:1")}},
    ]
    metadata = {"name": "chat", "namespace": "shop", "uid": "uid-chat"}
    return {
        "apiVersion": GROVE,
        "kind": "PodCliqueSet",
        "metadata": metadata,
        "spec": {"replicas": 1, "template": {"cliques": cliques}, **spec},
        "status": {"currentGenerationHash": "two", "observedGeneration": 1},
    }


def revision(number: int, hash: str, image: str, owner: str = "uid-chat", **back: Any) -> Manifest:
    """A revision as the operator records it, with defaults."""
    cliques = [
        {"name": "front", "hash": f"front-{hash}", "template": {"annotations": {"team": "a"}, "podSpec": pod_spec(image) | DEFAULTS}},
        {"name": "back", "hash": f"back-{hash}", "template": {"podSpec": pod_spec("back:1") | DEFAULTS, **back}},
    ]
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {
            "name": f"chat-{hash}",
            "namespace": "shop",
            "labels": {"app.kubernetes.io/part-of": "chat"},
            "ownerReferences": [{"apiVersion": GROVE, "kind": "PodCliqueSet", "name": "chat", "uid": owner}],
        },
        "revision": number,
        "data": {"generationHash": hash, "priorityClassName": "", "cliques": cliques},
    }


HISTORY = [revision(1, "one", "app:1"), revision(3, "two", "app:2"), revision(2, "other", "app:3", "uid-of-another-set")]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    bench.define_ours()
    bench.cluster.seed(chat(), *HISTORY)
    return bench


def rollout(bench: Bench, *words: str) -> Ended:
    return bench.run("rollout", *words, "-n", "shop")


def live(bench: Bench) -> Manifest:
    return bench.find("PodCliqueSet", "chat", group="grove.io")


def image(bench: Bench) -> str:
    return str(live(bench)["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][0]["image"])


# -- history


def test_the_history_says_what_each_revision_has_changed(bench: Bench) -> None:
    ended = rollout(bench, "history", "chat")
    assert (ended.code, ended.err) == (0, "")
    head, first, second = (line.split() for line in ended.out.splitlines())
    assert head == ["REVISION", "CURRENT", "AGE", "CHANGES"]
    assert (first[0], first[-2:]) == ("1", ["<first", "recorded>"])
    assert (second[:2], second[3:]) == (
        ["3", "*"],
        ["front:", "containers[main].image", "registry.example/app:1", "->", "registry.example/app:2"],
    )


def test_programs_get_the_history_as_well(bench: Bench) -> None:
    found = json.loads(rollout(bench, "history", "pcs/chat", "-o", "json").out)
    assert [(each["revision"], each["current"], len(each["changes"])) for each in found] == [(1, False, 0), (3, True, 1)]


def test_one_change_of_several_cliques_is_one_line(bench: Bench) -> None:
    edited = revision(4, "four", "app:2", labels={"tier": "gpu"})
    edited["data"]["cliques"][0]["template"]["labels"] = {"tier": "gpu"}
    bench.cluster.seed(edited)
    assert rollout(bench, "history", "chat").out.splitlines()[-1].endswith("front, back: labels.tier none -> gpu")


def test_lists_are_described_by_the_names_of_their_items(bench: Bench) -> None:
    edited = revision(4, "four", "app:2")
    edited["data"]["cliques"][1]["template"]["podSpec"] |= pod_spec("back:1", env=[{"name": "DEBUG", "value": "1"}])
    bench.cluster.seed(edited)
    assert rollout(bench, "history", "chat").out.splitlines()[-1].endswith("back: containers[main].env +DEBUG")


def test_a_revision_shows_its_templates(bench: Bench) -> None:
    shown = yaml.safe_load(rollout(bench, "history", "chat", "--revision", "1").out)
    assert (shown["revision"], shown["current"]) == (1, False)
    assert shown["template"]["cliques"][0] == {
        "name": "front",
        "annotations": {"team": "a"},
        "spec": {"podSpec": pod_spec("app:1") | DEFAULTS},
    }


@pytest.mark.parametrize("words", [("history", "chat", "--revision=7"), ("undo", "chat", "--to-revision=7")], ids=["history", "undo"])
def test_a_revision_that_is_not_there_is_answered_with_those_that_are(bench: Bench, words: tuple[str, ...]) -> None:
    ended = rollout(bench, *words)
    assert (ended.code, ended.err) == (2, "grove: PodCliqueSet 'chat' has no revision 7: there are 1, 3\n")


# -- undo


def test_an_undo_writes_the_templates_before_the_last_change_back_without_defaults(bench: Bench) -> None:
    ended = rollout(bench, "undo", "chat")
    assert (ended.code, ended.out, ended.err) == (0, "podcliqueset.grove.io/chat rolled back to revision 1\n", "")
    assert live(bench)["spec"] == chat("app:1")["spec"]
    assert bench.writes() == ["patch chat"]


def test_an_undo_removes_what_the_revision_did_not_have(bench: Bench) -> None:
    edited = chat("app:1")
    template = edited["spec"]["template"]
    template["cliques"][1] |= {"labels": {"tier": "gpu"}, "annotations": {"note": "b"}}
    template["priorityClassName"] = "high"
    bench.cluster.seed(edited)
    assert rollout(bench, "undo", "chat", "--to-revision", "1").code == 0
    assert live(bench)["spec"]["template"] == chat("app:1")["spec"]["template"]


def test_an_undo_leaves_numbers_of_replicas_as_they_are(bench: Bench) -> None:
    scaled = chat(replicas=5)
    scaled["spec"]["template"]["cliques"][0]["spec"]["replicas"] = 9
    bench.cluster.seed(scaled)
    rollout(bench, "undo", "chat")
    spec = live(bench)["spec"]
    assert (spec["replicas"], spec["template"]["cliques"][0]["spec"]["replicas"], image(bench)) == (5, 9, "registry.example/app:1")


def test_what_is_there_already_is_not_rolled_back(bench: Bench) -> None:
    ended = rollout(bench, "undo", "chat", "--to-revision=3")
    assert ended.out == "podcliqueset.grove.io/chat skipped rollback (current templates already match revision 3)\n"
    assert (ended.code, bench.writes()) == (0, [])


def test_an_edit_that_the_operator_has_not_seen_yet_is_undone(bench: Bench) -> None:
    bench.cluster.seed(chat("app:9"))
    assert "rolled back to revision 3" in rollout(bench, "undo", "chat").out
    assert image(bench) == "registry.example/app:2"


def test_without_an_earlier_revision_there_is_nothing_to_undo(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.define_ours()
    bench.cluster.seed(chat(), HISTORY[1])
    ended = rollout(bench, "undo", "chat")
    assert (ended.code, ended.err) == (2, "grove: PodCliqueSet 'chat' has no earlier revision to go back to\n")


def test_a_dry_run_says_what_would_change_and_changes_nothing(bench: Bench) -> None:
    client, server = rollout(bench, "undo", "chat", "--dry-run"), rollout(bench, "undo", "chat", "--dry-run=server")
    assert client.out.splitlines() == [
        "podcliqueset.grove.io/chat rolled back to revision 1 (dry run)",
        "  front: containers[main].image registry.example/app:2 -> registry.example/app:1",
    ]
    assert server.out.splitlines()[0].endswith("(server dry run)")
    assert (image(bench), bench.writes()) == ("registry.example/app:2", [])


def test_a_set_that_changes_in_between_is_read_again(bench: Bench) -> None:
    """As the status of a set does all the time during a rollout."""
    before = bench.cluster.before
    edits = iter(["first", "second"])

    async def meanwhile(request: MemoryRequest) -> None:
        await before(request)
        if request.verb == "patch" and (note := next(edits, "")):
            edited = copy.deepcopy(live(bench))
            edited["metadata"]["labels"] = {"note": note}
            bench.cluster.seed(edited)

    bench.cluster.before = meanwhile
    assert rollout(bench, "undo", "chat").code == 0
    assert (image(bench), live(bench)["metadata"]["labels"]) == ("registry.example/app:1", {"note": "second"})


# -- restart


def test_a_restart_annotates_every_template_as_kubectl_does(bench: Bench) -> None:
    assert rollout(bench, "restart", "chat").out == "podcliqueset.grove.io/chat restarted\n"
    front, back = (clique["annotations"] for clique in live(bench)["spec"]["template"]["cliques"])
    assert front.keys() == {"team", "kubectl.kubernetes.io/restartedAt"}
    assert back == {"kubectl.kubernetes.io/restartedAt": front["kubectl.kubernetes.io/restartedAt"]}
    assert bench.writes() == ["patch chat"]


def test_of_several_sets_each_is_restarted_once_that_can_be(bench: Bench) -> None:
    ended = rollout(bench, "restart", "nope", "chat", "chat")
    assert (ended.code, ended.out) == (2, "podcliqueset.grove.io/chat restarted\n")
    assert ended.err == "grove: there is no PodCliqueSet 'nope' in the namespace shop\n"


@pytest.mark.parametrize("what", [*EDITS, "status"])
def test_a_training_workload_is_not_updated(bench: Bench, what: str) -> None:
    bench.cluster.seed(chat(workloadType="Training"))
    ended = rollout(bench, what, "chat")
    assert (ended.code, ended.out, bench.writes()) == (2, "", [])
    assert "'chat' is a training workload, whose pods are never updated" in ended.err
    assert "grove job restart chat" in ended.err


# -- pause and resume


@pytest.mark.parametrize("strategy", [{}, {"updateStrategy": {"type": "RollingRecreate"}}], ids=["none", "declared"])
def test_a_pause_holds_the_rollout_and_a_resume_puts_back_what_was_there(bench: Bench, strategy: Manifest) -> None:
    bench.cluster.seed(chat(**strategy))
    paused = rollout(bench, "pause", "chat")
    assert (paused.code, paused.out) == (0, "podcliqueset.grove.io/chat paused\n")
    assert "pods that are deleted or added meanwhile get the new template" in paused.err
    assert live(bench)["spec"]["updateStrategy"] == {"type": "OnDelete"}
    assert rollout(bench, "pause", "chat").out == "podcliqueset.grove.io/chat already paused\n"
    assert rollout(bench, "resume", "chat").out == "podcliqueset.grove.io/chat resumed\n"
    assert live(bench)["spec"] == chat(**strategy)["spec"]
    assert not live(bench)["metadata"].get("annotations")
    assert rollout(bench, "resume", "chat").out == "podcliqueset.grove.io/chat is not paused\n"


def test_a_pause_keeps_other_annotations(bench: Bench) -> None:
    annotated = chat()
    annotated["metadata"]["annotations"] = {"owner": "us"}
    bench.cluster.seed(annotated)
    rollout(bench, "pause", "chat")
    rollout(bench, "resume", "chat")
    assert live(bench)["metadata"]["annotations"] == {"owner": "us"}


def test_on_delete_that_was_declared_is_not_ended_by_a_resume(bench: Bench) -> None:
    bench.cluster.seed(chat(updateStrategy={"type": "OnDelete"}))
    ended = rollout(bench, "resume", "chat")
    assert (ended.code, bench.writes()) == (2, [])
    assert "change spec.updateStrategy in its manifest" in ended.err


def test_a_broken_record_of_the_strategy_is_the_default(bench: Bench) -> None:
    broken = chat(updateStrategy={"type": "OnDelete"})
    broken["metadata"]["annotations"] = {"grove.io/rollout-paused": "{"}
    bench.cluster.seed(broken)
    assert rollout(bench, "resume", "chat").code == 0
    assert live(bench)["spec"] == chat()["spec"]


def test_a_strategy_that_was_changed_since_the_pause_stays(bench: Bench) -> None:
    changed = chat(updateStrategy={"type": "RollingRecreate"})
    changed["metadata"]["annotations"] = {"grove.io/rollout-paused": "null"}
    bench.cluster.seed(changed)
    assert rollout(bench, "resume", "chat").code == 0
    assert live(bench)["spec"] == changed["spec"]
    assert "grove.io/rollout-paused" not in live(bench)["metadata"].get("annotations", {})


def test_a_paused_rollout_is_resumed_before_a_restart(bench: Bench) -> None:
    rollout(bench, "pause", "chat")
    ended = rollout(bench, "restart", "chat")
    assert (ended.code, "is paused; resume it first: grove rollout resume chat\n" in ended.err) == (2, True)


HELD = {"type": "Stalled", "status": "True", "reason": "Held", "message": "spec.replicas: wrong"}


@pytest.mark.parametrize("what", ["restart", "pause"])
def test_of_a_set_whose_edit_is_held_it_is_said_that_nothing_happens_yet(bench: Bench, what: str) -> None:
    held = chat()
    bench.cluster.seed({**held, "status": {**held["status"], "conditions": [HELD]}})
    ended = rollout(bench, what, "chat")
    assert (ended.code, "its spec has errors, and this takes effect once they are fixed: grove why chat\n" in ended.err) == (0, True)


def test_an_undo_may_be_what_fixes_a_set_whose_edit_is_held(bench: Bench) -> None:
    held = chat()
    bench.cluster.seed({**held, "status": {**held["status"], "conditions": [HELD]}})
    ended = rollout(bench, "undo", "chat")
    assert (ended.code, "its spec had errors, and this takes effect once none is left: grove why chat\n" in ended.err) == (0, True)


def test_an_undo_says_that_pods_wait_for_their_deletion(bench: Bench) -> None:
    bench.cluster.seed(chat(updateStrategy={"type": "OnDelete"}))
    ended = rollout(bench, "undo", "chat")
    assert (ended.code, "its updateStrategy is OnDelete" in ended.err) == (0, True)


# -- beside the tools that own the fields

TOOLS = {
    "kubectl-client-side-apply": "kubectl apply owns",
    "helm": "Helm owns",
    "argocd-controller": "Argo CD owns",
}


@rows("manager", TOOLS)
def test_what_a_tool_owns_is_changed_with_force_only(manager: str, tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.define_ours()
    bench.cluster.seed(chat(), manager=manager)
    bench.cluster.seed(*HISTORY)
    ended = rollout(bench, "undo", "chat")
    assert (ended.code, ended.out, bench.writes()) == (1, "", [])
    assert TOOLS[manager] in ended.err
    assert "restores its own values" in ended.err
    assert "use --force" in ended.err
    assert rollout(bench, "undo", "chat", "--force").code == 0
    assert image(bench) == "registry.example/app:1"


def test_what_a_person_has_edited_needs_no_force(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.define_ours()
    bench.cluster.seed(chat(), manager="kubectl-edit")
    bench.cluster.seed(*HISTORY)
    assert rollout(bench, "undo", "chat").code == 0


def test_a_strategy_that_no_tool_declares_is_ours_to_set(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.define_ours()
    bench.cluster.seed(chat(), manager="argocd-controller")
    assert rollout(bench, "pause", "chat").code == 0


@pytest.mark.parametrize("what", ["status", "history", *EDITS])
def test_what_is_not_there_is_said_to_be_missing(bench: Bench, what: str) -> None:
    ended = rollout(bench, what, "nope")
    assert (ended.code, ended.err) == (2, "grove: there is no PodCliqueSet 'nope' in the namespace shop\n")


# -- completed


def test_sets_and_their_revisions_are_offered(bench: Bench) -> None:
    other = chat()
    other["metadata"] = {"name": "other", "namespace": "shop"}
    bench.cluster.seed(other)
    where = ("rollout", "restart", "-n", "shop")
    assert (bench.completed(*where, ""), bench.completed(*where, "o")) == (["chat", "other"], ["other"])
    assert bench.completed(*where, "chat", "") == ["other"]
    assert bench.completed("rollout", "undo", "-n", "shop", "chat", "--to-revision", "") == ["1", "3"]
    assert bench.completed("logs", "-n", "shop", "chat", "--clique", "b") == ["back"]


def test_nothing_is_offered_of_a_set_that_is_not_there_or_a_server_that_fails(bench: Bench) -> None:
    assert bench.completed("rollout", "history", "-n", "shop", "nope", "--revision", "") == []
    bench.cluster.fail(lambda _: True, Unreachable("down"), times=-1)
    assert bench.completed("rollout", "restart", "-n", "shop", "") == []
