"""Lint says what the API server says: mutants of valid pod templates before both. `python -m tests.validation.server_check` takes more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from applier.testing.control_plane import ControlPlane
from grove_compiler.engine.runtime.program import Program
from grove_compiler.kube.definitions import DEFINITIONS
from tests.validation.server_check.__main__ import API_SERVER_FLAGS, MOST_MISSED
from tests.validation.server_check.mutants import mutants, templates
from tests.validation.server_check.verdicts import Judge

TEMPLATES = templates()
SEED, COUNT = 1, 300
LEFT_OUT = {
    ("PodSpec", "ephemeralContainers"),  # forbidden in a new pod, whatever they say
    ("PodSpec", "nodeName"),  # no pod template of ours may name one
    ("PodSpec", "overhead"),  # needs a RuntimeClass that exists
    ("PodSpec", "runtimeClassName"),
    ("TypedObjectReference", "namespace"),  # behind a feature gate that is off
}
"""Fields that no valid template has; mutants set them all the same."""


@pytest.fixture(scope="module")
def judge(program: Program) -> Iterator[Judge]:
    with ControlPlane.start(api_server_flags=API_SERVER_FLAGS) as plane:
        yield Judge(plane, program)


@pytest.mark.cluster
@pytest.mark.parametrize("name", TEMPLATES)
def test_both_take_the_templates_that_mutants_are_made_of(name: str, judge: Judge) -> None:
    verdict = judge.judge(TEMPLATES[name])
    assert (verdict.lint, verdict.server) == ("", "")


@pytest.mark.cluster
def test_of_what_the_server_refuses_hardly_anything_passes_lint_and_nothing_else_is_refused(judge: Judge) -> None:
    judged = [(mutant, judge.judge(mutant.pod_spec)) for mutant in mutants(SEED, COUNT)]
    refused = [(mutant, verdict) for mutant, verdict in judged if verdict.server]
    missed = [f"{mutant}: {verdict.server}" for mutant, verdict in refused if not verdict.lint]
    assert [f"{mutant}: {verdict.lint}" for mutant, verdict in judged if verdict.lint and not verdict.server] == []
    assert len(refused) > COUNT / 3
    assert len(missed) <= MOST_MISSED * len(refused), "\n".join(missed)


def used(schema: dict[str, Any], value: Any) -> Iterator[tuple[str, str]]:
    """Type and field of everything that a value holds."""
    name = schema.get("ref", "")
    schema = DEFINITIONS[name] if name else schema
    if schema["kind"] == "object":
        for field, item in value.items():
            yield name.rpartition(".")[2], field
            yield from used(schema["fields"][field], item)
    elif schema["kind"] == "list":
        for item in value:
            yield from used(schema["items"], item)


def test_the_templates_have_every_field_of_the_pod_api() -> None:
    have = {field for pod in TEMPLATES.values() for field in used({"ref": "core/v1.PodSpec"}, pod)}
    reached: set[str] = set()

    def reach(schema: dict[str, Any]) -> None:
        name = schema.get("ref")
        if name and name not in reached:
            reached.add(name)
            for field in DEFINITIONS[name]["fields"].values():
                reach(field)
        for inner in ("items", "values"):
            if inner in schema:
                reach(schema[inner])

    reach({"ref": "core/v1.PodSpec"})
    ours = {name for name in reached if not name.startswith("meta/") and not name.endswith(".EphemeralContainer")}
    fields = {(name.rpartition(".")[2], field) for name in ours for field in DEFINITIONS[name]["fields"]}
    assert fields - have == LEFT_OUT


def test_a_seed_makes_the_same_mutants_again() -> None:
    assert [str(mutant) for mutant in mutants(7, 50)] == [str(mutant) for mutant in mutants(7, 50)]
