"""A step that is taken again: by what it was told and remembered, and by nothing else."""

from __future__ import annotations

import pytest

from grove_compiler.graph.node import ObjectRef
from grove_compiler.labels import MANAGED_BY
from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.replay.replay import record_step, replay
from grove_compiler.replay.views import RecordedAnswers
from grove_compiler.source.document import Document
from grove_compiler.step import Key, StepContext
from grove_compiler.unknown import Unknown
from tests.controller.test_autoscalers import autoscaler
from tests.features.compiling import program_with, shipped_program
from tests.replay.kept import SETTINGS, again, cluster, taken, written
from tests.step.world import NOW, key_of
from tests.suite.rows import rows

EVENT = 'rule: own/told\ndoc: Tells of each set.\nevent: Normal\nof: set.ref\nreason: Seen\nmessage: "{{ %s }}"\n'
CONFIG = {
    "apiVersion": "operator.config.grove.io/v1alpha1",
    "kind": "OperatorConfiguration",
    "topologyAwareScheduling": {"enabled": True, "levels": [{"domain": "rack", "key": "example.com/rack"}]},
    "tracing": {"endpoint": "https://name:password@collector.example"},
}


@pytest.mark.parametrize("replica", [None, 0, 1, 7])
def test_a_step_decides_the_same_again(replica: int | None) -> None:
    assert again(written(taken(replica))).is_equal


def test_so_does_one_that_gives_a_pod_another_name_than_one_that_was_deleted() -> None:
    had = [one["metadata"]["name"] for one in cluster() if one["kind"] == "Pod"]

    class WithoutPods(ObjectList):
        def deleted_names(self, *_: object) -> list[str]:
            return had

    objects = [one for one in cluster() if one["kind"] != "Pod"]
    kept = record_step(WithoutPods(objects), key_of(objects[0], 0), NOW, StepContext(shipped_program(), SETTINGS))[1]
    assert had in kept.answers.values()
    assert again(written(kept)).is_equal


def test_so_does_one_of_a_set_that_is_gone() -> None:
    kept = taken(objects=[])
    assert again(written(kept)).is_equal
    assert written(kept).decision == {"outcome": "gone", "reason": "the set does not exist"}


def test_so_does_one_of_a_topology_that_the_configuration_describes() -> None:
    config = Document(CONFIG)
    key = Key("ClusterTopology", "", "grove-topology")
    kept = record_step(ObjectList(cluster()), key, NOW, StepContext(shipped_program(), SETTINGS, config))[1]
    assert written(kept).decision["objects"]
    assert again(written(kept)).is_equal


def test_so_does_one_of_a_topology_that_the_configuration_has_no_more() -> None:
    """It is made by us if its levels are ours, and goes; one of somebody else stays."""
    levels = {"manager": "grove-operator", "operation": "Apply", "fieldsV1": {"f:spec": {"f:levels": {}}}}
    metadata = {"name": "grove-topology", "uid": "t", "generation": 1, "labels": {MANAGED_BY: "grove-operator"}, "managedFields": [levels]}
    spec = {"levels": [{"domain": "rack", "key": "example.com/rack"}]}
    topology = {"apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopology", "metadata": metadata, "spec": spec}
    kept = record_step(ObjectList([*cluster(), topology]), key_of(topology), NOW, StepContext(shipped_program(), SETTINGS))[1]
    assert "objects" not in written(kept).decision
    assert again(written(kept)).is_equal


def test_so_does_one_that_remembers_earlier_steps() -> None:
    objects = cluster()
    view, context, key = ObjectList(objects), StepContext(shipped_program(), SETTINGS), key_of(objects[0])
    for _ in range(2):
        kept = record_step(view, key, NOW, context)[1]
    assert kept.memory.findings is not None
    assert again(written(kept)).is_equal


def test_so_does_one_that_remembers_what_was_wrong_beside_an_autoscaler() -> None:
    objects = [*cluster(), autoscaler(target="demo-0-worker")]
    objects[0]["spec"]["workloadType"] = "Training"
    view, context, key = ObjectList(objects), StepContext(shipped_program(), SETTINGS), key_of(objects[0])
    for _ in range(2):
        kept = record_step(view, key, NOW, context)[1]
    assert [one.name for one in kept.memory.autoscalers] == ["own"]
    assert again(written(kept)).is_equal


def test_so_does_one_that_nobody_could_answer() -> None:
    class Unsynced(ObjectList):
        def by_label(self, *asked: str) -> list[dict[str, object]]:
            raise Unknown(f"{asked[1]} is not synced yet")

    objects = cluster()
    kept = record_step(Unsynced(objects), key_of(objects[0]), NOW, StepContext(shipped_program(), SETTINGS))[1]
    assert written(kept).decision["reason"] == "ClusterTopology is not synced yet"
    assert again(written(kept)).is_equal


def test_so_does_one_that_a_rule_fails_in() -> None:
    program = program_with(EVENT % "1 // (set.replicas|length - 2)")
    kept = taken(None, program=program)
    assert "own/told" in written(kept).decision["reason"]
    assert replay(written(kept), program).is_equal


def test_other_rules_may_decide_otherwise() -> None:
    found = replay(written(taken(None)), program_with(EVENT % "set.name"))
    assert not found.is_equal
    assert [one["reason"] for one in found.decision["events"]] == ["Seen"]


def test_what_was_not_recorded_holds_the_step_and_is_named() -> None:
    bundle = written(taken())
    bundle.answers = {question: answer for question, answer in bundle.answers.items() if question[2] != "PodClique"}
    found = again(bundle)
    assert not found.is_equal
    assert found.missing == [("get", "grove.io", "PodClique", "default", "demo-0-worker")]
    assert found.decision["reason"] == "not recorded: PodClique.grove.io default/demo-0-worker"


WORDS = {
    ("get", "", "Pod", "team", "a"): "Pod team/a",
    ("get", "grove.io", "ClusterTopology", "", "a"): "ClusterTopology.grove.io a",
    ("by_owner", "", "Pod", "grove.io/v1alpha1", "PodClique", "team", "a", "uid"): "Pod of PodClique/team/a",
    ("by_label", "", "Pod", "key", "value", "team"): "Pod with key=value in team",
    ("by_label", "", "Pod", "", "", ""): "every Pod",
    ("changes", "", "Pod", "key", "value", "team"): "changes among Pod with key=value in team",
}


@rows("question", WORDS)
def test_a_question_without_an_answer_is_told_in_words(question: tuple[str, ...]) -> None:
    view = RecordedAnswers({})
    method, group, kind, *rest = question
    asked = [ObjectRef(*rest)] if method == "by_owner" else rest
    with pytest.raises(Unknown, match=f"^not recorded: {WORDS[question]}$"):
        getattr(view, method)(group, kind, *asked)
