"""The preview of an edit's effects in the warnings of a response: at most three lines, within a share of the time."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest

from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.unknown import Unknown
from grove_operator.webhooks import effects
from grove_operator.webhooks.effects import TOO_LARGE, EffectsPreview
from grove_operator.webhooks.review import MAX_WARNING_LENGTH, Reviewer
from grove_operator.webhooks.share import Share
from tests.webhooks.conftest import Manifest, asked


@pytest.fixture
def serving(workload: Manifest) -> Manifest:
    """A router with two pods, and a model of which two replicas exist, each on eight GPUs."""
    box = {"name": "engine", "image": "engine:1", "resources": {"limits": {"nvidia.com/gpu": 8}}}
    worker = {"name": "worker", "spec": {"roleName": "worker", "replicas": 1, "podSpec": {"containers": [box]}}}
    workload["spec"]["template"]["cliques"][0]["name"] = "router"
    workload["spec"]["template"]["cliques"][0]["spec"]["roleName"] = "router"
    workload["spec"]["template"]["cliques"].append(worker)
    workload["spec"]["template"]["podCliqueScalingGroups"] = [{"name": "model", "cliqueNames": ["worker"], "replicas": 2}]
    return workload


def warnings_of(judge: Reviewer, old: Manifest, change: Callable[[Manifest], None], *existing: Manifest) -> list[str]:
    """Returns the warnings of an update."""
    new = copy.deepcopy(old)
    change(new)
    reviewer = Reviewer(judge.context, ObjectList(existing) if existing else None, EffectsPreview())
    response = reviewer.validate(asked("UPDATE", new, old))["response"]
    assert response["allowed"]
    warnings: list[str] = response.get("warnings", [])
    return warnings


def new_image(clique: int) -> Callable[[Manifest], None]:
    def change(set: Manifest) -> None:
        set["spec"]["template"]["cliques"][clique]["spec"]["podSpec"]["containers"][0]["image"] = "engine:2"

    return change


def more_replicas(set: Manifest) -> None:
    set["spec"]["replicas"] = 2


def more_group_replicas(set: Manifest) -> None:
    set["spec"]["template"]["podCliqueScalingGroups"][0]["replicas"] = 3


def on_delete(set: Manifest) -> None:
    new_image(0)(set)
    set["spec"]["updateStrategy"] = {"type": "OnDelete"}


def nothing(set: Manifest) -> None:
    set["metadata"]["annotations"] = {"note": "mine"}


def test_a_new_image_of_a_clique_restarts_its_pods(judge: Reviewer, serving: Manifest) -> None:
    assert warnings_of(judge, serving, new_image(0)) == [
        "this edit: pods: 2 restarted; gangs: 1 restarted",
        "this edit: objects changed 1: 1 PodClique",
        "restarts: replica 0: 2 pods of chat-0-router",
    ]


def test_a_new_image_in_a_scaling_group_replaces_its_replicas_one_after_the_other(judge: Reviewer, serving: Manifest) -> None:
    assert warnings_of(judge, serving, new_image(1)) == [
        "this edit: pods: 2 restarted; GPUs: 16 restarted; gangs: 2 restarted",
        "this edit: objects changed 2: 2 PodClique",
        "restarts: replica 0: chat-0-model (replicas 0, 1 one after the other, each as a whole)",
    ]


def test_replicas_of_the_set_restart_one_after_the_other(judge: Reviewer, serving: Manifest) -> None:
    serving["spec"]["replicas"] = 3
    assert warnings_of(judge, serving, new_image(0))[2] == "restarts: replica 0: 2 pods of chat-0-router, then 2 replicas alike"


def test_more_replicas_make_pods_and_restart_none(judge: Reviewer, serving: Manifest) -> None:
    warnings = warnings_of(judge, serving, more_replicas)
    assert warnings[0] == "this edit: pods: 4 made; GPUs: 16 made; gangs: 2 made"
    assert not any(line.startswith("restarts") for line in warnings)


def test_what_exists_counts_and_not_what_is_declared(judge: Reviewer, serving: Manifest) -> None:
    labels = {"app.kubernetes.io/part-of": "chat"}
    metadata = {"name": "chat-0-model", "namespace": "team", "labels": labels}
    scaled = {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueScalingGroup", "metadata": metadata, "spec": {"replicas": 5}}
    assert warnings_of(judge, serving, new_image(1), scaled)[0] == "this edit: pods: 5 restarted; GPUs: 40 restarted; gangs: 5 restarted"


def test_an_edit_that_changes_no_existing_object_says_why(judge: Reviewer, serving: Manifest) -> None:
    metadata = {"name": "chat-0-model", "namespace": "team", "labels": {"app.kubernetes.io/part-of": "chat"}}
    there = {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueScalingGroup", "metadata": metadata, "spec": {"replicas": 2}}
    (warning,) = warnings_of(judge, serving, more_group_replicas, there)
    assert warning.startswith("unchanged: spec.replicas of PodCliqueScalingGroup chat-0-model: existing objects keep their number")


def test_what_cannot_be_read_for_the_preview_blocks_no_edit(judge: Reviewer, serving: Manifest, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreadable(*_: object, **__: object) -> None:
        raise Unknown("PodCliques are not listed yet")

    monkeypatch.setattr(effects, "impact", unreadable)
    assert warnings_of(judge, serving, new_image(0)) == ["the effects of this edit are not known: PodCliques are not listed yet"]


def test_with_on_delete_no_pod_restarts_by_itself(judge: Reviewer, serving: Manifest) -> None:
    assert warnings_of(judge, serving, on_delete)[-1].startswith("restarts: none (OnDelete)")


def test_an_edit_without_effect_has_no_warning(judge: Reviewer, serving: Manifest) -> None:
    warnings = warnings_of(judge, serving, nothing)
    assert [line for line in warnings if "pods:" in line] == []


def test_a_new_set_has_no_preview(judge: Reviewer, serving: Manifest) -> None:
    reviewer = Reviewer(judge.context, preview=EffectsPreview())
    assert "warnings" not in reviewer.validate(asked("CREATE", serving))["response"]


def test_an_edit_that_is_refused_is_not_warnings_of(judge: Reviewer, serving: Manifest) -> None:
    edited = copy.deepcopy(serving)
    edited["spec"]["template"]["cliques"][0]["name"] = "other"
    response = Reviewer(judge.context, preview=EffectsPreview()).validate(asked("UPDATE", edited, serving))["response"]
    assert (response["allowed"], "warnings" in response) == (False, False)


@pytest.mark.parametrize("replicas", [200, 2**31 - 1])
def test_a_large_set_is_not_compiled(replicas: int, judge: Reviewer, serving: Manifest) -> None:
    serving["spec"]["replicas"] = replicas
    new = copy.deepcopy(serving)
    new_image(0)(new)
    settings = judge.context.settings
    assert EffectsPreview().lines(serving, new, None, judge.context, settings) == [TOO_LARGE]


def test_lines_are_no_longer_than_an_api_server_passes_on(judge: Reviewer, serving: Manifest) -> None:
    serving["spec"]["template"]["podCliqueScalingGroups"][0]["replicas"] = 90
    assert all(len(line) <= MAX_WARNING_LENGTH for line in warnings_of(judge, serving, new_image(1)))


def test_frequent_edits_are_previewed_within_a_share_of_the_time(judge: Reviewer, serving: Manifest) -> None:
    ticks = iter([0.0, 0.0, 1.0, 1.5, 3.9, 4.1, 4.1, 5.0])
    preview = EffectsPreview(Share(lambda: next(ticks)))
    new = copy.deepcopy(serving)
    new_image(0)(new)
    previewed = [bool(preview.lines(serving, new, None, judge.context, judge.context.settings)) for _ in range(4)]
    assert previewed == [True, False, False, True]


def test_a_bug_in_the_preview_blocks_no_edit(judge: Reviewer, serving: Manifest, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(effects, "impact", broken)
    assert warnings_of(judge, serving, new_image(0)) == ["the effects of this edit could not be computed: ZeroDivisionError"]
