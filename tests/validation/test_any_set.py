"""However wrong a set is, its validations find out; they never fail themselves."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_compiler.compile import Inputs, lint
from grove_compiler.engine.runtime.program import Program
from grove_compiler.source.document import Document
from tests.suite.effort import runs

ROOMY = settings(max_examples=runs(150))

NAMES = st.sampled_from(["", "a", "b", "a-0-b", "A", "x.y", "-", "0", "c" * 40, "d" * 70])
COUNTS = st.sampled_from([-1, 0, 1, 2, 5, 2**31 - 1])
LABELS = st.dictionaries(
    st.sampled_from(["", "a", "a b", "x/y", "kai.scheduler/queue", "grove.io/x"]), st.sampled_from(["", "v", "v w"]), max_size=2
)
ANNOTATIONS = LABELS | st.dictionaries(
    st.sampled_from([f"grove.io/mnnvl-{word}" for word in ("enabled", "scope", "device-class", "group", "other")]),
    st.sampled_from(["", "true", "false", "replica", "clique", "scalingGroupReplica", "none", "A b", "d" * 70]),
    max_size=3,
)
SCALING = st.fixed_dictionaries({"maxReplicas": COUNTS}, optional={"minReplicas": COUNTS})
SHARING = st.lists(
    st.fixed_dictionaries({"name": NAMES, "scope": st.sampled_from(["AllReplicas", "PerReplica"])}, optional={"namespace": NAMES}),
    max_size=2,
)
ENVIRONMENT = st.lists(st.fixed_dictionaries({"name": NAMES}), max_size=2, unique_by=lambda entry: str(entry["name"]))
RESOURCES = st.sampled_from([{}, {"limits": {"nvidia.com/gpu": 8}}, {"requests": {"nvidia.com/gpu": "0"}, "claims": [{"name": "mnnvl"}]}])
CONTAINER = st.fixed_dictionaries({"name": NAMES}, optional={"env": ENVIRONMENT, "resources": RESOURCES})
CLAIMS = st.lists(
    st.fixed_dictionaries({"name": st.sampled_from(["mnnvl", "mnnvl-claim"])}), max_size=2, unique_by=lambda entry: entry["name"]
)
POD = st.fixed_dictionaries(
    {"containers": st.lists(CONTAINER, max_size=2, unique_by=lambda entry: str(entry["name"]))},
    optional={
        "schedulerName": st.sampled_from(["", "kai-scheduler", "volcano", "other"]),
        "hostname": NAMES,
        "nodeName": NAMES,
        "resourceClaims": CLAIMS,
    },
)
CLIQUE_SPEC = st.fixed_dictionaries(
    {"replicas": COUNTS, "podSpec": POD},
    optional={"roleName": NAMES, "minAvailable": COUNTS, "startsAfter": st.lists(NAMES, max_size=3), "autoScalingConfig": SCALING},
)
CLIQUE = st.fixed_dictionaries(
    {"name": NAMES, "spec": CLIQUE_SPEC}, optional={"labels": LABELS, "annotations": ANNOTATIONS, "resourceSharing": SHARING}
)
GROUP = st.fixed_dictionaries(
    {"name": NAMES, "cliqueNames": st.lists(NAMES, max_size=3)},
    optional={"replicas": COUNTS, "minAvailable": COUNTS, "scaleConfig": SCALING, "resourceSharing": SHARING, "annotations": ANNOTATIONS},
)
STARTUP = st.sampled_from(["CliqueStartupTypeAnyOrder", "CliqueStartupTypeInOrder", "CliqueStartupTypeExplicit"])
TEMPLATE = st.fixed_dictionaries(
    {"cliques": st.lists(CLIQUE, max_size=4, unique_by=lambda entry: str(entry["name"]))},
    optional={
        "podCliqueScalingGroups": st.lists(GROUP, max_size=3),
        "cliqueStartupType": STARTUP,
        "terminationDelay": st.sampled_from(["0", "1h", "-1s"]),
        "resourceSharing": SHARING,
        "computeDomainConfig": st.fixed_dictionaries({"enabled": st.booleans()}, optional={"deviceClassName": NAMES}),
    },
)


def sets(name: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, Any]]:
    """Sets that have the right structure, and nothing else that is right."""
    metadata = st.fixed_dictionaries({"name": name}, optional={"labels": LABELS, "annotations": ANNOTATIONS})
    spec = st.fixed_dictionaries({"template": TEMPLATE}, optional={"replicas": COUNTS})
    kind = {"apiVersion": st.just("grove.io/v1alpha1"), "kind": st.just("PodCliqueSet")}
    return st.fixed_dictionaries({**kind, "metadata": metadata, "spec": spec})


@ROOMY
@given(sets(NAMES))
def test_no_validation_fails_on_a_new_set(program: Program, manifest: dict[str, Any]) -> None:
    assert [finding for finding in lint(Inputs([Document(manifest)]), program) if finding.code == "rules/failed"] == []


@ROOMY
@given(sets(st.just("s")), sets(st.just("s")))
def test_no_validation_fails_on_an_update(program: Program, manifest: dict[str, Any], former: dict[str, Any]) -> None:
    inputs = Inputs([Document(manifest)], old=[Document(former)])
    assert [finding for finding in lint(inputs, program) if finding.code == "rules/failed"] == []


@ROOMY
@given(sets(NAMES))
def test_every_finding_of_a_validation_says_where_and_what(program: Program, manifest: dict[str, Any]) -> None:
    for finding in lint(Inputs([Document(manifest)]), program):
        assert finding.path.split(".")[0].split("[")[0] in {"metadata", "spec"}
        assert finding.message and (finding.type or finding.severity == "warning")


@ROOMY
@given(sets(NAMES))
def test_equal_sets_have_equal_findings(program: Program, manifest: dict[str, Any]) -> None:
    first, second = ([(f.code, f.path, f.message) for f in lint(Inputs([Document(manifest)]), program)] for _ in range(2))
    assert first == second


@pytest.mark.parametrize("name", ["startsAfter", "labels"])
def test_structural_faults_do_not_hide_findings_elsewhere(program: Program, name: str) -> None:
    faulty = {
        "name": "a",
        "spec": {"replicas": 1, "podSpec": {"containers": [{"name": "c", "image": "i"}]}, name: 1 if name == "labels" else "x"},
    }
    right = {"name": "b.c", "spec": {"replicas": 1, "podSpec": {"containers": [{"name": "c", "image": "i"}]}}}
    manifest = {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": "s"},
        "spec": {"template": {"cliques": [faulty, right]}},
    }
    codes = {finding.code for finding in lint(Inputs([Document(manifest)]), program)}
    assert "validate/clique-name-syntax" in codes and any(code.startswith("schema/") for code in codes)
