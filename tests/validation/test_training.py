"""What admission fills in for a training workload, and what compiling never makes of one."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.compile import Inputs
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.engine.runtime.program import Program
from grove_compiler.graph.diagnostic import has_errors
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.source.document import Document

from .sets import clique, group


def manifest(cliques: list[Any], groups: list[Any] | None = None, workload: str | None = "Training", **template: Any) -> dict[str, Any]:
    spec: dict[str, Any] = {"replicas": 1, "template": {"cliques": cliques, "podCliqueScalingGroups": groups or [], **template}}
    if workload:
        spec["workloadType"] = workload
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": {"name": "job"}, "spec": spec}


def defaulted(program: Program, given: dict[str, Any]) -> dict[str, Any]:
    template: dict[str, Any] = program.default("PodCliqueSet", given, {"settings": Settings()})["spec"]["template"]
    return template


def policies(template: dict[str, Any]) -> list[str]:
    return [entry["spec"]["podSpec"]["restartPolicy"] for entry in template["cliques"]]


WORKLOADS = [("Training", "Never", "0s"), ("Inference", "Always", "4h0m0s"), (None, "Always", "4h0m0s")]


@pytest.mark.parametrize(("workload", "policy", "delay"), WORKLOADS)
def test_defaults_follow_the_workload(program: Program, workload: str | None, policy: str, delay: str) -> None:
    template = defaulted(program, manifest([clique("a"), clique("b")], workload=workload))
    assert (policies(template), template["terminationDelay"]) == ([policy, policy], delay)


@pytest.mark.parametrize(("workload", "policy", "delay"), WORKLOADS)
def test_what_is_written_is_kept(program: Program, workload: str | None, policy: str, delay: str) -> None:
    entry = clique("a")
    entry["spec"]["podSpec"]["restartPolicy"] = "OnFailure"
    template = defaulted(program, manifest([entry], workload=workload, terminationDelay="7m"))
    assert (policies(template), template["terminationDelay"]) == (["OnFailure"], "7m")


def compiled(program: Program, given: dict[str, Any]) -> Any:
    return compile_inputs(Inputs([Document(given)], settings=Settings(pods=True)), program)


sizes = st.integers(1, 4)


@st.composite
def training_sets(draw: st.DrawFn) -> dict[str, Any]:
    standalone = [clique(f"c{index}", draw(sizes)) for index in range(draw(st.integers(0, 2)))]
    grouped = [clique(f"g{index}", draw(sizes)) for index in range(draw(st.integers(1, 2)))]
    replicas = draw(sizes)
    groups = [group("g", [entry["name"] for entry in grouped], replicas, minAvailable=replicas)]
    for entry in standalone + grouped:
        del entry["spec"]["minAvailable"]
    return manifest(standalone + grouped, groups)


@given(training_sets())
def test_all_pods_of_a_replica_start_in_one_gang_and_nothing_scales_them(program: Program, given: dict[str, Any]) -> None:
    result = compiled(program, given)
    assert not has_errors(result.diagnostics), result.diagnostics
    kinds = [node.object["kind"] for node in result.graph.nodes]
    pods, gangs = kinds.count("Pod"), [node.object for node in result.graph.nodes if node.object["kind"] == "PodGang"]
    assert "HorizontalPodAutoscaler" not in kinds
    assert [sum(group["minReplicas"] for group in gang["spec"]["podgroups"]) for gang in gangs] == [pods]


@given(training_sets(), st.sampled_from(["cliques", "podCliqueScalingGroups"]))
def test_an_autoscaler_of_a_training_workload_is_an_error_and_nothing_is_compiled(
    program: Program, given: dict[str, Any], field: str
) -> None:
    scaled = copy.deepcopy(given)
    entry = scaled["spec"]["template"][field][0]
    holder, key = (entry["spec"], "autoScalingConfig") if field == "cliques" else (entry, "scaleConfig")
    holder[key] = {"maxReplicas": 9}
    result = compiled(program, scaled)
    assert result.graph.nodes == []
    assert {"validate/training-clique-scaling", "validate/training-group-scaling"} & {finding.code for finding in result.diagnostics}


@given(training_sets())
def test_the_pods_of_a_job_differ_from_those_of_a_service_in_their_restart_policy_hash_and_attempt_alone(
    program: Program, given: dict[str, Any]
) -> None:
    service = copy.deepcopy(given)
    del service["spec"]["workloadType"]
    job, other = (as_one(compiled(program, entry)) for entry in (given, service))
    assert [without_differences(one) for one in job] == [without_differences(one) for one in other]


def as_one(result: Any) -> list[dict[str, Any]]:
    assert not has_errors(result.diagnostics), result.diagnostics
    return [copy.deepcopy(node.object) for node in result.graph.nodes]


def without_differences(object: dict[str, Any]) -> dict[str, Any]:
    for label in ("grove.io/pod-template-hash", "grove.io/attempt"):
        object["metadata"].get("labels", {}).pop(label, None)
    spec = object.get("spec", {})
    spec.pop("restartPolicy", None)
    spec.get("podSpec", {}).pop("restartPolicy", None)
    return object
