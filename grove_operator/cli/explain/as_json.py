"""Formats the answers of `grove explain` as JSON."""

from __future__ import annotations

from typing import Any

from grove_compiler.engine.runtime.failure import RuleInfo
from grove_compiler.engine.tracing.provenance import Condition, Traced
from grove_compiler.engine.tracing.tracking import plain
from grove_compiler.explain import Given, InputSource, ObjectAnswer, Refusal
from grove_compiler.graph.field_path import FieldPath, render
from grove_compiler.graph.graph import Graph
from grove_operator.cli.explain.words import Words


def object_json(answer: ObjectAnswer, graph: Graph, words: Words, path: FieldPath = ()) -> dict[str, Any]:
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
            {"name": one.name, "expression": one.expression, "position": one.position, "inputs": _inputs(one.inputs, words)}
            for one in trace.loops
        ],
        "existsBy": _inputs(answer.existence, words),
        "fields": [_field(at, found, words) for at, found in trace.fields.items() if at[: len(path)] == path],
        "leftOut": [
            {"path": render(one.path), "file": one.origin.file, "line": one.origin.line, "expression": one.origin.expression}
            for one in trace.omissions
        ],
        "conditions": [_condition(one, words) for one in trace.conditions],
        "patches": [
            {"rule": one.rule, "operation": one.word, "path": "/" + "/".join(one.path), "file": one.file, "line": one.line}
            for one in trace.operations
        ],
        "notApplied": refusals_json(answer.refusals, words),
    }


def given_json(given: Given, fields: list[tuple[FieldPath, InputSource]]) -> dict[str, Any]:
    """Returns an input manifest with the sources of its fields."""
    return {"object": given.id, "fields": [{"path": render(path), **_source_json(source)} for path, source in fields]}


def refusals_json(refusals: list[Refusal], words: Words) -> list[dict[str, Any]]:
    """Returns rules that did not apply, each with the false condition."""
    return [{"rule": rule_json(one.rule, words), "condition": _condition(one.condition, words), "count": one.count} for one in refusals]


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
        "inputs": [_source_json(one) for one in words.sources_of(found)],
        "byWayOf": _inputs(found.passed, words),
        "thereBy": _inputs(found.deciding, words),
    }


def _condition(condition: Condition, words: Words) -> dict[str, Any]:
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
    return [_source_json(words.explainer.source_of(one)) for one in inputs]


def _source_json(source: InputSource) -> dict[str, Any]:
    found: dict[str, Any] = {"how": source.how, "object": source.name, "path": render(source.path), "value": source.value}
    if source.file:
        found |= {"file": source.file, "line": source.line, "column": source.column}
    if source.rule:
        found |= {"rule": source.rule, "inputs": [_source_json(one) for one in source.inputs]}
    return found
