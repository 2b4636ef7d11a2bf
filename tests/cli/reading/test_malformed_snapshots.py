"""Objects in `--snapshot` that no API server would have stored: the finding names the object, and never a rule."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from grove_cli.reading.snapshot import read_objects
from grove_compiler.compile import Inputs
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.field_path import FieldPath, replace
from grove_compiler.graph.node import Manifest
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.source.document import Document
from grove_compiler.source.reader import read_text
from tests.suite.effort import runs
from tests.suite.rows import rows

from ... import shipped
from ..running import ROOT, run

SET = "apiVersion: grove.io/v1alpha1\nkind: PodCliqueSet\nmetadata: {name: other, namespace: ml}\nspec: "
GANG = "apiVersion: scheduler.grove.io/v1alpha1\nkind: PodGang\nmetadata: {name: g, namespace: ml}\nspec: "
EVENT = "apiVersion: v1\nkind: Event\nmetadata: {name: e, namespace: ml}\n"
MALFORMED = {
    "a set's cliques": (SET + "{template: {cliques: 5}}", "spec.template.cliques", "PodCliqueSet 'other'"),
    "a clique of a set": (SET + "{template: {cliques: [x]}}", "spec.template.cliques[0]", "PodCliqueSet 'other'"),
    "a deep field of a set": (
        SET + "{template: {cliques: [{name: a, spec: {podSpec: {containers: {}}}}]}}",
        "spec.template.cliques[0].spec.podSpec.containers",
        "PodCliqueSet 'other'",
    ),
    "the groups of a gang": (GANG + "{podgroups: [x]}", "spec.podgroups[0]", "PodGang 'g'"),
    "the pods of a gang": (GANG + "{podgroups: [{name: a, podReferences: [5]}]}", "spec.podgroups[0].podReferences[0]", "PodGang 'g'"),
    "a time of a set": (
        SET + "{}\nstatus: {startTime: soon}",
        "status.startTime",
        "PodCliqueSet 'other' is not an object as an API server stores it",
    ),
    "what an event is about": (EVENT + "involvedObject: 5", "involvedObject", "not an object as an API server stores it"),
    "who tells an event": (EVENT + "source: here", "source", "not an object as an API server stores it"),
    "a name": ("apiVersion: v1\nkind: Pod\nmetadata: {name: 5}", "metadata.name", "not an object as an API server stores it"),
}


@rows(("text", "path", "named"), MALFORMED.values(), ids=MALFORMED.keys())
def test_the_finding_names_the_object_and_the_field(text: str, path: str, named: str, tmp_path: Path) -> None:
    (tmp_path / "now.yaml").write_text(text)
    ended = run("lint", str(ROOT / "examples/minimal.yaml"), "--snapshot", str(tmp_path / "now.yaml"))
    assert (ended.code, named in ended.err, f"    {path}\n" in ended.err) == (1, True, True)
    assert ("now.yaml:" in ended.err, "[snapshot/not-an-object]" in ended.err, "rules/failed" in ended.err) == (True, True, False)


def test_what_another_version_may_have_stored_is_taken() -> None:
    value = {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": "a"},
        "spec": {"new": 1, "template": {"more": {}}},
    }
    problems: list[Diagnostic] = []
    assert (read_objects(Document(value), problems.append), problems) == ([value], [])


def test_fields_that_only_events_have_may_hold_anything_in_other_kinds() -> None:
    value = {
        "apiVersion": "example.org/v1",
        "kind": "Event",
        "metadata": {"name": "a"},
        "involvedObject": 5,
        "source": "git",
        "count": "two",
    }
    problems: list[Diagnostic] = []
    assert (read_objects(Document(value), problems.append), problems) == ([value], [])


SETTINGS = Settings(pods=True, mnnvl_shape="driver")
EXAMPLES = ("topology-three-levels", "mnnvl-inference", "resource-sharing", "training-job", "kai-queue")


def documents(name: str) -> list[Document]:
    return read_text((ROOT / "examples" / f"{name}.yaml").read_text(), f"{name}.yaml")[0]


@cache
def config() -> Document:
    return documents("operator-configuration")[0]


@cache
def existing(name: str) -> list[Manifest]:
    """What the example becomes, as if it existed, with the example itself."""
    result = compile_inputs(Inputs(documents(name), config=config(), settings=SETTINGS), shipped.program())
    return copy.deepcopy([node.object for node in result.graph.nodes] + [document.value for document in documents(name)])


def paths(value: Any, path: FieldPath = ()) -> Iterator[FieldPath]:
    if path:
        yield path
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from paths(part, (*path, key))


@settings(max_examples=runs(150))
@given(st.data())
def test_whatever_stands_in_a_snapshot_no_rule_fails_of_it(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(EXAMPLES))
    objects = list(existing(name))
    number = data.draw(st.integers(0, len(objects) - 1))
    path = data.draw(st.sampled_from(list(paths(objects[number]))))
    other: Any = data.draw(st.sampled_from([5, "x", True, None, -1, 1.5, "", [], {}, [1], [None], [{}], {"a": 1}]))
    objects[number] = replace(objects[number], path, other)
    problems: list[Diagnostic] = []
    taken = read_objects(Document({"kind": "List", "items": objects}), problems.append)
    result = compile_inputs(Inputs(documents(name), snapshot=taken, config=config(), settings=SETTINGS), shipped.program())
    assert [finding for finding in result.diagnostics if finding.code == "rules/failed"] == []
