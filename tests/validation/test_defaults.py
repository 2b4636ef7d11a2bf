"""What admission fills in (shipped semantics §6.1)."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from grove_compiler.engine.runtime.program import Program
from grove_compiler.graph.field_path import parse
from grove_compiler.model.inputs.settings import Settings
from tests.suite.rows import rows

CLIQUE = "spec.template.cliques[0].spec"
GROUP = "spec.template.podCliqueScalingGroups[0]"

MANIFEST: dict[str, Any] = {
    "metadata": {"name": "s"},
    "spec": {
        "template": {
            "cliques": [
                {
                    "name": "a",
                    "spec": {
                        "replicas": 3,
                        "autoScalingConfig": {"maxReplicas": 9},
                        "podSpec": {"containers": [{"name": "c", "image": "i"}]},
                    },
                }
            ],
            "podCliqueScalingGroups": [
                {"name": "g", "cliqueNames": ["a"], "replicas": 2, "minAvailable": 1, "scaleConfig": {"maxReplicas": 9}}
            ],
        },
    },
}


def with_field(manifest: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy with this value; without the field for `...`."""
    result = copy.deepcopy(manifest)
    *steps, last = parse(path)
    holder: Any = result
    for step in steps:
        holder = holder[step]
    if value is ...:
        holder.pop(last, None)
    else:
        holder[last] = value
    return result


def field(manifest: dict[str, Any], path: str) -> Any:
    """The value there; `...` when it is absent."""
    value: Any = manifest
    for step in parse(path):
        if isinstance(value, dict) and step not in value:
            return ...
        value = value[step]
    return value


def defaulted(program: Program, manifest: dict[str, Any], namespace: str = "default") -> dict[str, Any]:
    return program.default("PodCliqueSet", manifest, {"settings": Settings(namespace=namespace)})


FILLED = [
    ("metadata.namespace", "default"),
    (f"{CLIQUE}.podSpec.restartPolicy", "Always"),
    (f"{CLIQUE}.podSpec.terminationGracePeriodSeconds", 30),
    (f"{CLIQUE}.minAvailable", 3),
    (f"{CLIQUE}.autoScalingConfig.minReplicas", 3),
    (f"{GROUP}.scaleConfig.minReplicas", 2),
    ("spec.template.terminationDelay", "4h0m0s"),
    ("spec.template.headlessServiceConfig", {"publishNotReadyAddresses": True}),
]


@rows(("path", "value"), FILLED)
def test_an_absent_field_gets_its_default(program: Program, path: str, value: Any) -> None:
    assert field(defaulted(program, MANIFEST), path) == value


@rows(("path", "value"), FILLED)
def test_null_counts_as_absent(program: Program, path: str, value: Any) -> None:
    assert field(defaulted(program, with_field(MANIFEST, path, None)), path) == value


@rows(
    ("path", "value"),
    [
        ("metadata.namespace", "team"),
        (f"{CLIQUE}.podSpec.restartPolicy", "Never"),
        (f"{CLIQUE}.podSpec.terminationGracePeriodSeconds", 0),
        (f"{CLIQUE}.minAvailable", 1),
        (f"{CLIQUE}.minAvailable", 0),
        (f"{CLIQUE}.autoScalingConfig.minReplicas", 1),
        (f"{GROUP}.scaleConfig.minReplicas", 1),
        ("spec.template.terminationDelay", "0s"),
        ("spec.template.headlessServiceConfig", {"publishNotReadyAddresses": False}),
        (f"{CLIQUE}.replicas", -1),
    ],
)
def test_what_is_set_stays(program: Program, path: str, value: Any) -> None:
    assert field(defaulted(program, with_field(MANIFEST, path, value)), path) == value


@pytest.mark.parametrize(("path", "value"), [("metadata.namespace", "default"), (f"{CLIQUE}.podSpec.restartPolicy", "Always")])
def test_empty_text_counts_as_absent(program: Program, path: str, value: str) -> None:
    assert field(defaulted(program, with_field(MANIFEST, path, "")), path) == value


def test_the_namespace_is_the_one_that_the_caller_names(program: Program) -> None:
    assert defaulted(program, MANIFEST, namespace="team")["metadata"]["namespace"] == "team"


def test_no_pods_become_one_after_min_available_and_min_replicas_were_taken_from_none(program: Program) -> None:
    clique = field(defaulted(program, with_field(MANIFEST, f"{CLIQUE}.replicas", 0)), CLIQUE)
    assert (clique["replicas"], clique["minAvailable"], clique["autoScalingConfig"]["minReplicas"]) == (1, 0, 0)


@pytest.mark.parametrize("path", [f"{CLIQUE}.replicas", f"{CLIQUE}.minAvailable", f"{CLIQUE}.autoScalingConfig.minReplicas"])
def test_without_replicas_nothing_is_made_of_them(program: Program, path: str) -> None:
    assert field(defaulted(program, with_field(MANIFEST, f"{CLIQUE}.replicas", ...)), path) is ...


@pytest.mark.parametrize("path", [f"{CLIQUE}.podSpec", f"{CLIQUE}.autoScalingConfig", f"{GROUP}.scaleConfig"])
def test_a_map_that_is_absent_is_not_made_for_the_sake_of_a_default(program: Program, path: str) -> None:
    assert field(defaulted(program, with_field(MANIFEST, path, ...)), path) is ...


def test_a_set_that_says_everything_is_left_as_it_is(program: Program) -> None:
    whole = defaulted(program, MANIFEST)
    assert defaulted(program, whole) is whole


def test_the_manifest_that_was_given_is_not_touched(program: Program) -> None:
    given = copy.deepcopy(MANIFEST)
    defaulted(program, given)
    assert given == MANIFEST
