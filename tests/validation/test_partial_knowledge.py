"""Which errors knowledge of the cluster may refute: those that a set has where nothing but sets may be read, and has not where all may."""

from __future__ import annotations

from grove_cli.cluster.input import REFUTABLE
from grove_compiler.compile import Inputs, lint
from grove_compiler.engine.runtime.program import Program
from grove_compiler.model.inputs.settings import OFFLINE_KUBE_VERSION, Settings

from .case_files import FILES, Case, read_case

OF_THE_CLUSTER = ("ClusterTopology", "ClusterTopologyBinding", "OperatorConfiguration")


def test_errors_that_may_be_refuted_are_those_that_commands_tell_as_warnings(program: Program) -> None:
    cases = [read_case(path) for path in FILES]
    found = {code for case in cases for code in _errors_without_knowledge(case, program) - {entry["rule"] for entry in case.expected}}
    assert found == REFUTABLE


def _errors_without_knowledge(case: Case, program: Program) -> set[str]:
    documents = [one for one in case.documents if isinstance(one.value, dict) and one.value.get("kind") not in OF_THE_CLUSTER]
    sets = [one for one in case.head.get("snapshot", []) if one.get("kind") == "PodCliqueSet"]
    settings = Settings(kube_version=case.head.get("kube", OFFLINE_KUBE_VERSION), mnnvl_shape=case.head.get("shape"))
    worlds = [Inputs(documents, sets, [case.old] if case.old else [], config, settings) for config in (None, case.config)]
    findings = [finding for world in worlds if documents for finding in lint(world, program)]
    return {finding.code for finding in findings if finding.severity == "error"}
