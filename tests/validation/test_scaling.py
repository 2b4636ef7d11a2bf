"""What admission says to the scale subresources of a set, of its scaling groups and of its cliques."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_cli import rulebook
from grove_compiler.compile import VOCABULARY
from grove_compiler.engine.runtime.program import Program
from grove_compiler.scale import Scaling, judge_scaling
from tests.suite.rows import rows

from .sets import clique, group

OBJECTS = [
    ("PodCliqueSet", "job"),
    ("PodCliqueScalingGroup", "job-1-ranks"),
    ("PodClique", "job-0-launcher"),
    ("PodClique", "job-1-ranks-2-worker"),
]
DECLARED = {"PodCliqueSet": 2, "PodCliqueScalingGroup": 3}


def manifest(**spec: Any) -> dict[str, Any]:
    template = {"cliques": [clique("launcher"), clique("worker", 4)], "podCliqueScalingGroups": [group("ranks", ["worker"], 3)]}
    metadata = {"name": "job", "namespace": "ml"}
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": metadata,
        "spec": {"replicas": 2, "template": template, **spec},
    }


TRAINING = manifest(workloadType="Training")


def declared(kind: str, name: str) -> int:
    return DECLARED.get(kind) or (4 if name.endswith("worker") else 1)


@rows(("kind", "name"), OBJECTS)
@rows("by", [-1, 1, 100])
def test_no_object_of_a_training_workload_can_be_scaled(kind: str, name: str, by: int, program: Program) -> None:
    findings = judge_scaling(Scaling(kind, name, declared(kind, name) + by), TRAINING, program)
    assert [(finding.path, finding.type, finding.severity) for finding in findings] == [("spec.replicas", "Forbidden", "error")]
    assert findings[0].message.startswith("field is immutable: the replicas of a training workload cannot change once it exists")


@pytest.mark.parametrize(("kind", "name"), OBJECTS)
def test_the_number_that_is_declared_is_never_objected_to(kind: str, name: str, program: Program) -> None:
    assert judge_scaling(Scaling(kind, name, declared(kind, name)), TRAINING, program) == []


@rows(("kind", "name"), OBJECTS)
@rows("spec", [{}, {"workloadType": "Inference"}], ids=["by default", "by its word"])
@rows("replicas", [0, 1, 2, 50])
def test_a_service_may_be_scaled_to_any_number(kind: str, name: str, spec: dict[str, Any], replicas: int, program: Program) -> None:
    assert judge_scaling(Scaling(kind, name, replicas), manifest(**spec), program) == []


def test_the_message_names_the_number_there_is_and_the_field_of_the_set(program: Program) -> None:
    finding = judge_scaling(Scaling("PodClique", "job-1-ranks-2-worker", 5), TRAINING, program)[0]
    assert 'clique "worker" has 4 (spec.template.cliques[1].spec.replicas of the PodCliqueSet ml/job)' in finding.message
    assert (finding.value, finding.code) == (5, "validate/update-training-clique-replicas")


def test_the_set_itself_is_not_named_as_its_own_owner(program: Program) -> None:
    assert judge_scaling(Scaling("PodCliqueSet", "job", 5), TRAINING, program)[0].message.endswith("it has 2")


@pytest.mark.parametrize(("kind", "name"), [("PodClique", "job-0-other"), ("PodCliqueScalingGroup", "other-0-ranks"), ("PodGang", "job-0")])
def test_what_is_no_child_of_the_set_is_not_judged(kind: str, name: str, program: Program) -> None:
    assert judge_scaling(Scaling(kind, name, 9), TRAINING, program) == []


def test_a_set_that_was_never_defaulted_is_judged_as_admission_would_store_it(program: Program) -> None:
    bare = manifest(workloadType="Training")
    bare["spec"]["template"]["cliques"][0]["spec"] = {"replicas": 0, "podSpec": {"containers": [{"name": "c", "image": "i"}]}}
    assert judge_scaling(Scaling("PodClique", "job-0-launcher", 1), bare, program) == []
    assert [finding.value for finding in judge_scaling(Scaling("PodClique", "job-0-launcher", 2), bare, program)] == [2]


def test_the_owner_is_left_as_it_is(program: Program) -> None:
    owner = manifest(workloadType="Training")
    judge_scaling(Scaling("PodClique", "job-0-launcher", 9), owner, program)
    assert owner == manifest(workloadType="Training")


def test_an_update_rule_of_the_user_judges_scaling_too() -> None:
    mine = """\
rule: team/slowly
doc: Routers are not more than doubled at once.
validate: update
forEach: {clique: set.cliques}
let: {former: "old_clique(old, clique)"}
assert: clique.replicas <= 2 * former.replicas
path: "{{ clique.path }}.spec.replicas"
message: "at most {{ 2 * former.replicas }} at once"
"""
    program = rulebook.read().build(VOCABULARY)
    with_mine = rulebook.Rulebook(
        (*rulebook.read().files, rulebook.RulebookFile("rules/team.yaml", "team.yaml", "team", mine.encode()))
    ).build(VOCABULARY)
    assert "team/slowly" not in [rule.id for rule in program.rules]
    scaling = Scaling("PodClique", "job-0-launcher", 3)
    assert judge_scaling(scaling, manifest(), program) == []
    assert [finding.message.partition(" (")[0] for finding in judge_scaling(scaling, manifest(), with_mine)] == ["at most 2 at once"]


@given(st.sampled_from(OBJECTS), st.integers(0, 10**6))
def test_a_training_workload_accepts_exactly_one_number(program: Program, object: tuple[str, str], replicas: int) -> None:
    accepted = judge_scaling(Scaling(*object, replicas), TRAINING, program) == []
    assert accepted == (replicas == declared(*object))
