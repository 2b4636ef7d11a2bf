"""Computes the object that the server would store after an apply: values, defaults declared by the schema, and managedFields."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from applier.decision.fields import Fields, members, read_step
from applier.decision.intent import fold_string_data, is_secret
from applier.decision.managers import (
    Identity,
    ManagedFieldsEntry,
    Managers,
    apply_identity,
    has_duplicate_entries,
    managers_of,
    to_managed_fields,
)
from applier.decision.persisted_form import differences, stored_alike
from applier.decision.schema import Type
from applier.decision.server_side_apply import simulate
from applier.decision.values import LIST, SchemaMismatch, is_leaf, is_unset, json_of, steps_to
from applier.errors import Cause, FieldConflict, Invalid
from applier.outcome import ABSENT, ItemKey
from applier.ref import Manifest
from kube_objects.manifest import without_managed_fields


def merged(
    manifest: Manifest,
    live: Manifest | None,
    schema: Type,
    *,
    manager: str,
    now: str,
    force: bool | Collection[str] = False,
    subresource: str = "",
) -> Manifest:
    """Applies a manifest as the server does. Neither object is changed; the result may share parts with both.

    `now` (RFC 3339) becomes the time of our managedFields entry if anything changes; returns `live` itself if nothing does. `force` takes
    all conflicting fields, or those of the managers that it names. `status` as the `subresource` applies a status. Only defaults that
    the schema declares are set. Raises `FieldConflict` with a cause for each field, and `Invalid` for a violation of the schema.
    """
    before = live or {}
    try:
        version = str(manifest.get("apiVersion", ""))
        applied = simulate(before, manifest, schema, managers_of(before), manager=manager, version=version, subresource=subresource)
    except SchemaMismatch as mismatch:
        raise Invalid(422, "Invalid", f"failed to create typed patch object: .{mismatch}") from mismatch
    taken = ("*",) if force is True else force or ()
    refused = {owner: lost for owner, lost in applied.conflicts.items() if "*" not in taken and owner.manager not in taken}
    if refused:
        raise _conflict(refused, applied.before)
    ours = apply_identity(manager, subresource)
    result = with_live_values(without_managed_fields(before), stored(applied.object, schema), schema)
    same_managers = bool(live) and _without_times(applied.managers) == _without_times(applied.before) and not has_duplicate_entries(before)
    if same_managers and not differences(without_managed_fields(before), result, schema):
        return before
    managers = dict(applied.managers)
    if ours in managers:
        managers[ours] = managers[ours]._replace(time=now)
    entries = {"managedFields": to_managed_fields(managers)} if managers else {}
    return {**result, "metadata": {**(result.get("metadata") or {}), **entries}}


def _without_times(managers: Managers) -> dict[Identity, tuple[Fields, str]]:
    return {identity: (entry.fields, entry.version) for identity, entry in managers.items()}


def stored(value: Manifest, schema: Type) -> Manifest:
    """Returns an object as the server stores it: without the null and empty values that Go omits, and with declared defaults."""
    if is_secret(value):
        value = fold_string_data(value)
    result = _stored(value, schema)
    return result if isinstance(result, dict) else {}


def _stored(value: Any, schema: Type) -> Any:
    if isinstance(value, list) and schema.is_list:
        return [_stored(item, schema.item) for item in value]
    if not isinstance(value, dict) or not schema.is_map:
        return value
    result: dict[str, Any] = {}
    for name, member in value.items():
        below = schema.member(name)
        if below is None:
            continue
        member = _stored(member, below)
        if schema.go and not isinstance(member, str | int | float) and name in schema.fields and is_unset(member, below):
            continue
        result[name] = member
    for name, default in schema.defaults.items():
        if name not in result and (not schema.go or default not in ("", {}, 0, False)):
            result[name] = default
    return result


def _conflict(refused: dict[Identity, Fields], before: Managers) -> FieldConflict:
    """Builds the error with the server's message, as apimachinery's `pkg/util/managedfields/internal/conflict.go` writes it."""
    causes: list[Cause] = []
    lines: list[str] = []
    for identity in sorted(refused):
        owner = _describe(identity, before[identity])
        lines.append(f"conflicts with {owner}:")
        for steps in members(refused[identity]):
            field = "".join(_format_step(step) for step in steps)
            causes.append(Cause("FieldManagerConflict", field, f"conflict with {owner}"))
            lines.append(f"- {field}")
    if len(causes) == 1:
        message = f"Apply failed with 1 conflict: {causes[0].message}: {causes[0].field}"
    else:
        message = f"Apply failed with {len(causes)} conflicts: " + "\n".join(lines)
    return FieldConflict(409, "Conflict", message, tuple(causes))


def _describe(identity: Identity, entry: ManagedFieldsEntry) -> str:
    name = f'"{identity.manager}"' + (f' with subresource "{identity.subresource}"' if identity.subresource else "")
    if identity.operation == "Apply":
        return name
    return f"{name} using {entry.version}"


def _format_step(step: str) -> str:
    element = read_step(step)
    if isinstance(element, ItemKey):
        return "[" + ",".join(f"{name}={json_of(value)}" for name, value in element.fields) + "]"
    return f"[{element}]" if isinstance(element, int) else f".{element}"


def with_live_values(live: Any, sent: Any, schema: Type) -> Any:
    """Replaces each part of a sent value with the live one if the server treats the two as equal, so that its spelling is preserved."""
    if sent is live or stored_alike(live, sent, schema):
        return live
    if isinstance(sent, dict) and isinstance(live, dict) and schema.is_map:
        return _map_with_live_values(live, sent, schema)
    if isinstance(sent, list) and isinstance(live, list) and schema.is_list and not is_leaf(schema, LIST):
        items = dict(zip(steps_to(live, schema), live, strict=True))
        steps = steps_to(sent, schema)
        return [with_live_values(items.get(step, ABSENT), item, schema.item) for step, item in zip(steps, sent, strict=True)]
    return sent


def _map_with_live_values(live: dict[str, Any], sent: dict[str, Any], schema: Type) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name in dict.fromkeys([*live, *sent]):
        below = schema.member(name)
        value = sent.get(name, ABSENT)
        if value is ABSENT:
            if below is not None and stored_alike(live[name], ABSENT, below, schema, name):
                result[name] = live[name]
            continue
        current = live.get(name, ABSENT)
        if below is not None and not (name in schema.fields and stored_alike(current, value, below, schema, name)):
            result[name] = with_live_values(current, value, below)
        elif current is not ABSENT and below is not None:
            result[name] = current
    return result
