"""A set that uses no feature of our own compiles to the very objects that the shipped operator makes."""

from __future__ import annotations

from typing import Any

import pytest

from grove_compiler.engine.runtime.program import Program
from tests.suite.rows import rows

from .cases import FOLDER, Case, read_cases
from .compare import differences, gates, hostnames
from .server_defaults import Manifest

CASES = read_cases()
if not CASES:
    pytest.skip(f"no cases of the shipped operator in {FOLDER}; GROVE_CONFORMANCE names the folder", allow_module_level=True)

NOT_RECORDED = {"Topology"}  # KAI's, one for each topology of the cluster

# Where we differ on purpose: the lines of the comparison, and why.
DELIBERATE = {
    # A clique refers to a claim template that is not there. The shipped operator makes no pods of that clique until it comes; ours
    # warns and makes what can be made, for the template may well be in the cluster.
    "workload-resource-sharing": [
        "Pod rs-test-0-worker-a-0: only we make it",
        "PodGang rs-test-0.spec.podgroups[0].podReferences: ours 1, theirs 0",
        "ResourceClaim rs-test-0-worker-a-0-int-tpl4: only we make it",
    ],
}


def parameters(cases: list[Case]) -> list[Any]:
    """Each case by its name."""
    return [pytest.param(case, id=case.name) for case in cases]


def objects(case: Case, program: Program, snapshot: list[Manifest] | None = None) -> list[Manifest]:
    result = case.compile(program, snapshot)
    assert [finding.message for finding in result.diagnostics if finding.severity == "error"] == []
    return [node.object for node in result.graph.nodes if node.object["kind"] not in NOT_RECORDED]


REPOSITORY = [case for case in CASES if case.objects and not case.name.startswith("hash-")]
HASHED = [case for case in CASES if case.name.startswith("hash-")]
ACCEPTED = [case for case in CASES if case.objects]


@rows("case", parameters(REPOSITORY))
def test_we_make_what_the_shipped_operator_makes(case: Case, program: Program) -> None:
    assert differences(objects(case, program), case.objects) == DELIBERATE.get(case.name, [])


@rows("case", parameters(HASHED))
def test_any_pod_template_becomes_the_same_objects(case: Case, program: Program) -> None:
    """The server refused many of these pods, so that only those that exist can be compared, and not how many a gang names."""
    born = hostnames(case.objects)
    ours = [made for made in objects(case, program) if made["kind"] != "Pod" or made["spec"]["hostname"] in born]
    found = differences(ours, case.objects)
    assert [line for line in found if ".podReferences: " not in line] == []


@rows("case", parameters(ACCEPTED))
def test_the_generation_hash_is_the_shipped_one(case: Case, program: Program) -> None:
    statuses = case.compile(program).statuses
    assert [status.generation_hash for status in statuses] == [case.stored("PodCliqueSet")[0]["status"]["currentGenerationHash"]]


@pytest.mark.parametrize("case", parameters([case for case in CASES if case.rejected]))
def test_what_the_shipped_operator_rejects_we_reject(case: Case, program: Program) -> None:
    assert any(finding.severity == "error" for finding in case.compile(program).diagnostics)


@rows("case", parameters(ACCEPTED))
def test_pods_that_exist_keep_their_names(case: Case, program: Program) -> None:
    existing = {pod["spec"]["hostname"]: pod["metadata"]["name"] for pod in case.stored("Pod")}
    ours = {made["spec"]["hostname"]: made["metadata"]["name"] for made in objects(case, program, case.objects) if made["kind"] == "Pod"}
    assert {hostname: name for hostname, name in ours.items() if hostname in existing} == existing


@rows("case", parameters(ACCEPTED))
def test_gates_stay_and_go_as_they_did(case: Case, program: Program) -> None:
    existing = {pod["metadata"]["name"]: gates(pod) for pod in case.stored("Pod")}
    ours = {made["metadata"]["name"]: gates(made) for made in objects(case, program, case.objects) if made["kind"] == "Pod"}
    assert {name: found for name, found in ours.items() if name in existing} == existing


@rows("case", parameters([case for case in ACCEPTED if case in REPOSITORY and case.name not in DELIBERATE]))
def test_gangs_name_the_pods_that_exist(case: Case, program: Program) -> None:
    existing = {gang["metadata"]["name"]: gang["spec"]["podgroups"] for gang in case.stored("PodGang")}
    gangs = [made for made in objects(case, program, case.objects) if made["kind"] == "PodGang"]
    assert {gang["metadata"]["name"]: gang["spec"]["podgroups"] for gang in gangs} == existing


@rows("case", parameters(ACCEPTED))
def test_conditions_are_those_of_the_shipped_operator(case: Case, program: Program) -> None:
    """But for cliques of which it tells nothing, since their pods can never be made, and for groups of such cliques."""
    bearers = [one for kind in ("PodCliqueSet", "PodClique", "PodCliqueScalingGroup", "PodGang") for one in case.stored(kind)]
    silent = [one["metadata"] for one in bearers if not one["status"].get("conditions")]
    mistaken = {one["name"] for one in silent} | {one["ownerReferences"][0]["name"] for one in silent} - {case.set["metadata"]["name"]}
    wanted = {
        (bearer["metadata"]["name"], condition["type"], condition["status"], condition["reason"], condition["message"])
        for bearer in bearers
        if bearer["metadata"]["name"] not in mistaken
        for condition in bearer["status"]["conditions"]
    }
    conditions = [one for one in case.compile(program, case.objects).statuses[0].conditions if one.of.name not in mistaken]
    assert {(found.of.name, found.type, found.status, found.reason, found.message) for found in conditions} == wanted
