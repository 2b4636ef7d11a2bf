"""`grove rules check`: paths of defaults and patches that name what their kind does not have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ..running import run


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine").mkdir()


def findings(rule: str) -> list[dict[str, Any]]:
    """What the check says of this one rule, with line, path, and what was probably meant."""
    Path("mine/a.yaml").write_text(f"rule: my/rule\ndoc: D.\n{rule}\n")
    found: list[dict[str, Any]] = json.loads(run("rules", "check", "mine", "-o", "json").out)["findings"]
    return [one for one in found if one["code"] == "rules/unknown-path"]


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
    "a field in a value": (
        "patch: PodClique\ndo:\n- op: merge\n  path: /spec\n  value:\n    podSpec: {contaners: []}",
        "PodClique has no field 'contaners' here",
        "containers",
        8,
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
