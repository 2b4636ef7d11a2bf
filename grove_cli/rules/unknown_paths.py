"""Validates the paths and values of the user's defaults and patches against the schema of their kind."""

from __future__ import annotations

from collections.abc import Iterator

from grove_cli.rules.template_structure import resolver_of, schema_of, wrong_value
from grove_compiler.engine.language.includes import Resolver
from grove_compiler.engine.language.patterns import matches
from grove_compiler.engine.language.place import SourceLocation
from grove_compiler.engine.language.rule import Rule, RuleSet
from grove_compiler.engine.language.template_ast import TemplateNode
from grove_compiler.engine.runtime.access import EvaluationError
from grove_compiler.engine.runtime.defaults import parse_default_path
from grove_compiler.engine.runtime.patching import pointer
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.nearest import nearest
from grove_compiler.kube.definitions import DEFINITIONS, KINDS
from grove_compiler.kube.structure import Schema

Step = str | None
"""The name of a field; none for any item of a list."""


class _Unknown(Exception):
    """A path does not exist. `suggestion` is a similar one.

    The `code` of a field is the one that compiling gives it, so that one comment silences both: it may be newer than what we know.
    """

    def __init__(self, message: str, suggestion: str = "", code: str = "rules/unknown-path") -> None:
        self.suggestion, self.code = suggestion, code
        super().__init__(message)


def unknown_paths(rules: list[Rule], result: RuleSet) -> Iterator[Diagnostic]:
    """Yields an error for each path that an API server does not store, and findings about the values at other paths.

    Kinds without a schema are not checked.
    """
    resolver = resolver_of(result)
    for rule in rules:
        if rule.verb == "default":
            yield from _of_default(rule, resolver)
        elif rule.verb == "patch":
            yield from _of_patch(rule, result, resolver)


def _of_default(rule: Rule, resolver: Resolver) -> Iterator[Diagnostic]:
    kinds = {kind: schema for (_, kind), schema in KINDS.items() if kind in rule.list_of("of")}
    value = resolver.parse(rule.keys.get("value"), rule.at("value"), ())
    for number, text in enumerate(rule.list_of("default")):
        at = rule.at("default", number) if isinstance(rule.keys["default"], list) else rule.at("default")
        try:
            alternatives = parse_default_path(text)
        except ValueError:
            continue  # reported when it is compiled
        steps = [[step[1] if step[0] == "key" else None for step in path] for path in alternatives]
        yield from _findings(steps, kinds, value, at, guarded=bool(rule.conditions))


def _of_patch(rule: Rule, result: RuleSet, resolver: Resolver) -> Iterator[Diagnostic]:
    kinds = dict(_schemas_of(rule, result))
    operations = rule.keys.get("do")
    for number, operation in enumerate(operations if isinstance(operations, list) else ()):
        path = operation.get("path") if isinstance(operation, dict) else None
        if not isinstance(path, str) or not path.startswith("/"):
            continue  # reported when it is compiled, or an expression as a whole
        known, _, expression = path.partition("{{")
        try:
            steps: list[Step] = [*pointer(known)]
        except EvaluationError:
            continue
        at = rule.at("do", number, "path")
        guarded = bool(rule.conditions) or "when" in operation
        if expression:  # below it nothing is known; the step that it stands in is not either
            yield from _findings([steps[:-1]], kinds, None, at, guarded)
        else:
            value = resolver.parse(operation.get("value"), rule.at("do", number, "value"), ())
            yield from _findings([steps], kinds, value, at, guarded)


def _schemas_of(patch: Rule, result: RuleSet) -> Iterator[tuple[str, Schema]]:
    """Yields the kinds that a patch changes, with their schemas if known."""
    for word in patch.list_of("patch"):
        rules = [rule for rule in result.rules if rule.verb == "generate" and "/" in word and matches(word, rule.id)]
        names = (
            {rule.template for rule in rules}
            if "/" in word
            else {template.name for template in result.templates.values() if template.kind == word}
        )
        for name in names & result.templates.keys():
            schema = schema_of(result.templates[name])
            if schema is not None:
                yield result.templates[name].kind, schema


def _findings(
    paths: list[list[Step]], kinds: dict[str, Schema], value: TemplateNode | None, at: SourceLocation, guarded: bool
) -> list[Diagnostic]:
    """Returns the findings of paths for each kind. A `guarded` rule for several kinds may apply to only one of them."""
    found = [[finding for path in paths for finding in _of_path(kind, schema, path, value, at)] for kind, schema in kinds.items()]
    return [] if guarded and not all(found) else [finding for of_kind in found for finding in of_kind]


def _of_path(kind: str, schema: Schema, path: list[Step], value: TemplateNode | None, at: SourceLocation) -> Iterator[Diagnostic]:
    try:
        target = _below(schema, path)
    except _Unknown as unknown:
        file, line, text = at.written
        yield Diagnostic(unknown.code, "error", f"{kind} has {unknown}", text, file, line, nearest=unknown.suggestion)
    else:
        if target is not None and value is not None:
            yield from wrong_value(kind, target, value)


def _below(schema: Schema, path: list[Step]) -> Schema | None:
    """Returns the schema at a path; none if any value is allowed there. Raises `_Unknown`."""
    label = ""
    for step in path:
        schema = _resolved(schema)
        kind = schema["kind"]
        if kind == "any" or (kind == "map" and "values" not in schema):
            return None
        if kind == "list":
            if step is not None and step != "-" and not step.isdigit():
                raise _Unknown(f"a list at `{label}`, whose items have numbers; found {step!r}")
            schema = schema["items"]
        elif step is None:
            raise _Unknown(f"no list at `{label}`")
        elif kind == "map":
            schema = schema["values"]
        elif kind != "object":
            raise _Unknown(f"{kind} at `{label}`, which has no fields; found {step!r}")
        elif step in schema["fields"]:
            schema = schema["fields"][step]
        elif schema.get("unknown") == "keep":
            return None
        else:
            where = f"at `{label}`" if label else "at its top"
            raise _Unknown(f"no field {step!r} {where}", nearest(step, schema["fields"]), "schema/unknown-field")
        label += "[*]" if step is None else f".{step}" if label else step
    return schema


def _resolved(schema: Schema) -> Schema:
    while "ref" in schema:
        schema = DEFINITIONS[schema["ref"]]
    return schema
