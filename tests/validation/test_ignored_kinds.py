"""Objects of kinds that are not compiled, as a dump of a cluster has them."""

from __future__ import annotations

from grove_compiler.compile import Inputs, lint
from tests.features.compiling import documents_of, shipped_program

SET = "---\napiVersion: grove.io/v1alpha1\nkind: PodCliqueSet\nmetadata: {name: a}\nspec: {replicas: 0, template: {cliques: []}}\n"


def ignored(text: str) -> list[tuple[str, int]]:
    findings = lint(Inputs(documents_of(text + SET)), shipped_program())
    return [(finding.message, finding.line) for finding in findings if finding.code == "input/ignored"]


def node(name: str, kind: str = "Node") -> str:
    return f"---\napiVersion: v1\nkind: {kind}\nmetadata: {{name: {name}}}\n"


def test_many_objects_of_one_kind_are_one_finding_at_the_first_of_them() -> None:
    assert ignored("".join(node(f"n{number}") for number in range(119))) == [
        ("119 objects of the kind Node (v1) are not compiled and do not affect the result; this is the first", 3)
    ]


def test_each_kind_has_a_finding_of_its_own() -> None:
    assert ignored(node("a") + node("b", "ConfigMap")) == [
        ("Node (v1) is not compiled and does not affect the result", 3),
        ("ConfigMap (v1) is not compiled and does not affect the result", 7),
    ]
