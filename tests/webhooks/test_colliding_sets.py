"""Admission knows the sets that there are: it rejects one whose objects would have the names of another's, whatever their kind."""

from __future__ import annotations

import copy

import pytest

from grove_compiler.engine.runtime.program import Program
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.source.document import Document
from grove_compiler.step import StepContext
from grove_operator.webhooks.review import Reviewer
from tests.controller.live.ownership import DRIVERS
from tests.controller.live.test_colliding_sets import COLLIDING
from tests.controller.live.world import CONFIGURATION
from tests.webhooks.conftest import Manifest, asked


def reviewed(program: Program, there: Manifest, new: Manifest, old: Manifest | None = None) -> Manifest:
    """What admission answers while a set is there."""
    config = Document({**CONFIGURATION, **DRIVERS})
    judge = Reviewer(StepContext(program, Settings(), config), ObjectList([there]))
    answer: Manifest = judge.validate(asked("UPDATE" if old else "CREATE", new, old))["response"]
    return answer


def of(set: Manifest, namespace: str = "team") -> Manifest:
    stored = copy.deepcopy(set)
    stored["metadata"] |= {"namespace": namespace, "uid": f"uid-of-{set['metadata']['name']}"}
    return stored


@pytest.mark.parametrize("kind", COLLIDING)
def test_the_second_of_two_sets_that_want_one_name_is_rejected(kind: str, program: Program) -> None:
    older, newer = map(of, COLLIDING[kind])
    for there, new in ((older, newer), (newer, older)):
        answer = reviewed(program, there, new)
        assert not answer["allowed"]
        assert f"and the PodCliqueSet {there['metadata']['name']} would both generate the " in answer["status"]["message"]


@pytest.mark.parametrize("kind", COLLIDING)
def test_in_another_namespace_it_is_admitted(kind: str, program: Program) -> None:
    older, newer = COLLIDING[kind]
    answer = reviewed(program, of(older, "other"), of(newer))
    assert answer["allowed"], answer.get("status", {}).get("message")


@pytest.mark.parametrize("kind", COLLIDING)
def test_sets_that_exist_side_by_side_can_still_be_edited(kind: str, program: Program) -> None:
    """Both were made while no webhook was there: one has to be repaired, or to go."""
    older, newer = map(of, COLLIDING[kind])
    edited = copy.deepcopy(newer)
    edited["spec"]["replicas"] = 0
    assert reviewed(program, older, edited, newer)["allowed"]
