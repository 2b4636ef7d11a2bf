"""Lint says what the API server says: mutants of valid templates before both. `python -m tests.validation.server_check` takes more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from applier.testing.control_plane import ControlPlane
from grove_compiler.engine.runtime.program import Program
from grove_compiler.kube.definitions import DEFINITIONS
from tests.validation.server_check.__main__ import MAX_MISSED, compare
from tests.validation.server_check.mutants import mutants
from tests.validation.server_check.subjects import SUBJECTS, Subject
from tests.validation.server_check.verdicts import Judge

SEED = 1
COUNTS = {"pods": 300, "autoscalers": 150, "claims": 150, "sets": 60}
LEFT_OUT = {
    "pods": {
        ("PodSpec", "ephemeralContainers"),  # forbidden in a new pod, whatever they say
        ("PodSpec", "nodeName"),  # no pod template of ours may name one
        ("PodSpec", "overhead"),  # needs a RuntimeClass that exists
        ("PodSpec", "runtimeClassName"),
        ("TypedObjectReference", "namespace"),  # behind a feature gate that is off
    },
    "autoscalers": set[tuple[str, str]](),
    "claims": {
        ("CapacityRequirements", "requests"),  # behind feature gates that are off
        ("DeviceConstraint", "distinctAttribute"),
        ("DeviceSubRequest", "capacity"),
        ("DeviceSubRequest", "tolerations"),
        ("ExactDeviceRequest", "adminAccess"),  # needs a namespace that allows it
        ("ExactDeviceRequest", "capacity"),
    },
}
"""Fields that no valid template has; mutants set them all the same."""
SINCE = {
    "claims": pytest.mark.served_since("1.34", "resource.k8s.io/v1"),
    "pods": pytest.mark.served_since("1.35", "the validation of pods that lint follows"),
    "containers": pytest.mark.served_since("1.35", "what this pod's containers have"),
    "scheduling": pytest.mark.served_since("1.33", "a search domain with an underscore"),
}
"""From which version of Kubernetes on servers can be compared with lint, by subject and by pods' templates."""


@pytest.fixture(scope="module")
def judge(control_plane: ControlPlane, program: Program) -> Judge:
    return Judge(control_plane, program)


@pytest.mark.cluster
@pytest.mark.parametrize(
    ("subject", "name"),
    [
        pytest.param(subject, name, id=f"{subject.name}-{name}", marks=SINCE.get(name if subject.name == "pods" else subject.name, ()))
        for subject in SUBJECTS
        for name in subject.names
    ],
)
def test_both_take_the_templates_that_mutants_are_made_of(subject: Subject, name: str, judge: Judge) -> None:
    verdict = judge.judge(subject, subject.templates[name])
    assert (verdict.lint, verdict.server) == ("", "")


@pytest.mark.cluster
@pytest.mark.parametrize("subject", [pytest.param(subject, id=subject.name, marks=SINCE.get(subject.name, ())) for subject in SUBJECTS])
def test_of_what_the_server_refuses_hardly_anything_passes_lint_and_nothing_else_is_refused(subject: Subject, judge: Judge) -> None:
    result = compare(judge, subject, SEED, COUNTS[subject.name])
    assert [f"{mutant}: {verdict.lint}" for mutant, verdict in result.wrong] == []
    assert result.refused > result.count / 5
    assert len(result.missed) <= MAX_MISSED * result.refused, "\n".join(f"{mutant}: {verdict.server}" for mutant, verdict in result.missed)


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


@pytest.mark.parametrize("subject", [subject for subject in SUBJECTS if not subject.stricter], ids=lambda subject: subject.name)
def test_the_templates_have_every_field_of_their_api(subject: Subject) -> None:
    schema = {"ref": subject.type}
    have = {field for template in subject.templates.values() for field in used(schema, template)}
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

    reach(schema)
    ours = {name for name in reached if not name.startswith("meta/") and not name.endswith(".EphemeralContainer")}
    fields = {(name.rpartition(".")[2], field) for name in ours for field in DEFINITIONS[name]["fields"]}
    assert fields - have == LEFT_OUT[subject.name]


def test_a_seed_makes_the_same_mutants_again() -> None:
    assert [str(mutant) for mutant in mutants(7, 50, SUBJECTS[0])] == [str(mutant) for mutant in mutants(7, 50, SUBJECTS[0])]
