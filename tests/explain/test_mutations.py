"""The proof by experiment that no input is missing: a field of the input is changed, and whatever changes has it among its inputs."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from grove_compiler.compile import Inputs
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.engine.tracing.tracking import Input
from grove_compiler.explain import Explainer, ObjectAnswer
from grove_compiler.explain.input_source import scalars
from grove_compiler.graph.diagnostic import has_errors
from grove_compiler.graph.field_path import FieldPath, render, replace
from grove_compiler.source.document import Document

from .questions import PROGRAM, ROOT, Question, asking, example_inputs, traced

EXAMPLES = sorted(path for path in (ROOT / "examples").glob("*.yaml") if path.stem != "nodes")
SAMPLE = 25
EVERYTHING = "GROVE_EVERY_MUTATION"
"""Set in the environment, it has every field of every example changed in every way: some minutes instead of half of one."""

WORDS = [
    {"true", "false"},
    {"replica", "scalingGroupReplica", "clique"},
    {"AllReplicas", "PerReplica"},
    {"CliqueStartupTypeAnyOrder", "CliqueStartupTypeInOrder", "CliqueStartupTypeExplicit"},
]
"""Texts of which one can stand for another."""


Fields = dict[str, dict[FieldPath, Any]]
"""The scalars and empty containers of all objects of a result, by id and path."""


class Mutation(NamedTuple):
    """One changed scalar: the object that has it and its number, where, what it was and is, and the inputs with it."""

    name: str
    number: int
    path: FieldPath
    old: Any
    new: Any
    inputs: Inputs


def mutations(question: Question) -> Iterator[Mutation]:
    """Every field of every manifest that was put in, changed in every way."""
    explainer, inputs = question.explainer, question.inputs
    fields = [
        (number, manifest, path, value) for number, manifest in enumerate(explainer.manifests) for path, value in scalars(manifest.written)
    ]
    texts: dict[str, set[str]] = {}
    for _, _, path, value in fields:
        if isinstance(value, str):
            texts.setdefault(key_of(path), set()).add(value)
    for number, manifest, path, value in fields:
        if not is_identity(path, manifest.is_snapshot):
            for new in others(value, texts):
                changed = with_change(inputs, manifest.written, manifest.document, (*manifest.at, *path), path, new)
                yield Mutation(manifest.id, number, path, value, new, changed)


def is_identity(path: FieldPath, is_live: bool) -> bool:
    """Whether a field says which object it is. One that exists is found by its name and its owner: with others it is not that object."""
    return path[0] in ("apiVersion", "kind") or (
        is_live and path[0] == "metadata" and path[1] in ("name", "namespace", "uid", "ownerReferences")
    )


def key_of(path: FieldPath) -> str:
    """The last name of a path: items of a list are told by the list's."""
    return str(next(step for step in reversed(path) if isinstance(step, str)))


def others(value: Any, texts: dict[str, set[str]]) -> list[Any]:
    """Values that could stand in place of one: a reference may name something else that there is."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1]
    if not isinstance(value, str):
        return []
    words = {word for words in [*texts.values(), *WORDS] if value in words for word in words}
    return [f"{value}x", *sorted(words - {value})[:6]]


def with_change(inputs: Inputs, manifest: Any, document: Document | None, at: FieldPath, path: FieldPath, new: Any) -> Inputs:
    documents = [changed_document(one, at, new) if one is document else one for one in inputs.documents]
    config = changed_document(document, at, new) if document is not None and document is inputs.config else inputs.config
    snapshot = [replace(one, path, new) if one is manifest else one for one in inputs.snapshot]
    return Inputs(documents, snapshot, [], config, inputs.settings)


def changed_document(document: Document, at: FieldPath, new: Any) -> Document:
    return Document(replace(document.value, at, new), document.file, document.index, document.line, document.origin)


class Known:
    """What `explain` names as inputs of the fields of a result: each object and each field is asked about once, when first needed."""

    def __init__(self, question: Question) -> None:
        self.explainer = question.explainer
        self.nodes = {node.id: node for node in question.result.graph.nodes}
        self.fields = {id: dict(scalars(node.object)) for id, node in self.nodes.items()}
        self._answers: dict[str, ObjectAnswer] = {}
        self._inputs: dict[tuple[str, FieldPath, bool], set[tuple[str, FieldPath]]] = {}
        self._read: dict[Input, set[tuple[str, FieldPath]]] = {}

    def inputs(self, id: str, path: FieldPath, is_gone: bool) -> set[tuple[str, FieldPath]]:
        """The object and the path of each input of a field; where the whole object is gone, those of the object as well."""
        if (id, path, is_gone) not in self._inputs:
            self._inputs[id, path, is_gone] = self._find(id, path, is_gone)
        return self._inputs[id, path, is_gone]

    def _find(self, id: str, path: FieldPath, is_gone: bool) -> set[tuple[str, FieldPath]]:
        if id not in self._answers:
            self._answers[id] = self.explainer.object(self.nodes[id])
        answer = self._answers[id]
        inputs = answer.inputs_of(path) if is_gone else answer.trace.fields[path].inputs
        return set().union(*map(self._sources, inputs))

    def _sources(self, read: Input) -> set[tuple[str, FieldPath]]:
        if read not in self._read:
            self._read[read] = {(one.name, one.path) for one in self.explainer.source_of(read).all()}
        return self._read[read]


def unexplained(known: Known, now: Fields, changed: tuple[str, FieldPath], is_absent_only: bool = False) -> Iterator[tuple[str, str]]:
    """The fields that another result lacks, or unless `is_absent_only` has with another value, and that do not rest on what changed."""
    for id, fields in known.fields.items():
        there = now.get(id, {})
        for path, value in fields.items():
            # 1 and true are one to Python, and two to YAML
            if path in there and (is_absent_only or repr(there[path]) == repr(value)):
                continue
            if changed not in known.inputs(id, path, id not in now):
                yield id, render(path)


def missing(question: Question, sample: int | None = None) -> Iterator[tuple[str, str, str, str]]:
    """Where `explain` is wrong: the input that was changed, the object, the change, and the field that does not rest on it.

    Fields and objects that appear are asked about where they are: in the result of the changed input.
    """
    known = Known(question)
    changes = list(mutations(question))
    for one in random.Random(1).sample(changes, min(sample or len(changes), len(changes))):
        result = compile_inputs(one.inputs, PROGRAM)
        if has_errors(result.diagnostics):
            continue
        now = {node.id: dict(scalars(node.object)) for node in result.graph.nodes}
        found = list(unexplained(known, now, (one.name, one.path)))
        if any(path not in known.fields.get(id, {}) for id, fields in now.items() for path in fields):
            other = Known(Question(one.inputs, result, Explainer(one.inputs, traced(), question.documents)))
            name = other.explainer.manifests[one.number].id
            found += unexplained(other, known.fields, (name, one.path), is_absent_only=True)
        for id, path in found:
            yield f"{one.name} {render(one.path)}", id, f"{one.old} -> {one.new}", path


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_whatever_a_change_of_the_input_changes_has_the_changed_field_among_its_inputs(example: Path) -> None:
    inputs, reader = example_inputs(example)
    with asking(inputs, reader.snapshot_documents) as question:
        assert list(missing(question, None if os.environ.get(EVERYTHING) else SAMPLE)) == []
