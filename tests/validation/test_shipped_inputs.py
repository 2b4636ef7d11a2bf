"""The manifests that the shipped operator accepted are accepted here, without a word about most of them."""

from __future__ import annotations

import pytest

from grove_compiler.compile import Inputs, lint
from grove_compiler.engine.runtime.program import Program
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.source.document import Document
from tests.conformance.cases import CONFIGURATION, KUBE_VERSION, Case, read_cases, topologies
from tests.shipped import program_without_pod_rules
from tests.suite.rows import rows

ACCEPTED = [case for case in read_cases() if not case.rejected]

# A template in a namespace that the inputs do not show, an MNNVL group of a clique without GPUs, and what works and is not what was meant.
REMARKS = {
    "sharing/template-exists",
    "validate/mnnvl-group-without-gpu",
    "validate/group-min-available-during-update",
    "validate/clique-scaling-requests",
    "validate/group-scaling-requests",
    "validate/set-without-replicas",
}

# Made to hold everything that a pod template can; these say what Grove overwrites.
EXOTIC = "hash-"


def findings_of(case: Case, program: Program) -> list[Diagnostic]:
    settings = Settings(namespace=case.namespace, kube_version=KUBE_VERSION)
    documents = [*(Document(manifest) for manifest in case.input), *topologies()]
    return lint(Inputs(documents, config=Document(CONFIGURATION), settings=settings), program)


@pytest.mark.skipif(not ACCEPTED, reason="no conformance cases here: GROVE_CONFORMANCE names their folder")
@rows("case", [case for case in ACCEPTED if not case.name.startswith(EXOTIC)], ids=lambda case: case.name)
def test_a_manifest_that_the_shipped_operator_accepted_gives_no_finding(case: Case, program: Program) -> None:
    assert [finding.message for finding in findings_of(case, program) if finding.code not in REMARKS] == []


@pytest.mark.skipif(not ACCEPTED, reason="no conformance cases here: GROVE_CONFORMANCE names their folder")
@rows("case", [case for case in ACCEPTED if case.name.startswith(EXOTIC)], ids=lambda case: case.name)
def test_a_manifest_with_fields_that_grove_overwrites_gives_only_warnings_about_them(case: Case) -> None:
    assert {finding.code for finding in findings_of(case, program_without_pod_rules())} <= {
        "validate/overwritten-pod-fields",
        "validate/overwritten-environment",
    }
