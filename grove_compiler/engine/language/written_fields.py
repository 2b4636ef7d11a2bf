"""Finds the lines that write each field of objects that users' rules take part in, so that an invalid object can be traced to one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grove_compiler.engine.language.includes import Resolver
from grove_compiler.engine.language.place import SourceLocation
from grove_compiler.engine.language.rule import Rule, RuleSet
from grove_compiler.engine.language.template_ast import Field, ListNode, MapNode, TemplateNode
from grove_compiler.engine.runtime.access import EvaluationError
from grove_compiler.engine.runtime.patching import pointer
from grove_compiler.graph.field_path import FieldPath

WrittenField = tuple[FieldPath, str, int]
"""A field's path in the object, and the file and line that write it. An index is that of the template, not of the rendered list."""


def has_user_part(rule: Rule, patches: Sequence[Rule], rule_set: RuleSet) -> bool:
    """Reports whether a user's rule, template, patch, part, constant or default has a part in the objects of a `generate` rule.

    Anything may include a part, name a constant or read what a default wrote, so those count for every rule.
    """
    everywhere = [
        *(constant.at.file for constant in rule_set.constants.values()),
        *(template.source for template in rule_set.templates.values() if template.is_part),
        *(other.source for other in rule_set.rules if other.verb in ("default", "decide")),
    ]
    template = rule_set.templates.get(rule.template)
    own = [rule.source, *(patch.source for patch in patches), *([template.source] if template else [])]
    return any(file.metered for file in (*everywhere, *own))


def written_fields(rule: Rule, patches: Sequence[Rule], resolver: Resolver) -> list[WrittenField]:
    """Returns the fields of a rule's template, and then those of its patches whose paths are written out."""
    template = resolver.templates.get(rule.template)
    nodes = [resolver.parse(template.value, SourceLocation(template.source, ()))] if template else []
    fields = [field for node in nodes for field in _below(node)]
    for patch in patches:
        for number, operation in enumerate(patch.keys["do"]):
            at = patch.at("do", number)
            try:
                steps = pointer(str(operation["path"]).partition("{{")[0])
            except EvaluationError:
                continue  # an expression as a whole
            fields += [_field(steps, at.below("path")), *_below(resolver.parse(operation.get("value"), at.below("value"), steps))]
    return fields


def _below(node: TemplateNode) -> Iterator[WrittenField]:
    if isinstance(node, MapNode):
        for entry in node.entries:
            if isinstance(entry, Field):
                yield _field(entry.path, entry.at)
                yield from _below(entry.value)
    elif isinstance(node, ListNode):
        for item in node.items:
            yield _field(item.value.path, item.value.at)
            yield from _below(item.value)


def _field(path: FieldPath, at: SourceLocation) -> WrittenField:
    return tuple(step for step in path if not str(step).startswith("$")), *at.position
