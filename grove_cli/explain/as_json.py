"""Formats the answers of `grove explain` as JSON."""

from __future__ import annotations

from typing import Any

from grove_cli.explain.words import Words
from grove_compiler.engine.runtime.failure import RuleInfo
from grove_compiler.engine.tracing.provenance import Guard, Traced
from grove_compiler.engine.tracing.tracking import plain
from grove_compiler.explain import InputManifest, InputSource, ObjectAnswer, SkippedRule
from grove_compiler.graph.field_path import FieldPath, render
from grove_compiler.graph.graph import CompiledGraph


def object_json(answer: ObjectAnswer, graph: CompiledGraph, words: Words, path: FieldPath) -> dict[str, Any]:
    """Returns an object with the fields at or under a path."""
    node, trace = answer.node, answer.trace
    return {
        "object": node.id,
        "rule": rule_json(answer.rule, words),
        "template": f"templates/{answer.rule.details['template']}",
        "owner": node.owner.id if node.owner else None,
        "after": [other.id for other in graph.dependencies(node)],
        "policy": node.policy,
        "loops": [
            {"name": loop.name, "expression": loop.expression, "position": loop.position, "inputs": _inputs(loop.inputs, words)}
            for loop in trace.loops
        ],
        "existsBy": _inputs(answer.existence, words),
        "fields": [_field(at, found, words) for at, found in trace.fields.items() if at[: len(path)] == path],
        "leftOut": [
            {
                "path": render(omission.path),
                "file": omission.origin.file,
                "line": omission.origin.line,
                "expression": omission.origin.expression,
            }
            for omission in trace.omissions
        ],
        "conditions": [_condition(condition, words) for condition in trace.conditions],
        "patches": [
            {
                "rule": operation.rule,
                "operation": operation.word,
                "path": "/" + "/".join(operation.path),
                "file": operation.file,
                "line": operation.line,
            }
            for operation in trace.operations
        ],
        "notApplied": skipped_json(answer.skipped, words),
    }


def input_json(input_manifest: InputManifest, fields: list[tuple[FieldPath, InputSource]]) -> dict[str, Any]:
    """Returns an input manifest with the sources of its fields."""
    return {"object": input_manifest.id, "fields": [{"path": render(path), **_source_json(source)} for path, source in fields]}


def skipped_json(skipped: list[SkippedRule], words: Words) -> list[dict[str, Any]]:
    """Returns rules that did not apply, each with the false condition."""
    return [{"rule": rule_json(one.rule, words), "condition": _condition(one.condition, words), "count": one.count} for one in skipped]


def rule_json(rule: RuleInfo, words: Words) -> dict[str, Any]:
    """Returns a rule with its place."""
    place, _, line = words.place(rule.file, rule.line, rule.origin).rpartition(":")
    return {"id": rule.id, "doc": rule.doc, "origin": rule.origin, "file": place, "line": int(line)}


def _field(path: FieldPath, found: Traced, words: Words) -> dict[str, Any]:
    how = "copied" if found.sources[1] else "computed" if found.origin.expression else "constant"
    return {
        "path": render(path),
        "value": plain(found.value),
        "how": how,
        "rule": found.rule,
        "file": words.origin(found).rpartition(":")[0],
        "line": found.origin.line,
        "expression": found.origin.expression,
        "inputs": [_source_json(source) for source in words.sources_of(found)],
        "byWayOf": _inputs(found.passed, words),
        "thereBy": _inputs(found.deciding, words),
    }


def _condition(condition: Guard, words: Words) -> dict[str, Any]:
    return {
        "rule": condition.rule,
        "file": condition.file,
        "line": condition.line,
        "text": condition.text,
        "holds": condition.holds,
        "subject": _plain_or_kind(condition.subject),
        "inputs": _inputs(condition.inputs, words),
    }


def _plain_or_kind(value: Any) -> Any:
    return plain(value) if isinstance(value, str | int | float | dict | list | None) else type(value).__name__


def _inputs(inputs: tuple[Any, ...], words: Words) -> list[dict[str, Any]]:
    return [_source_json(words.explainer.source_of(each)) for each in inputs]


def _source_json(source: InputSource) -> dict[str, Any]:
    found: dict[str, Any] = {"how": source.kind, "object": source.name, "path": render(source.path), "value": source.value}
    if source.file:
        found |= {"file": source.file, "line": source.line, "column": source.column}
    if source.rule:
        found |= {"rule": source.rule, "inputs": [_source_json(each) for each in source.inputs]}
    return found
