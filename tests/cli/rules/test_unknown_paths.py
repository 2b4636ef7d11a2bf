"""`grove rules check`: what templates, patches and defaults write and their kind does not have, or has in another type."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from grove_cli import rulebook
from grove_cli.rules.template_structure import wrong_templates
from grove_compiler.engine.language.load import load

from ..running import ROOT, run

MINIMAL = str(ROOT / "examples" / "minimal.yaml")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine").mkdir()


def findings(rule: str) -> list[dict[str, Any]]:
    """What the check says of this one rule, with line, path, and what was probably meant."""
    Path("mine/a.yaml").write_text(f"rule: my/rule\ndoc: D.\n{rule}\n")
    found: list[dict[str, Any]] = json.loads(run("rules", "check", "mine", "-o", "json").out)["findings"]
    return [one for one in found if one["code"] == "rules/unknown-path" or one["code"].startswith(("schema/", "silence/"))]


NEWER = """\
patch: PodClique
do:
- {op: add, path: /spec/podSpec/newer, value: 1}%s
- {op: add, path: /spec/podSpec/nodeSelector, value: {}}
"""


def test_a_field_that_is_newer_than_what_we_know_is_silenced_beside_its_line() -> None:
    assert [one["code"] for one in findings(NEWER % "")] == ["schema/unknown-field"]
    assert findings(NEWER % "  # grove:ignore schema/unknown-field: in 1.36") == []
    assert run("compile", "-o", "name", "--strict", "--rules", "mine", MINIMAL).err == ""


def test_a_silencer_that_silences_nothing_is_told_of_rules_and_not_of_what_they_are_for() -> None:
    found = findings("patch: PodClique\ndo: []  # grove:ignore schema/unknown-field: in 1.36")
    assert [one["code"] for one in found] == ["silence/unused"]
    assert "silence" not in run("compile", "-o", "name", "--rules", "mine", MINIMAL).err


def test_what_no_newer_version_could_have_stays_an_error() -> None:
    text = "patch: PodClique\ndo: [{op: add, path: /spec/replicas/x, value: 1}]  # grove:ignore rules/unknown-path: so what"
    assert [one["code"] for one in findings(text)] == ["rules/unknown-path", "silence/error"]


UNKNOWN = {
    "a field of a patch": (
        "patch: PodClique\ndo:\n- {op: add, path: /spec/podSpecc/x, value: 1}",
        "PodClique has no field 'podSpecc' at `spec`",
        "podSpec",
        5,
    ),
    "a field of what a rule makes": (
        "patch: service/replica\ndo: [{op: add, path: /spec/clusterIp, value: None}]",
        "Service has no field 'clusterIp' at `spec`",
        "clusterIP",
        4,
    ),
    "a field of an item": (
        "patch: Pod\ndo: [{op: replace, path: /spec/containers/0/img, value: a}]",
        "Pod has no field 'img' at `spec.containers.0`",
        "image",
        4,
    ),
    "a field of a version that settings choose": (
        "patch: ResourceClaimTemplate\ndo: [{op: add, path: /spec/speck, value: {}}]",
        "ResourceClaimTemplate has no field 'speck' at `spec`",
        "spec",
        4,
    ),
    "a name for an index": (
        "patch: Pod\ndo: [{op: remove, path: /spec/containers/main}]",
        "Pod has a list at `spec.containers`, whose items have numbers; found 'main'",
        "",
        4,
    ),
    "something below a number": (
        "patch: PodClique\ndo: [{op: add, path: /spec/replicas/x, value: 1}]",
        "PodClique has integer at `spec.replicas`, which has no fields; found 'x'",
        "",
        4,
    ),
    "a field of a default": (
        "default: 'spec.template.cliques[*].spec.replicaz'\nof: PodCliqueSet\nvalue: 1",
        "PodCliqueSet has no field 'replicaz' at `spec.template.cliques[*].spec`",
        "replicas",
        3,
    ),
    "a default that forgets the items": (
        "default: spec.template.cliques.spec.replicas\nof: PodCliqueSet\nvalue: 1",
        "PodCliqueSet has a list at `spec.template.cliques`, whose items have numbers; found 'spec'",
        "",
        3,
    ),
    "items of what is no list": (
        "default: 'spec.template[*].x'\nof: PodCliqueSet\nvalue: 1",
        "PodCliqueSet has no list at `spec.template`",
        "",
        3,
    ),
}


@pytest.mark.parametrize(("rule", "message", "nearest", "line"), UNKNOWN.values(), ids=UNKNOWN.keys())
def test_a_path_to_nothing_is_an_error_with_the_nearest(rule: str, message: str, nearest: str, line: int) -> None:
    (found,) = findings(rule)
    assert (found["message"], found.get("nearest", ""), found["line"], found["severity"]) == (message, nearest, line, "error")


KNOWN = {
    "a label": "patch: PodClique\ndo: [{op: add, path: /metadata/labels/any~1thing, value: x}]",
    "an expression in a path": "patch: PodClique\ndo: [{op: add, path: '/metadata/labels/{{ set.name }}', value: x}]",
    "below an expression": "patch: Pod\ndo: [{op: add, path: '/spec/containers/{{ 0 }}/nothing', value: x}]",
    "the end of a list": "patch: Pod\ndo: [{op: add, path: /spec/containers/0/env/-, value: {name: a, value: b}}]",
    "template keys": "patch: Pod\ndo: [{op: add, path: /spec/volumes, value: [{$for: n in [1], $value: {name: a, emptyDir: {}}}]}]",
    "a kind that we have no structure of": "patch: ComputeDomain\ndo: [{op: add, path: /spec/anything, value: x}]",
    "one of two kinds, by a guard": (
        "patch: [PodClique, Service]\nwhen: object.kind == 'Service'\ndo: [{op: add, path: /spec/clusterIP, value: x}]"
    ),
    "a default": "default: 'spec.template.cliques[*].spec.podSpec.{containers,initContainers}[*].image'\nof: PodCliqueSet\nvalue: a",
}


@pytest.mark.parametrize("rule", KNOWN.values(), ids=KNOWN.keys())
def test_a_path_that_may_be_right_is_let_be(rule: str) -> None:
    assert findings(rule) == []


WRONG_VALUES = {
    "a misspelt field of a patch": (
        "patch: PodClique\ndo:\n- op: merge\n  path: /spec\n  value:\n    podSpec: {contaners: []}",
        ("do[0].value.podSpec.contaners", 8, "containers"),
    ),
    "a wrong type in a patch": (
        "patch: Pod\ndo: [{op: add, path: /spec/containers/-, value: {name: a, image: 5}}]",
        ("do[0].value.image", 4, ""),
    ),
    "a wrong type of a default": (
        "default: 'spec.template.cliques[*].spec.replicas'\nof: PodCliqueSet\nvalue: two",
        ("value", 5, ""),
    ),
}


@pytest.mark.parametrize(("rule", "expected"), WRONG_VALUES.values(), ids=WRONG_VALUES.keys())
def test_a_wrong_value_of_a_rule_is_an_error_at_its_line(rule: str, expected: tuple[str, int, str]) -> None:
    (found,) = findings(rule)
    assert (found["path"], found["line"], found.get("nearest", "")) == expected


RULE = "generate: own.yaml\nowner: set.ref"
HEAD = "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: a}\n"


def test_all_that_a_template_writes_wrongly_is_told_at_once_with_line_and_nearest(tmp_path: Path) -> None:
    Path("mine/templates/parts").mkdir(parents=True)
    Path("mine/templates/own.yaml").write_text(
        HEAD
        + "spec:\n  podSelecter: {}\n  podSelector: {$if: true, matchLabels: {a: 5}}\n"
        + "  ingress:\n  - $for: n in [1]\n    from: [{$include: parts/peer.yaml}]\n"
    )
    Path("mine/templates/parts/peer.yaml").write_text("namespaceSelector: all\n")
    found = [(one["code"], one["file"], one["line"], one.get("nearest", "")) for one in findings(RULE)]
    assert found == [
        ("schema/unknown-field", "templates/own.yaml", 5, "podSelector"),
        ("schema/wrong-type", "templates/own.yaml", 6, ""),
        ("schema/wrong-type", "templates/parts/peer.yaml", 1, ""),
    ]
    assert run("rules", "check", "mine").code == 1


RIGHT_TEMPLATES = {
    "what expressions give is not known": HEAD + "spec: {podSelector: '{{ set.spec }}', policyTypes: '{{ [1] }}'}\n",
    "keys and merges that are expressions": HEAD + "spec: {$merge: set.spec, '{{ set.name }}': 1}\n",
    "one of two items of the same name": (
        "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec:\n  ports:\n"
        "  - {$if: set.name, $value: {port: 80}}\n  - {$if: not set.name, $value: {port: 80}}\n"
    ),
    "a kind that we have no structure of": "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\nspec: {any: thing}\n",
}


@pytest.mark.parametrize("template", RIGHT_TEMPLATES.values(), ids=RIGHT_TEMPLATES.keys())
def test_a_template_that_may_be_right_is_let_be(template: str) -> None:
    Path("mine/templates").mkdir()
    Path("mine/templates/own.yaml").write_text(template)
    assert findings(RULE) == []


def test_the_value_in_a_template_of_a_secret_is_not_told() -> None:
    Path("mine/templates").mkdir()
    Path("mine/templates/own.yaml").write_text("apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {password: 4711}\n")
    ended = run("rules", "check", "mine")
    assert "stringData.password" in ended.err
    assert "4711" not in ended.err


def test_shipped_templates_have_the_structure_of_their_kinds() -> None:
    everything = load([source._replace(origin="user") for source in rulebook.read().sources()])
    assert list(wrong_templates(everything)) == []
