"""What the tests of this folder share: the shipped rules, and a compilation from texts to text."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from grove_cli.rulebook import read as read_rulebook
from grove_compiler.compile import VOCABULARY, CompileResult, Inputs
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.engine.codegen.build import build
from grove_compiler.engine.runtime.program import Program
from grove_compiler.engine.sources import RuleSource
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.source.document import Document
from grove_compiler.source.reader import read_text
from grove_compiler.source.yaml_writer import write_yaml

SETTING_NAMES = {
    "namespace": "namespace",
    "pods": "pods",
    "kubeVersion": "kube_version",
    "maxObjects": "max_objects",
    "mnnvlShape": "mnnvl_shape",
}


@cache
def shipped_program() -> Program:
    return read_rulebook().program(VOCABULARY)


@cache
def program_with(rules: str, template: str = "") -> Program:
    """The shipped rules and a user's."""
    sources = [*read_rulebook().sources(), RuleSource("rules/own.yaml", rules, "user")]
    return build([*sources, *([RuleSource("templates/own.yaml", template, "user")] if template else [])], VOCABULARY)


def documents_of(text: str, file: str = "input.yaml") -> list[Document]:
    """The documents of a text that a test wrote; it has to be sound YAML."""
    documents, findings = read_text(text, file)
    assert not findings, [f"{finding.place}: {finding.message}" for finding in findings]
    return documents


def compile_folder(folder: Path) -> CompileResult:
    """The case in a folder: `input.yaml`, and `config.yaml`, `snapshot.yaml`, `settings.yaml` where it has them."""
    parts = {path.stem: documents_of(path.read_text(), path.name) for path in sorted(folder.glob("*.yaml"))}
    assert parts.keys() <= {"input", "config", "snapshot", "settings"}, f"{folder}: unknown files"
    chosen = parts["settings"][0].value if "settings" in parts else {}
    inputs = Inputs(
        documents=parts["input"],
        snapshot=[item for document in parts.get("snapshot", []) for item in items_of(document)],
        config=parts["config"][0] if "config" in parts else None,
        settings=Settings(**{SETTING_NAMES[name]: value for name, value in chosen.items()}),
    )
    return compile_inputs(inputs, shipped_program())


def items_of(document: Document) -> list[dict[str, object]]:
    """One object, or those of a `List`."""
    items: list[dict[str, object]] = document.value["items"] if document.value["kind"] == "List" else [document.value]
    return items


def as_text(result: CompileResult) -> str:
    """Everything that a compilation gave, as YAML whose first lines are comments: findings, hashes and conditions, then the objects."""
    lines = [f"# {one.severity} {one.code}: {one.place} {one.path}: {one.message}" for one in result.diagnostics]
    for status in result.statuses:
        lines.append(f"# {status.ref.id}: generation {status.generation_hash}")
        lines += [f"# {one.of.id}: {one.type}={one.status} {one.reason}: {one.message}" for one in status.conditions]
    return "\n".join(lines) + "\n---\n" + write_yaml([node.object for node in result.graph.nodes])


def compile_manifest(
    manifest: dict[str, object], settings: Settings | None = None, snapshot: list[dict[str, object]] | None = None
) -> CompileResult:
    """One set that a test made, given the objects that exist."""
    documents = documents_of(json.dumps(manifest), "set.json")
    return compile_inputs(Inputs(documents, snapshot=snapshot or [], settings=settings or Settings()), shipped_program())
