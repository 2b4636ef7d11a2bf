"""The object that the server would store after an apply, with the managers of its fields, in the spelling in which it keeps them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from applier.decision.fields import Fields, members, read_step
from applier.decision.intent import folded, is_secret
from applier.decision.managers import Entry, Identity, Managers, applier_of, managers_of, recorded_twice, written
from applier.decision.persisted_form import differences, stored_alike
from applier.decision.schema import Type
from applier.decision.server_side_apply import simulate, without_managed_fields
from applier.decision.values import LIST, Misfit, is_leaf, is_unset, json_of, steps_to
from applier.errors import Cause, FieldConflict, Invalid
from applier.outcome import ABSENT, ItemKey
from applier.ref import Manifest


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
    """Applies a manifest as the server does; neither object is changed, and parts of both may be shared with the result.

    `now` is RFC 3339 and becomes our entry's time if anything changes; nothing changes if the result equals `live`. `force` takes all
    conflicting fields, or those of the managers that it names. `status` as the `subresource` applies a status. Defaults are filled in
    only where the schema declares them. Raises `FieldConflict` with a cause for each field, and `Invalid` for what breaks the schema.
    """
    before = live or {}
    try:
        version = str(manifest.get("apiVersion", ""))
        applied = simulate(before, manifest, schema, managers_of(before), manager=manager, version=version, subresource=subresource)
    except Misfit as misfit:
        raise Invalid(422, "Invalid", f"failed to create typed patch object: .{misfit}") from misfit
    taken = ("*",) if force is True else force or ()
    refused = {one: lost for one, lost in applied.conflicts.items() if "*" not in taken and one.manager not in taken}
    if refused:
        raise _conflict(refused, applied.before)
    ours = applier_of(manager, subresource)
    result = as_kept(without_managed_fields(before), stored(applied.object, schema), schema)
    same_managers = bool(live) and _bare(applied.managers) == _bare(applied.before) and not recorded_twice(before)
    if same_managers and not differences(without_managed_fields(before), result, schema):
        return before
    managers = dict(applied.managers)
    if ours in managers:
        managers[ours] = managers[ours]._replace(time=now)
    entries = {"managedFields": written(managers)} if managers else {}
    return {**result, "metadata": {**(result.get("metadata") or {}), **entries}}


def _bare(managers: Managers) -> dict[Identity, tuple[Fields, str]]:
    return {identity: (entry.fields, entry.version) for identity, entry in managers.items()}


def stored(value: Manifest, schema: Type) -> Manifest:
    """Returns an object as the server keeps it: without null and empty maps where Go leaves them out, and with declared defaults."""
    if is_secret(value):
        value = folded(value)
    result = _stored(value, schema)
    return result if isinstance(result, dict) else {}


def _stored(value: Any, type: Type) -> Any:
    if isinstance(value, list) and type.is_list:
        return [_stored(item, type.item) for item in value]
    if not isinstance(value, dict) or not type.is_map:
        return value
    kept: dict[str, Any] = {}
    for name, member in value.items():
        below = type.member(name)
        if below is None:
            continue
        member = _stored(member, below)
        if type.go and not isinstance(member, str | int | float) and name in type.fields and is_unset(member, below):
            continue
        kept[name] = member
    for name, default in type.defaults.items():
        if name not in kept and (not type.go or default not in ("", {}, 0, False)):
            kept[name] = default
    return kept


def _conflict(refused: dict[Identity, Fields], before: Managers) -> FieldConflict:
    """Returns the server's words: `pkg/util/managedfields/internal/conflict.go` of apimachinery."""
    causes: list[Cause] = []
    lines: list[str] = []
    for identity in sorted(refused):
        who = _named(identity, before[identity])
        lines.append(f"conflicts with {who}:")
        for steps in members(refused[identity]):
            field = "".join(_written(step) for step in steps)
            causes.append(Cause("FieldManagerConflict", field, f"conflict with {who}"))
            lines.append(f"- {field}")
    if len(causes) == 1:
        message = f"Apply failed with 1 conflict: {causes[0].message}: {causes[0].field}"
    else:
        message = f"Apply failed with {len(causes)} conflicts: " + "\n".join(lines)
    return FieldConflict(409, "Conflict", message, tuple(causes))


def _named(identity: Identity, entry: Entry) -> str:
    name = f'"{identity.manager}"' + (f' with subresource "{identity.subresource}"' if identity.subresource else "")
    if identity.operation == "Apply":
        return name
    return f"{name} using {entry.version}"


def _written(step: str) -> str:
    element = read_step(step)
    if isinstance(element, ItemKey):
        return "[" + ",".join(f"{name}={json_of(value)}" for name, value in element.fields) + "]"
    return f"[{element}]" if isinstance(element, int) else f".{element}"


def as_kept(live: Any, sent: Any, type: Type) -> Any:
    """Returns a sent value with the live one wherever the two are one to the server."""
    if sent is live or stored_alike(live, sent, type):
        return live
    if isinstance(sent, dict) and isinstance(live, dict) and type.is_map:
        return _map_as_kept(live, sent, type)
    if isinstance(sent, list) and isinstance(live, list) and type.is_list and not is_leaf(type, LIST):
        items = dict(zip(steps_to(live, type), live, strict=True))
        steps = steps_to(sent, type)
        return [as_kept(items.get(step, ABSENT), item, type.item) for step, item in zip(steps, sent, strict=True)]
    return sent


def _map_as_kept(live: dict[str, Any], sent: dict[str, Any], type: Type) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name in dict.fromkeys([*live, *sent]):
        below = type.member(name)
        value = sent.get(name, ABSENT)
        if value is ABSENT:
            if below is not None and stored_alike(live[name], ABSENT, below, type, name):
                kept[name] = live[name]
            continue
        now = live.get(name, ABSENT)
        if below is not None and not (name in type.fields and stored_alike(now, value, below, type, name)):
            kept[name] = as_kept(now, value, below)
        elif now is not ABSENT and below is not None:
            kept[name] = now
    return kept
