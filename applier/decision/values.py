"""Interprets values by their schema types: their shape, the keys of list items, validation, and which values the server treats as equal."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from applier.decision.schema import Type
from applier.outcome import ABSENT
from kube_objects import quantity

_SIX_DIGITS = re.compile(r"\.\d{6}(?:Z|[+-]\d\d:\d\d)$")
MILLI = -3
_TIMES = ("time", "micro-time")
_EMPTY: tuple[Any, ...] = (None, False, 0, "", {}, [])


def equal(first: Any, second: Any) -> bool:
    """Compares as structured-merge-diff does: 1 equals 1.0, but not true, unlike in Python."""
    return first is second or (bool(first == second) and _same_booleans(first, second))


def _same_booleans(first: Any, second: Any) -> bool:
    """Reports whether two values that are equal in Python have booleans in the same places; Python treats booleans as numbers."""
    if first is second:  # what was merged or rendered has most of its parts in common with what it was made from
        return True
    kind = first.__class__
    if kind is str:
        return True
    if kind is list:
        return all(one.__class__ is str or _same_booleans(one, other) for one, other in zip(first, second, strict=True))
    if kind is dict:
        return all(value.__class__ is str or _same_booleans(value, second[key]) for key, value in first.items())
    return kind is second.__class__ or (kind is not bool and second.__class__ is not bool)


def is_empty(value: Any) -> bool:
    """Reports whether Go's `omitempty` would omit this value."""
    return any(value is one or (value.__class__ is one.__class__ and value == one) for one in _EMPTY)


def is_unset(value: Any, schema: Type) -> bool:
    """Reports whether the server treats a field with this value like an absent one.

    In a custom resource, which the server does not read into Go structs, only an absent field is absent.
    """
    if value is ABSENT or not schema.go:
        return value is ABSENT
    if value is None:
        return True
    kind = value.__class__
    if kind is dict:
        return not value and schema.is_map and not schema.fields and not schema.deduced and not schema.scalar
    if kind is list:
        return not value and schema.is_list and not schema.scalar
    if value or kind not in _PYTHON[schema.scalar] or schema.form in _TIMES:  # the server rejects an empty string as a time
        return False
    return not (value is False and schema.scalar == "untyped") and schema.omits_empty


def equal_in_form(form: str, first: Any, second: Any) -> bool:
    """Reports whether the server writes two unequal values of a form (see `Type.form`) alike, such as the quantities 1000m and 1."""
    reader = _READERS.get(form)
    if reader is None:
        return False
    try:
        return bool(reader(first) == reader(second))
    except (ValueError, ArithmeticError, TypeError):
        return False


def equal_when_rounded(first: Any, second: Any) -> bool:
    """Reports whether two quantities are equal once rounded up to thousandths, as the server rounds the resources of Pods."""
    try:
        return quantity.rounded_up(str(first), MILLI) == quantity.rounded_up(str(second), MILLI)
    except ValueError:
        return False


def _seconds(value: Any) -> datetime:
    return _moment(value).replace(microsecond=0)


def _moment(value: Any) -> datetime:
    moment = datetime.fromisoformat(str(value))
    if moment.tzinfo is None:
        raise ValueError(f"not a time zone: {value}")
    return moment.astimezone(UTC)


def _microseconds(value: Any) -> datetime:
    """Parses a MicroTime: exactly six fractional digits, as Go requires. Raises ValueError."""
    if not _SIX_DIGITS.search(str(value)):
        raise ValueError(f"not microseconds: {value}")
    return _moment(value)


def decoded(value: Any) -> bytes:
    """Decodes Base64 as Go does: line breaks are ignored, any other foreign character is an error. Raises ValueError."""
    try:
        return base64.b64decode(str(value).replace("\n", "").replace("\r", ""), validate=True)
    except binascii.Error as error:
        raise ValueError("not base64") from error


def _quantity(value: Any) -> str:
    """Returns the text of a quantity in the family of its suffix, which the server preserves: `1024` does not become `1Ki`."""
    return quantity.normalized(str(value))


_READERS: dict[str, Any] = {"quantity": _quantity, "time": _seconds, "micro-time": _microseconds, "bytes": decoded}


_PLAIN = re.compile(r"[A-Za-z0-9 _./:@*+=,;()-]*").fullmatch
_ESCAPED = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def json_of(value: Any) -> str:
    """Encodes a value as the server does in keys of FieldsV1: compact JSON with `<`, `>` and `&` escaped."""
    if value.__class__ is str and _PLAIN(value):
        return f'"{value}"'
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character, escaped in _ESCAPED.items():
        if character in text:
            text = text.replace(character, escaped)
    return text


def item_step(values: Iterable[tuple[str, Any]]) -> str:
    """Returns the step to an item of an associative list. `values` are its keys with their values, sorted by key."""
    return "k:{" + ",".join(f"{json_of(name)}:{json_of(value)}" for name, value in values) + "}"


def value_step(value: Any) -> str:
    """Returns the step to an item of a set."""
    return "v:" + json_of(value)


class SchemaMismatch(Exception):
    """Reports a value that its schema does not allow, so that the server would reject it.

    `path` names the place, innermost element first: each level appends its own while the exception propagates.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path: list[str] = []

    def __str__(self) -> str:
        return f"{'.'.join(reversed(self.path))}: {self.reason}" if self.path else self.reason


def step_to(item: Any, schema: Type) -> str:
    """Returns the step of FieldsV1 to an item of a list whose type is `set` or `map`. Raises `SchemaMismatch`."""
    if schema.list_kind == "set":
        if item is None or isinstance(item, dict | list):
            raise SchemaMismatch("an item of a set that is not a scalar")
        return value_step(item)
    if not isinstance(item, dict):
        raise SchemaMismatch("an item of a list with keys that is not a map")
    values = []
    for key in schema.keys:
        if key in item:
            values.append((key, item[key]))
        elif schema.key_defaults.get(key) is not None:
            values.append((key, schema.key_defaults[key]))
    if not values:
        raise SchemaMismatch(f"an item without {' and '.join(schema.keys)}")
    return item_step(values)


def step_at(item: Any, position: int, schema: Type) -> str:
    """Returns the step to an item of any list: by value or keys if it has them, else by position."""
    try:
        return step_to(item, schema) if schema.list_kind in ("set", "map") else f"i:{position}"
    except SchemaMismatch:
        return f"i:{position}"


def value_below(value: Any, step: str, schema: Type) -> Any:
    """Returns the value that one step of FieldsV1 leads to; ABSENT if there is none."""
    if isinstance(value, list):
        return next((item for position, item in enumerate(value) if step_at(item, position, schema) == step), ABSENT)
    return value.get(step[2:], ABSENT) if isinstance(value, dict) and step.startswith("f:") else ABSENT


def steps_to(items: list[Any], schema: Type) -> list[str]:
    """Returns the steps to all items, in order. Raises `SchemaMismatch`."""
    return [step_to(item, schema) for item in items]


MAP, SCALAR, LIST = "map", "scalar", "list"


def shape_of(schema: Type, value: Any) -> str:
    """Returns the shape of a value under a type. Null, absent and mismatching values get the first shape that the type allows."""
    if isinstance(value, dict):
        if schema.is_map:
            return MAP
    elif isinstance(value, list):
        if schema.is_list:
            return LIST
    elif value is not None and value is not ABSENT and schema.scalar:
        return SCALAR
    return MAP if schema.is_map else SCALAR if schema.scalar else LIST


def is_leaf(schema: Type, shape: str) -> bool:
    """Reports whether a value of this shape is atomic, that is, owned as a whole."""
    return shape == SCALAR or (schema.map_atomic if shape == MAP else schema.list_kind in ("atomic", ""))


def member_type(schema: Type, name: str) -> Type:
    """Returns the type of a map's member. Raises `SchemaMismatch` if the schema does not declare it."""
    known = schema.fields.get(name)  # inlines `Type.member`: the call took 4 % of a decision
    member = known[1] if known else schema.element
    if member is None:
        raise SchemaMismatch("field not declared in schema")
    return member


_PYTHON: dict[str, tuple[object, ...]] = {
    "string": (str,),
    "numeric": (int, float),
    "boolean": (bool,),
    "untyped": (str, int, float, bool),
    "": (),
}


def check(schema: Type, value: Any) -> None:
    """Validates a value against its type, as the server does before it merges. Raises `SchemaMismatch`."""
    if value is None:
        return
    shape = shape_of(schema, value)
    if shape == MAP:
        _check_map(schema, value)
    elif shape == LIST:
        _check_list(schema, value)
    elif value.__class__ not in _PYTHON[schema.scalar]:
        raise SchemaMismatch(f"expected {schema.scalar or 'a list'}")
    elif value.__class__ is int and not -(2**63) <= value < 2**64:
        raise SchemaMismatch("a whole number beyond 64 bits, which the server cannot store")


def _check_map(schema: Type, value: Any) -> None:
    if not isinstance(value, dict):
        raise SchemaMismatch("expected a map")
    for name, member in value.items():
        try:
            check(member_type(schema, name), member)
        except SchemaMismatch as mismatch:
            mismatch.path.append(name)
            raise


def _check_list(schema: Type, value: Any) -> None:
    if not isinstance(value, list):
        raise SchemaMismatch("expected a list")
    seen: set[str] = set()
    for position, item in enumerate(value):
        try:
            if schema.list_kind in ("set", "map"):
                step = step_to(item, schema)
                if step in seen:
                    raise SchemaMismatch(f"duplicate entries for key {step[2:]}")
                seen.add(step)
            check(schema.item, item)
        except SchemaMismatch as mismatch:
            mismatch.path.append(str(position))
            raise
