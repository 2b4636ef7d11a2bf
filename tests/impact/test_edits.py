"""Which fields of the input an edit changes, where they stand, and the input with one edit alone."""

from __future__ import annotations

from grove_compiler.graph.field_path import ABSENT, render
from grove_compiler.impact.edit import GivenObjects, applied, as_declared, edits, read_given
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.source.document import Document
from tests.features.compiling import documents_of, shipped_program
from tests.suite.rows import rows

OLD = """\
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: a}
spec:
  replicas: 1
  template: {priorityClassName: gone}
---
apiVersion: v1
kind: List
items:
  - {apiVersion: grove.io/v1alpha1, kind: PodCliqueSet, metadata: {name: b, namespace: team}, spec: {replicas: 1, template: {}}}
"""
NEW = """\
# a comment
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: a, namespace: default}
spec:
  replicas: 2
---
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata:
  name: c
---
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: b, namespace: team}
spec:
  replicas: 1
  template:
    priorityClassName: high
"""


def given(text: str, file: str = "") -> GivenObjects:
    return read_given(documents_of(text, file), shipped_program(), Settings())


def found(old: str = OLD, new: str = NEW) -> list[tuple[str, str, str, int]]:
    return [
        (edit.subject, render(edit.change.path), edit.file, edit.line) for edit in edits(given(old, "old.yaml"), given(new, "new.yaml"))
    ]


def test_edits_name_the_line_of_the_new_input_or_of_the_old_for_what_is_gone() -> None:
    assert found() == [
        ("PodCliqueSet/default/a", "spec.replicas", "new.yaml", 6),
        ("PodCliqueSet/default/c", "", "new.yaml", 8),
        ("PodCliqueSet/team/b", "spec.template.priorityClassName", "new.yaml", 19),
        ("PodCliqueSet/default/a", "spec.template", "old.yaml", 6),
    ]


def test_a_manifest_that_is_gone_is_told_with_its_old_line() -> None:
    (edit,) = [edit for edit in edits(given(NEW, "new.yaml"), given(OLD)) if edit.change.after is ABSENT and not edit.change.path]
    assert (edit.subject, edit.file) == ("PodCliqueSet/default/c", "new.yaml")


def test_one_edit_alone_changes_nothing_else() -> None:
    old, new = given(OLD), given(NEW)
    for edit in edits(old, new):
        alone = read_given(applied(old, edit), shipped_program(), Settings())
        assert [(one.key, one.change.path) for one in edits(old, alone)] == [(edit.key, edit.change.path)]


HEAD = "apiVersion: grove.io/v1alpha1\nkind: PodCliqueSet\nmetadata: {name: a}\nspec: "
SAME = {
    "the order of keys": ("{replicas: 1, template: {terminationDelay: 1h}}", "{template: {terminationDelay: 1h}, replicas: 1}"),
    "a duration in another form": ("{template: {terminationDelay: 1h}}", "{template: {terminationDelay: 60m0s}}"),
    "a default of the schema": ("{template: {}}", "{replicas: 0, template: {cliqueStartupType: CliqueStartupTypeAnyOrder}}"),
    "a default of a rule": ("{template: {}}", "{template: {terminationDelay: 4h0m0s}}"),
    "null and nothing": ("{template: {}}", "{template: {priorityClassName: null}}"),
    "a default of a field that somebody changed": (
        "{template: {cliques: [{name: x, spec: {replicas: 2}}]}}",
        "{template: {cliques: [{name: x, spec: {replicas: 2, minAvailable: 2}}]}}",
    ),
}


@rows(("old", "new"), SAME.values(), ids=SAME.keys())
def test_what_means_the_same_is_no_edit(old: str, new: str) -> None:
    assert found(HEAD + old, HEAD + new) == []


def test_a_default_that_follows_an_edit_is_no_edit_of_its_own() -> None:
    old = HEAD + "{template: {cliques: [{name: x, spec: {replicas: 2}}]}}"
    new = old.replace("replicas: 2", "replicas: 3")
    assert [path for _, path, _, _ in found(old, new)] == ["spec.template.cliques[0].spec.replicas"]


def test_a_part_that_is_new_is_one_edit_though_defaults_stood_for_it() -> None:
    new = HEAD + "{template: {headlessServiceConfig: {publishNotReadyAddresses: false}}}"
    assert [path for _, path, _, _ in found(HEAD + "{template: {}}", new)] == ["spec.template.headlessServiceConfig"]


def test_what_a_server_adds_is_no_edit() -> None:
    live = {
        "kind": "PodCliqueSet",
        "metadata": {
            "name": "a",
            "uid": "u",
            "resourceVersion": "7",
            "generation": 3,
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "managedFields": [{}],
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}", "a": "b"},
        },
        "spec": {"replicas": 1},
        "status": {"replicas": 1},
    }
    expected = {"kind": "PodCliqueSet", "metadata": {"name": "a", "annotations": {"a": "b"}}, "spec": {"replicas": 1}}
    alone, listed = as_declared([Document(live), Document({"kind": "List", "items": [live, 3]})])
    assert alone.value == expected
    assert listed.value == {"kind": "List", "items": [expected, 3]}
