"""Validates the literal parts of templates and rules against the schema of their kind, before anything is rendered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from grove_compiler.engine.language.includes import Resolver
from grove_compiler.engine.language.place import SourceLocation
from grove_compiler.engine.language.rule import RuleSet, Template, find_field
from grove_compiler.engine.language.template_ast import Field, ListNode, Literal, MapNode, TemplateNode, Text
from grove_compiler.graph.diagnostic import Diagnostic, Severity
from grove_compiler.graph.field_path import FieldPath
from grove_compiler.kube.definitions import DEFINITIONS
from grove_compiler.kube.structure import Schema, check
from grove_compiler.kube.structure_findings import without_value

WHEN_RENDERED = {"schema/required", "schema/duplicate-item", "schema/too-few", "schema/too-many"}
"""Findings that depend on the whole object, which loops, guards, merges and patches complete: checked after rendering."""


def resolver_of(result: RuleSet) -> Resolver:
    """Returns the resolver of includes and constants, as the compilation uses it."""
    return Resolver(result.templates, {name: constant.value for name, constant in result.constants.items()})


def wrong_templates(result: RuleSet) -> Iterator[Diagnostic]:
    """Yields findings about templates of whole objects whose kinds have a schema.

    Built-in templates are checked as well, as they may include parts and constants of the user; their own errors are not reported.
    """
    resolver = resolver_of(result)
    for template in result.templates.values():
        schema = schema_of(template)
        # The schema may depend on a version that settings choose: such objects are checked after rendering.
        if schema is not None and template.usable and isinstance(_api_version(template), Literal):
            yield from wrong_value(template.kind, schema, resolver.parse(template.value, SourceLocation(template.source, ())))


def schema_of(template: Template) -> Schema | None:
    """Returns the schema of a template; none for an unknown kind."""
    version = _api_version(template)
    written = str(version.value) if isinstance(version, Literal) else ""
    if isinstance(version, Text):  # a version that settings choose: what every version has is what `v1` has
        written = version.text.partition("{{")[0] + "v1"
    try:
        return DEFINITIONS[f"{written if '/' in written else f'core/{written}'}.{template.kind}"]
    except KeyError:
        return None


def _api_version(template: Template) -> TemplateNode | None:
    version = find_field(template.node, "apiVersion")
    return version.value if version else None


def wrong_value(kind: str, schema: Schema, node: TemplateNode) -> Iterator[Diagnostic]:
    """Yields findings about a value with a schema, each at its line. Expressions are not evaluated.

    An unknown field is an error: an API server would drop it, or reject the object.
    """
    sketch = Sketch()
    value = sketch.value(node, ())
    for path, finding in check(value, schema, DEFINITIONS) if value is not None else ():
        if path in sketch.unknown or finding.code in WHEN_RENDERED or not sketch.places[path].file.metered:
            continue
        file, line, text = sketch.places[path].written
        severity: Severity = "error" if finding.code == "schema/unknown-field" else finding.severity
        message = f"in {kind}: {without_value(finding.message) if kind == 'Secret' else finding.message}"
        yield Diagnostic(finding.code, severity, message, text, file, line, nearest=finding.nearest, hint=finding.hint)


@dataclass(slots=True)
class Sketch:
    """Converts a template to a value: literals unchanged, each list item once, and a placeholder for each expression.

    `places` tells where the value at a path is written, `unknown` the paths of expressions.
    """

    places: dict[FieldPath, SourceLocation] = field(default_factory=dict)
    unknown: set[FieldPath] = field(default_factory=set)

    def value(self, node: TemplateNode, path: FieldPath) -> Any:
        """Returns the value of a node at `path`."""
        self.places[path] = node.at
        if isinstance(node, MapNode):
            return dict(self._fields(node, path))
        if isinstance(node, ListNode):
            return [self.value(item, (*path, index)) for index, item in enumerate(_items(node))]
        if isinstance(node, Literal):
            return node.value
        self.unknown.add(path)
        return node

    def _fields(self, node: MapNode, path: FieldPath) -> Iterator[tuple[Any, Any]]:
        for entry in node.entries:
            if isinstance(entry, Field) and isinstance(entry.key, Literal):
                key = entry.key.value
                yield key, self.value(entry.value, (*path, key))
                self.places[(*path, str(key))] = entry.at


def _items(node: ListNode) -> Iterator[TemplateNode]:
    """Yields the values of items, including those of included parts."""
    for item in node.items:
        if item.spreads and isinstance(item.value, ListNode):
            yield from _items(item.value)
        else:
            yield item.value
