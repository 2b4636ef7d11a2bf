"""What the server does with an apply: values, owners and conflicts (structured-merge-diff's `Updater.Apply` and `managedfields`)."""

from __future__ import annotations

from typing import Any, NamedTuple

from applier.decision.comparing import Comparison, compare
from applier.decision.fields import Fields, difference, intersection, union, without
from applier.decision.managers import Entry, Identity, Managers, applier_of
from applier.decision.merging import merge, remove
from applier.decision.ownership import NEVER_OWNED, field_set, reconciled, with_named_fields
from applier.decision.schema import Type
from applier.decision.shape import check
from applier.ref import Manifest

_STATUS: Fields = {"f:status": {}}
BEFORE_FIRST_APPLY = "before-first-apply"


class Applied(NamedTuple):
    """An apply as the server would do it with force, and what it would refuse without.

    `object` has no managedFields, and values stand in it as they were sent. `managers` are those afterwards; `before` those of the live
    object as the server sees them. `conflicts` holds what each manager would lose. `strangers` are managers whose entries are in
    another API version: they are compared as if they were in ours.
    """

    object: Manifest
    managers: Managers
    before: Managers
    conflicts: dict[Identity, Fields]
    strangers: frozenset[str]


def apply(
    live: Manifest, intent: Manifest, type: Type, managers: Managers, *, manager: str, version: str, subresource: str = ""
) -> Applied:
    """Lays an intent over a live object; `live` is empty for one that is to be created. Raises `Misfit` for what breaks the schema."""
    check(type, intent)
    live = without_managed_fields(live)
    before = {identity: entry._replace(fields=reconciled(entry.fields, type)) for identity, entry in managers.items()}
    if not before and live:
        before = _first_entries(live, type, version)
    ours = applier_of(manager, subresource)
    last = before.get(ours)
    after = {**before, ours: Entry(_without_status(field_set(intent, type), type), version, last.time if last else "")}
    merged = merge(live, intent, type)
    if last is not None and difference(last.fields, after[ours].fields):
        merged = prune(merged, last.fields, after, type)
    found = compare(live, merged, type)
    conflicts = _settle(found, after, ours, type)
    after[ours] = after[ours]._replace(fields=difference(after[ours].fields, NEVER_OWNED))
    managers = {identity: entry for identity, entry in after.items() if entry.fields}
    strangers = frozenset(entry.version for entry in before.values()) - {version}
    return Applied(merged if merged is not None else {}, managers, before, conflicts, strangers)


def without_managed_fields(live: Manifest) -> Manifest:
    """An object without what says who owns it."""
    metadata = live.get("metadata")
    if not metadata or "managedFields" not in metadata:
        return live
    return {**live, "metadata": {key: value for key, value in metadata.items() if key != "managedFields"}}


def _first_entries(live: Manifest, type: Type, version: str) -> Managers:
    """Who owns an object that nobody's fields were kept of: one manager for all that is there."""
    found = compare({}, live, type)
    fields = difference(_without_status(union(found.added, found.modified), type), NEVER_OWNED)
    return {Identity(BEFORE_FIRST_APPLY, "Update", "", version): Entry(fields, version)} if fields else {}


def _without_status(fields: Fields, type: Type) -> Fields:
    return without(fields, _STATUS) if type.status else fields


def prune(merged: Manifest, last: Fields, after: Managers, type: Type) -> Any:
    """Takes out what we owned before and nobody owns now. Items that others own parts of stay, as does what nobody ever owned."""
    named = with_named_fields(last, type)
    pruned = remove(merged, named, type)
    owned: Fields = {}
    for entry in after.values():
        owned = union(owned, entry.fields)
    whole = with_named_fields(field_set(merged, type), type)
    kept = with_named_fields(field_set(pruned, type), type) if pruned is not None else {}
    pruned = remove(merged, difference(whole, union(kept, with_named_fields(owned, type))), type)
    kept = with_named_fields(field_set(pruned, type), type) if pruned is not None else {}
    return remove(merged, intersection(difference(whole, kept), named), type)


def _settle(found: Comparison, after: Managers, ours: Identity, type: Type) -> dict[Identity, Fields]:
    """Takes changed and removed fields from the other managers; gives what changed of each, which is what it would object to."""
    changed = _without_status(union(found.modified, found.added), type)
    removed = _without_status(found.removed, type)
    conflicts: dict[Identity, Fields] = {}
    if not changed and not removed:
        return conflicts
    for identity, entry in after.items():
        if identity == ours:
            continue
        lost = intersection(entry.fields, changed)
        if lost:
            conflicts[identity] = lost
        after[identity] = entry._replace(fields=difference(difference(entry.fields, lost), removed))
    return conflicts
