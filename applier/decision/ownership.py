"""The set of fields that applying an object would own (structured-merge-diff's `ToFieldSet`), and sets brought up to a changed schema."""

from __future__ import annotations

from collections import Counter
from typing import Any

from applier.decision.fields import Fields, is_member
from applier.decision.items import steps_to
from applier.decision.schema import Type
from applier.decision.shape import LIST, MAP, is_leaf, member_type, shape_of

OF_THE_SERVER = frozenset(
    ("name", "namespace", "creationTimestamp", "selfLink", "uid", "generation", "managedFields", "resourceVersion", "clusterName")
)
"""Metadata that no manager owns and no apply changes."""

NEVER_OWNED: Fields = {"f:apiVersion": {}, "f:kind": {}, "f:metadata": {".": {}, **{f"f:{name}": {} for name in sorted(OF_THE_SERVER)}}}
"""What the server takes out of every manager's set."""


def field_set(value: Any, type: Type) -> Fields:
    """Every leaf, item and free key that an object mentions. Raises `Misfit` where it breaks its schema."""
    node = _node(value, type)
    return {} if node is None or node is _LEAF else node


_LEAF: Fields = {}


def _node(value: Any, type: Type) -> Fields | None:
    """The set below a value; `_LEAF` for one owned as a whole, None for one that owns nothing."""
    shape = shape_of(type, value)
    if is_leaf(type, shape):
        return _LEAF
    if not value:
        return None
    return _of_map(value, type) if shape == MAP else _of_list(value, type)


def _of_map(value: dict[str, Any], type: Type) -> Fields | None:
    found: Fields = {}
    for name, member in value.items():
        node = _node(member, member_type(type, name))
        if node is _LEAF or member is None or member == {} or name not in type.fields:
            node = {".": {}, **node} if node else _LEAF
        if node is not None:
            found[f"f:{name}"] = node
    return found or None


def _of_list(value: list[Any], type: Type) -> Fields | None:
    steps = steps_to(value, type)
    times = Counter(steps)
    found: Fields = {}
    for step, item in zip(steps, value, strict=True):
        node = _node(item, type.item) if times[step] == 1 else None
        found[step] = {".": {}, **node} if node else _LEAF
    return found


def reconciled(fields: Fields, type: Type) -> Fields:
    """A set after its schema has made lists or maps atomic: what was owned inside is owned as a whole."""
    found: Fields = {}
    changed = False
    for step, node in fields.items():
        now = node
        if node and step != ".":
            below = type.below(step)
            if below is not None:
                now = _reconciled_node(node, below)
        changed = changed or now is not node
        found[step] = now
    return found if changed else fields


def _reconciled_node(node: Fields, type: Type) -> Fields:
    shape = MAP if type.is_map else LIST if type.is_list and not type.scalar else ""
    if not shape or (shape == MAP and type.deduced) or (len(node) == 1 and "." in node):
        return node
    return {} if is_leaf(type, shape) else reconciled(node, type)


def with_named_fields(fields: Fields, type: Type | None) -> Fields:
    """A set with every declared field that leads to one of its members (`EnsureNamedFieldsAreMembers`)."""
    found: Fields = {}
    for step, node in fields.items():
        if node and step != ".":
            below = type.below(step) if type is not None else None
            declared = type is not None and step.startswith("f:") and step[2:] in type.fields
            inner = with_named_fields(node, below)
            node = {".": {}, **inner} if declared and not is_member(node) else inner
        found[step] = node
    return found
