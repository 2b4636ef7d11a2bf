"""Checks a document against its schema: the structure and types that Kubernetes would decode.

A schema is a plain dict, so that tables can be literals of generated modules. Keys by kind (all but `kind` are optional):

    {"kind": "object", "fields": {name: schema}, "required": [name], "unknown": "error" | "warning" | "keep"}
    {"kind": "map", "values": schema}                  free keys, values of one schema (no `values`: anything)
    {"kind": "list", "items": schema, "keys": [name], "doubles": True, "set": True, "min_items": n, "max_items": n}
    {"kind": "string", "enum": [...], "open": True, "pattern": "^...$", "min_length": n, "max_length": n}
    {"kind": "integer", "minimum": n, "maximum": n, "bits": 32}      64 bits unless said otherwise
    {"kind": "number", "minimum": x, "maximum": x}
    {"kind": "boolean"} {"kind": "quantity"} {"kind": "duration"} {"kind": "int-or-string"} {"kind": "time"} {"kind": "any"}
    {"ref": "core/v1.PodSpec"}                         the schema of that name in the definitions

`unknown` is `error` when absent. `keys` makes a list a list-map (no two items with equal keys; the default of the item's field stands in
for an absent key), `set` forbids equal scalars; with `doubles` equal keys are a warning. An `open` enum is one that CRDs do not hold.
Other keys (`default`, `doc` ...) are the reader's own and ignored here. A null counts as absent, as it does for a Kubernetes API server.
An integral float is an integer and a number is a quantity, since JSON knows no difference.

Codes: schema/wrong-type, unknown-field, required, not-one-of, duplicate-item, out-of-range, pattern, too-short, too-long,
too-few, too-many, quantity, duration, time, too-deep.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from grove_compiler.graph.diagnostic import SEVERITIES, Diagnostic, too_many_findings
from grove_compiler.graph.field_path import FieldPath
from grove_compiler.kube.structure_findings import StructureFindings, TooManyFindings
from grove_compiler.kube.structure_scalars import SCALARS

Schema = dict[str, Any]
Definitions = dict[str, Schema]
Finding = tuple[FieldPath, Diagnostic]
FaultTree = dict[str | int, Any]

DEEPEST = 100
"""The deepest nesting; Kubernetes' own types reach about twenty levels. Bounds recursion where definitions refer to themselves."""


def check(value: Any, schema: Schema, definitions: Definitions, path: FieldPath = ()) -> list[Finding]:
    """Returns everything that is wrong with `value`, in the order of the document, each with the path of the value at fault.

    Above the limit of errors, or warnings, it returns the first ones, and one about `value` as a whole (`limit/findings`). `path` is the
    place of `value` in its document. The caller adds file and line. Never raises.
    """
    findings = StructureFindings(definitions, len(path))
    with suppress(TooManyFindings):
        _value(value, schema, path, findings)
    return findings.collected + [(path, too_many_findings(one)) for one in SEVERITIES if findings.left[one] < 0]


def check_and_prune(value: Any, schema: Schema, definitions: Definitions, path: FieldPath = ()) -> tuple[list[Finding], Any]:
    """Returns the findings, and the value without the parts that have errors, so that further rules can look at the rest.

    The second part `is` the value when it has no errors; see `prune` for what is left out otherwise.
    """
    findings = check(value, schema, definitions, path)
    return findings, prune(value, findings, path) if findings else value


def _value(value: Any, schema: Schema, path: FieldPath, findings: StructureFindings) -> None:
    schema = _resolved(schema, findings)
    kind = schema["kind"]
    scalar = SCALARS.get(kind)
    if scalar is not None:
        scalar(value, schema, path, findings)
    elif kind == "any":
        return
    elif len(path) - findings.start > DEEPEST:
        findings.add(path, "too-deep", f"is nested more than {DEEPEST} levels deep", "Too long")
    elif kind == "object":
        _object(value, schema, path, findings)
    elif kind == "list":
        _list(value, schema, path, findings)
    else:
        _map(value, schema, path, findings)


def _resolved(schema: Schema, findings: StructureFindings) -> Schema:
    while "ref" in schema:
        schema = findings.definitions[schema["ref"]]
    return schema


def _object(value: Any, schema: Schema, path: FieldPath, findings: StructureFindings) -> None:
    if not findings.takes(path, value, dict, "an object"):
        return
    fields = schema["fields"]
    for name, item in value.items():
        field = fields.get(name)
        if field is None:
            findings.unknown_field((*path, str(name)), schema)
        elif item is not None:
            _value(item, field, (*path, name), findings)
    for name in schema.get("required", ()):
        if value.get(name) is None:
            findings.required((*path, name), value)


def _map(value: Any, schema: Schema, path: FieldPath, findings: StructureFindings) -> None:
    if not findings.takes(path, value, dict, "an object"):
        return
    values = schema.get("values")
    for name, item in value.items():
        if not isinstance(name, str):
            findings.wrong_type((*path, str(name)), name, "a string as key")
        elif values is not None and item is not None:
            _value(item, values, (*path, name), findings)


def _list(value: Any, schema: Schema, path: FieldPath, findings: StructureFindings) -> None:
    if not findings.takes(path, value, list, "a list"):
        return
    findings.count(path, value, schema)
    items = schema["items"]
    for index, item in enumerate(value):
        if item is None:
            findings.wrong_type((*path, index), item, "a list item with a value")
        else:
            _value(item, items, (*path, index), findings)
    if len(value) > 1 and ("keys" in schema or "set" in schema):
        _unique(value, schema, path, findings)


def _unique(items: list[Any], schema: Schema, path: FieldPath, findings: StructureFindings) -> None:
    keys = schema.get("keys")
    fields = _resolved(schema["items"], findings).get("fields", {})
    defaults = {key: fields[key].get("default") for key in keys or () if key in fields}
    first: dict[Any, int] = {}
    for index, item in enumerate(items):
        if keys is None:
            identity: Any = item
        elif isinstance(item, dict):
            identity = tuple([defaults.get(key) if item.get(key) is None else item[key] for key in keys])
        else:
            continue
        if not _comparable(identity):
            continue  # a missing key or a wrong type, which has its own finding
        earlier = first.setdefault(identity, index)
        if earlier != index:
            findings.duplicate((*path, index), item, earlier, schema)


def _comparable(identity: Any) -> bool:
    parts = identity if isinstance(identity, tuple) else (identity,)
    return all(isinstance(part, str | int | float) for part in parts)


def prune(value: Any, findings: Sequence[Finding], path: FieldPath = ()) -> Any:
    """Returns a copy of `value` (which stands at `path`) without every value that has an error; shares all parts that have none.

    Fields are dropped from their object and items from their list, which moves later items: `original_path` says from where.
    Warnings drop nothing; a required field that is missing stays missing. None when the value itself is at fault.
    """
    tree = fault_tree(findings, len(path))
    if tree is None:
        return None
    return _without(value, tree) if tree else value


def original_path(path: FieldPath, faults: FaultTree | None) -> FieldPath:
    """Returns where a value of the pruned copy stood before items were dropped from the lists above it."""
    tree = faults
    steps: list[str | int] = []
    for step in path:
        if isinstance(step, int) and tree:
            for index in sorted(key for key, below in tree.items() if isinstance(key, int) and below is None):
                step += index <= step
        steps.append(step)
        tree = tree.get(step) if tree else None
    return tuple(steps)


def fault_tree(findings: Sequence[Finding], start: int = 0) -> FaultTree | None:
    """Returns the paths of errors as a tree whose leaves are None; None when the root itself is at fault."""
    tree: FaultTree = {}
    for path, diagnostic in findings:
        if diagnostic.severity != "error":
            continue
        steps = path[start:]
        if not steps:
            return None
        level = tree
        for step in steps[:-1]:
            below = level.setdefault(step, {})
            if below is None:
                break  # something above is dropped already
            level = below
        else:
            level[steps[-1]] = None
    return tree


def _without(value: Any, tree: FaultTree) -> Any:
    if isinstance(value, dict):
        return {
            key: _without(item, tree[key]) if key in tree else item for key, item in value.items() if tree.get(str(key), True) is not None
        }
    if isinstance(value, list):
        return [
            _without(item, tree[index]) if index in tree else item for index, item in enumerate(value) if tree.get(index, True) is not None
        ]
    return value
