"""What is compiled, what is written as it is, and what is neither."""

from __future__ import annotations

from typing import Any

import pytest

from grove_compiler.source.document import Document
from grove_compiler.source.reader import read_text
from grove_operator.cluster.classify import Classified, classify_documents
from tests.suite.rows import rows

from .manifests import a_set, obj

CONFIGURATION = {"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration"}
TOPOLOGY = obj("ClusterTopology", "racks", "", api="grove.io/v1alpha1")
TYPO = obj("PodCliqueSte", "web", api="grove.io/v1alpha1")
CLIQUE = obj("PodClique", "web-0-server", api="grove.io/v1alpha1")
GANG = obj("PodGang", "web-0", api="scheduler.grove.io/v1alpha1")
CLAIM = obj("ResourceClaimTemplate", "gpu", api="resource.k8s.io/v1")
SETTINGS = obj("ConfigMap", "settings")


def sort(*manifests: Any) -> Classified:
    return classify_documents([Document(manifest, "all.yaml", number, number * 10 + 1) for number, manifest in enumerate(manifests)])


@pytest.mark.parametrize("manifest", [a_set(), TOPOLOGY, CONFIGURATION, TYPO], ids=lambda manifest: manifest["kind"])
def test_is_compiled(manifest: Any) -> None:
    found = sort(manifest)
    assert ([one.value for one in found.compiled], found.plain) == ([manifest], [])


@pytest.mark.parametrize("manifest", [SETTINGS, CLIQUE, GANG, CLAIM], ids=lambda manifest: manifest["kind"])
def test_is_written_as_it_is(manifest: Any) -> None:
    found = sort(manifest)
    assert ([one.manifest for one in found.plain], found.compiled) == ([manifest], [])


@pytest.mark.parametrize(("manifest", "owns"), [(a_set(), True), (TOPOLOGY, True), (CONFIGURATION, False), (SETTINGS, False)])
def test_sets_and_topologies_own_what_they_become(manifest: Any, owns: bool) -> None:
    assert bool(sort(manifest).subjects) is owns


def test_claims_that_a_set_may_refer_to_are_known_to_the_compiler_too() -> None:
    found = sort(a_set(), CLAIM)
    assert [one.value["kind"] for one in found.compiled] == ["PodCliqueSet", "ResourceClaimTemplate"]


def test_a_list_of_sets_is_compiled_as_a_whole() -> None:
    together = {"apiVersion": "v1", "kind": "List", "items": [a_set("a"), a_set("b")]}
    found = sort(together)
    assert [one.value for one in found.compiled] == [together]
    assert [item.manifest["metadata"]["name"] for item in found.subjects] == ["a", "b"]


def test_a_list_of_all_sorts_is_taken_apart() -> None:
    found = sort({"apiVersion": "v1", "kind": "List", "items": [a_set(), SETTINGS, CLIQUE]})
    assert [one.value["kind"] for one in found.compiled] == ["PodCliqueSet"]
    assert [one.manifest["kind"] for one in found.plain] == ["ConfigMap", "PodClique"]


def test_an_item_knows_where_it_stands() -> None:
    assert [item.source for item in sort(SETTINGS, CLIQUE).plain] == ["all.yaml:1", "all.yaml:11"]


@rows(
    ("text", "line", "message"),
    [
        ("just text", 1, "a manifest must be a map"),
        ("kind: ConfigMap\nmetadata: {name: x}", 1, "`apiVersion` is missing"),
        ("apiVersion: v1\nkind: 7\nmetadata: {name: x}", 2, "`kind` is missing or not text"),
        ("apiVersion: v1\nkind: ConfigMap", 1, "`metadata` is missing"),
        ("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  labels: {}", 3, "`metadata.name` is missing"),
        ("apiVersion: v1\nkind: Pod\nmetadata:\n  generateName: x-", 3, "a name that the server generates"),
        ("apiVersion: v1\nkind: Pod\nmetadata:\n  name: ..", 4, "no object has the name '..'"),
        ("apiVersion: v1\nkind: Pod\nmetadata:\n  name: a%2fb", 4, "no object has the name 'a%2fb'"),
        ("apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  namespace: b/c", 5, "no object has the namespace 'b/c'"),
        ("apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  namespace: 5", 5, "`metadata.namespace` is not text"),
        ("apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap", 4, "`metadata` is missing"),
    ],
)
def test_what_is_no_object_is_found_where_it_stands(text: str, line: int, message: str) -> None:
    documents, _ = read_text(text, "wrong.yaml")
    [finding] = classify_documents(documents).findings
    assert (finding.file, finding.line, finding.severity) == ("wrong.yaml", line, "error")
    assert message in finding.message
