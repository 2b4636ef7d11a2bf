"""What these tests share: compiling an edit with and without the former result, and telling results apart to the letter."""

from __future__ import annotations

import copy
import json
from dataclasses import asdict
from functools import cache
from typing import Any

from grove_compiler.compile import VOCABULARY, Inputs, Result
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.engine.build import build
from grove_compiler.engine.program import Program
from grove_compiler.engine.sources import RuleSource
from grove_compiler.model.settings import Settings
from grove_compiler.source.json_writer import write_json
from grove_compiler.source.yaml_writer import write_yaml
from grove_operator.rulebook import read as read_rulebook
from tests.features.compiling import documents_of, shipped_program

Manifest = dict[str, Any]


def inputs_of(*manifests: Manifest, **more: Any) -> Inputs:
    """The manifests as a file would have them: freshly read, so that nothing is shared between two inputs."""
    documents = [document for manifest in manifests for document in documents_of(json.dumps(manifest), "set.json")]
    snapshot = copy.deepcopy(more.pop("snapshot", []))
    return Inputs(documents, snapshot=snapshot, settings=more.pop("settings", Settings(pods=True)), **more)


def to_the_letter(result: Result) -> dict[str, Any]:
    """Everything that a result says, in a form that tells apart what may be written differently."""
    objects = [node.object for node in result.graph.nodes]
    return {
        "nodes": [(node.id, node.rule, node.loop, node.owner, node.policy) for node in result.graph.nodes],
        "json": write_json(objects),
        "yaml": write_yaml(objects),
        "after": result.graph.after,
        "levels": [[node.id for node in wave] for wave in result.graph.levels()],
        "statuses": [(one.ref, one.generation_hash, [condition_of(each) for each in one.conditions]) for one in result.statuses],
        "findings": [asdict(finding) for finding in result.diagnostics],
    }


def condition_of(condition: Any) -> tuple[Any, ...]:
    return condition.of, condition.type, condition.status, condition.reason, condition.message, condition.rule


def recompiled(before: Inputs, after: Inputs, program: Program | None = None) -> tuple[Result, Result]:
    """What `after` becomes: by itself, and when the result of `before` is at hand."""
    used = program or shipped_program()
    return compile_inputs(after, used), compile_inputs(after, used, compile_inputs(before, used))


def assert_same(before: Inputs, after: Inputs, program: Program | None = None) -> None:
    full, again = recompiled(before, after, program)
    assert to_the_letter(again) == to_the_letter(full)


def reused(former: Result, result: Result) -> set[str]:
    """The rules of which some node was taken over from a former result."""
    known = {id(node) for node in former.graph.nodes}
    return {node.rule for node in result.graph.nodes if id(node) in known}


def with_replicas(manifest: Manifest, replicas: int | None) -> Manifest:
    """The same set with another number of replicas; none leaves it out."""
    spec = {key: part for key, part in manifest["spec"].items() if key != "replicas"}
    return {**manifest, "spec": spec if replicas is None else {"replicas": replicas, **spec}}


@cache
def program_with(rules: str, template: str = "") -> Program:
    """The shipped rules and a user's."""
    sources = [*read_rulebook().sources(), RuleSource("rules/own.yaml", rules, "user")]
    return build([*sources, *([RuleSource("templates/own.yaml", template, "user")] if template else [])], VOCABULARY)
