"""Objects are checked against the structure of their kind: those of users' rules as they are rendered, those of shipped rules here."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from grove_cli.rulebook import read as read_rulebook
from grove_compiler.compile import VOCABULARY, CompileResult, Inputs
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.engine.codegen.build import build
from grove_compiler.engine.runtime.program import Program
from grove_compiler.graph.diagnostic import Diagnostic, has_errors
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.rendered import check_rendered
from tests.suite.rows import rows

from ..explain.sets import SET_WITH_GROUP
from .compiling import compile_folder, documents_of, program_with, shipped_program

CASES = sorted((Path(__file__).parent / "cases").iterdir())


@cache
def everything_as_a_users() -> Program:
    """The shipped rules as if a user had written all of them, so that everything is checked."""
    return build([source._replace(origin="user") for source in read_rulebook().sources()], VOCABULARY)


@rows("folder", CASES, ids=lambda folder: folder.name)
def test_shipped_rules_render_what_the_structures_of_all_kinds_allow(folder: Path) -> None:
    nodes = compile_folder(folder).graph.nodes
    assert nodes
    assert [finding for finding in check_rendered(nodes, everything_as_a_users()) if finding.severity == "error"] == []


def test_shipped_rules_alone_are_not_checked_again() -> None:
    assert shipped_program().user_rendered == frozenset()


def test_only_what_a_user_has_a_part_in_is_checked() -> None:
    program = program_with("rule: my/label\ndoc: D.\npatch: Service\ndo: [{op: add, path: /metadata/labels/a, value: b}]\n")
    assert program.user_rendered == {"service/replica"}


RULE = "rule: my/object\ndoc: D.\ngenerate: own.yaml\nforEach: {replica: set.replicas}\nowner: set.ref\n"


def result_of(spec: str, kind: str = "NetworkPolicy", rules: str = RULE, version: str = "networking.k8s.io/v1") -> CompileResult:
    """What compiling two replicas gives with a template whose last lines, from the 5th on, are `spec`."""
    template = f'apiVersion: {version}\nkind: {kind}\nmetadata:\n  name: "{{{{ replica.name }}}}"\n{spec}'
    documents = documents_of(SET_WITH_GROUP.replace("replicas: 1", "replicas: 2", 1))
    return compile_inputs(Inputs(documents, settings=Settings(namespace="default")), program_with(rules, template))


def told(finding: Diagnostic) -> tuple[Any, ...]:
    return finding.code, finding.severity, finding.path, finding.file, finding.line, finding.nearest


WRONG = {
    "a misspelt field is a warning with the nearest, for a server may be newer": (
        "spec:\n  podSelector: {}\n  podSelecter: {}\n",
        ("schema/unknown-field", "warning", "spec.podSelecter", "templates/own.yaml", 7, "podSelector"),
    ),
    "a value of another type than its field": (
        'spec:\n  podSelector:\n    matchLabels: {a: "{{ replica.index }}"}\n',
        ("schema/wrong-type", "error", "spec.podSelector.matchLabels.a", "templates/own.yaml", 7, ""),
    ),
    "an item of a loop": (
        'spec:\n  podSelector: {}\n  policyTypes:\n  - $for: n in [1, 2]\n    $value: "{{ n }}"\n',
        ("schema/wrong-type", "error", "spec.policyTypes[0]", "templates/own.yaml", 9, ""),
    ),
    "what a merge brings, at the line around it": (
        "spec:\n  podSelector: {}\n  ingress:\n  - $merge: \"{'form': 'x'}\"\n",
        ("schema/unknown-field", "warning", "spec.ingress[0].form", "templates/own.yaml", 8, "from"),
    ),
}


@pytest.mark.parametrize(("spec", "expected"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_field_is_told_at_its_line_in_the_template(spec: str, expected: tuple[Any, ...]) -> None:
    assert expected in [told(finding) for finding in result_of(spec).diagnostics]


def test_the_same_mistake_in_many_objects_is_told_once() -> None:
    (finding,) = result_of('spec: {podSelector: "{{ replica.index }}"}\n').diagnostics
    assert finding.message.endswith("must be an object, not the number 0 (and the same in 1 other object)")


def test_an_error_holds_the_set_and_a_warning_does_not() -> None:
    (held,) = result_of('spec: {podSelector: "{{ replica.index }}"}\n').subjects
    (warned,) = result_of("spec: {podSelector: {}, podSelecter: {}}\n").subjects
    assert (bool(held.hold), held.nodes) == (True, [])
    assert (warned.hold, bool(warned.nodes)) == ("", True)


def test_a_patch_is_named_by_its_own_line() -> None:
    patch = 'rule: my/patch\ndoc: D.\npatch: PodClique\ndo:\n- op: merge\n  path: /spec\n  value:\n    replicas: "{{ clique.name }}"\n'
    found = result_of("spec: {podSelector: {}}\n", rules=f"{RULE}---\n{patch}").diagnostics
    assert {told(finding)[:5] for finding in found} == {("schema/wrong-type", "error", "spec.replicas", "rules/own.yaml", 14)}


def test_a_kind_without_a_structure_here_passes() -> None:
    assert result_of('spec: {anything: "{{ replica.index }}"}\n', "Widget", version="example.com/v1").diagnostics == []


def test_a_warning_about_the_input_is_not_repeated_for_what_is_made_of_it() -> None:
    patch = "rule: my/patch\ndoc: D.\npatch: PodClique\ndo: [{op: add, path: /metadata/labels/a, value: b}]\n"
    documents = documents_of(SET_WITH_GROUP.replace("podSpec: {", "podSpec: {hostNetworks: true, "))
    found = compile_inputs(Inputs(documents), program_with(patch)).diagnostics
    assert found
    assert not has_errors(found)
    assert {finding.file for finding in found} == {"input.yaml"}


def test_the_value_in_a_secret_is_not_told() -> None:
    (finding,) = result_of('stringData: {password: "{{ 4711 + replica.index }}"}\n', "Secret", version="v1").diagnostics
    assert (finding.code, finding.path) == ("schema/wrong-type", "stringData.password")
    assert "4711" not in f"{finding.message}{finding.value}{finding.hint}"
