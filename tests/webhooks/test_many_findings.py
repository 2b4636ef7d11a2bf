"""A set with very many mistakes is refused with the first of them: what an answer costs is bounded, whatever somebody sends."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from grove_compiler.compile import Inputs, lint
from grove_compiler.engine.runtime.program import Program
from grove_compiler.graph.diagnostic import MAX_FINDINGS, Diagnostic
from grove_compiler.kube.structure_findings import MAX_ITEMS
from grove_compiler.source.document import Document
from grove_operator.webhooks.review import MAX_ERRORS, Reviewer

from .conftest import Manifest, asked

MILLION = 1_000_000
Damage = Callable[[Manifest, int], Any]


def template(manifest: Manifest) -> Manifest:
    made: Manifest = manifest["spec"]["template"]
    return made


def pod_spec(manifest: Manifest) -> Manifest:
    made: Manifest = template(manifest)["cliques"][0]["spec"]["podSpec"]
    return made


def group_of(names: list[Any]) -> list[Manifest]:
    return [{"name": "g", "cliqueNames": names}]


DAMAGES: dict[str, Damage] = {
    "cliques that are numbers": lambda one, number: template(one).update(cliques=[1] * number),
    "cliques without a name": lambda one, number: template(one).update(cliques=[{}] * number),
    "unknown fields of cliques": lambda one, number: template(one).update(cliques=[{"x": 1}] * number),
    "containers without a name": lambda one, number: pod_spec(one).update(containers=[{}] * number),
    "variables without a name": lambda one, number: pod_spec(one)["containers"][0].update(env=[{"name": ""}] * number),
    "members that there are not": lambda one, number: template(one).update(podCliqueScalingGroups=group_of(["x"] * number)),
    "groups without members": lambda one, number: template(one).update(podCliqueScalingGroups=[{"name": "g"}] * number),
    "unknown fields": lambda one, number: one["spec"].update({f"x{index}": 1 for index in range(number)}),
    "labels": lambda one, number: one["metadata"].update(labels={f"{index}!": "!" for index in range(number)}),
}


def damaged(workload: Manifest, what: str, number: int) -> Manifest:
    made = copy.deepcopy(workload)
    DAMAGES[what](made, number)
    return made


def found(manifest: Manifest, program: Program) -> list[Diagnostic]:
    return [one for one in lint(Inputs([Document(manifest)]), program) if one.severity == "error"]


@pytest.mark.parametrize("number", [MAX_FINDINGS * 2, MAX_ITEMS, MILLION])
@pytest.mark.parametrize("what", DAMAGES)
def test_it_is_refused_with_the_first_mistakes(judge: Reviewer, workload: Manifest, what: str, number: int) -> None:
    response = judge.validate(asked("CREATE", damaged(workload, what, number)))["response"]
    assert not response["allowed"]
    assert len(json.dumps(response)) < 100_000
    assert len(response["status"]["details"]["causes"]) <= MAX_ERRORS + 1


@pytest.mark.parametrize("what", DAMAGES)
def test_nothing_more_is_looked_at_once_there_is_enough(program: Program, workload: Manifest, what: str) -> None:
    errors = found(damaged(workload, what, MAX_ITEMS), program)
    assert 0 < len(errors) <= MAX_FINDINGS + 1


def test_the_answer_says_how_many_more_there_are(judge: Reviewer, workload: Manifest) -> None:
    status = judge.validate(asked("CREATE", damaged(workload, "cliques that are numbers", MAX_ERRORS + 7)))["response"]["status"]
    assert status["message"].splitlines()[-1].strip() == "and 7 more, which grove lint reports"
    assert status["details"]["causes"][-1] == {
        "message": "and 7 more, which grove lint reports",
        "field": f"spec.template.cliques[{MAX_ERRORS}]",
    }


def test_a_list_that_nobody_looks_at_is_told_with_its_length(program: Program, workload: Manifest) -> None:
    errors = found(damaged(workload, "cliques that are numbers", MILLION), program)
    assert [(one.path, one.message) for one in errors] == [("spec.template.cliques", "has 1,000,000 items, at most 10,000 are allowed")]


def test_of_a_set_that_has_too_many_mistakes_the_defaults_are_no_matter(judge: Reviewer, workload: Manifest) -> None:
    assert "patch" not in judge.default(asked("CREATE", damaged(workload, "cliques that are numbers", MILLION)))["response"]


OF_GROUPS = "$(GROVE_PCSG_INDEX)"
REMARKS: dict[str, Damage] = {
    "fields that only newer releases of Kubernetes know": lambda one, number: pod_spec(one).update({f"x{i}": 1 for i in range(number)}),
    "variables that only scaling groups have": lambda one, number: pod_spec(one)["containers"][0].update(
        env=[{"name": f"E{index}", "value": OF_GROUPS} for index in range(number)]
    ),
}
"""What gives warnings alone."""


@pytest.mark.parametrize("number", [MAX_FINDINGS - 1, MAX_FINDINGS, MAX_FINDINGS + 1, MAX_ITEMS - 100])
@pytest.mark.parametrize("what", REMARKS)
def test_warnings_refuse_nothing_however_many_there_are(
    judge: Reviewer, program: Program, workload: Manifest, what: str, number: int
) -> None:
    made = copy.deepcopy(workload)
    REMARKS[what](made, number)
    response = judge.validate(asked("CREATE", made))["response"]
    assert response["allowed"]
    assert len(json.dumps(response)) < 100_000
    told = [one for one in lint(Inputs([Document(made)]), program) if one.code == "limit/findings"]
    assert [one.severity for one in told] == ["warning"] * (number > MAX_FINDINGS)


@pytest.mark.parametrize("damage", ["labels", "containers without a name"])
@pytest.mark.parametrize("what", REMARKS)
def test_an_error_is_found_behind_any_number_of_warnings(program: Program, workload: Manifest, what: str, damage: str) -> None:
    made = copy.deepcopy(workload)
    REMARKS[what](made, MAX_ITEMS - 100)
    wrong = damaged(made, damage, 1)
    assert {one.code for one in found(wrong, program)} == {one.code for one in found(damaged(workload, damage, 1), program)} != set()
