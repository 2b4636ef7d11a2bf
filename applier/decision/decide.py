"""Decides whether a server-side apply of a manifest would change a live object, without a request."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from applier.decision.fast_path import is_surely_unchanged
from applier.decision.fields import Fields, members, path_of
from applier.decision.intent import hide_secrets, is_secret, prepared, with_folded_owners, yield_fields
from applier.decision.managers import (
    BadManagedFields,
    Identity,
    Managers,
    apply_identity,
    entries_of,
    has_duplicate_entries,
    managers_of,
    owner_of,
    owners_among,
)
from applier.decision.persisted_form import MAY_DEFAULT, PersistedDifference, differences
from applier.decision.schema import Type
from applier.decision.server_side_apply import Applied, simulate
from applier.decision.values import SchemaMismatch, check
from applier.outcome import Conflict, FieldChange, dotted
from applier.ref import Manifest


class Verdict(StrEnum):
    """Enumerates the effects that an apply can have."""

    CREATE = "create"
    SAME = "same"  # no write
    CHANGE = "change"  # of values or of field ownership
    YIELDED = "yielded"  # no write, although fields that are left to other managers differ
    CONFLICT = "conflict"  # the server would reject it with 409
    UNKNOWN = "unknown"  # only a dry run on the server can tell


@dataclass(slots=True, eq=False)
class Decision:
    """Represents the predicted effect of an apply, with its reasons.

    `intent` is the manifest to send: prepared, without yielded fields, values of Secrets hidden (`applier.decision.intent.revealed`
    restores them). With `force` it has to be sent with force, since it takes fields from managers whose fields may be taken.
    `changes` are the fields whose values would change (for YIELDED, the fields that differ and are left to others), with the live
    values as `old`; `conflicts` are the fields that block the apply. A CHANGE without `changes` only changes field ownership.
    `reason` explains YIELDED and UNKNOWN in one line; the others are explained by changes and conflicts. `defaultable` are the changes
    that remove a field which the server may default again, possibly to the live value. `unsure` qualifies a CHANGE: the apply is sure
    to write, but only the server knows the resulting values.
    """

    verdict: Verdict
    intent: Manifest
    changes: list[FieldChange] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    reason: str = ""
    force: bool = False
    defaultable: list[FieldChange] = field(default_factory=list)
    unsure: bool = False


def decide(
    manifest: Manifest,
    live: Manifest | None,
    schema: Type | None,
    *,
    manager: str,
    yields: Sequence[str] = (),
    force: Collection[str] = (),
    subresource: str = "",
) -> Decision:
    """Predicts what a server-side apply of a manifest by a field manager would do to a live object.

    `schema` is that of the manifest's kind; without one the verdict is UNKNOWN. `yields` are JSON pointers (see
    `applier.decision.intent`), `force` the managers whose fields may be taken, `*` for all. Values of Secrets are compared by their
    hashes, so those of `live` may be hidden already. With `status` as the `subresource` the manifest is applied to that: it holds only
    a status, and the schema is one `with_status`. Raises nothing for any object that a server could return.
    """
    plain = prepared(manifest, schema)
    intent = hide_secrets(plain)
    if live is None:
        return Decision(Verdict.CREATE, intent)
    if schema is None:
        return Decision(Verdict.UNKNOWN, intent, reason=f"the schema of {manifest.get('kind')} is not known")
    read_in, version = live.get("apiVersion"), manifest.get("apiVersion")
    if read_in is not None and read_in != version:
        return Decision(Verdict.UNKNOWN, intent, reason=f"the live object was read in {read_in}, not in {version}")
    live = hide_secrets(live)
    differing: list[FieldChange] = []
    try:
        if intent is not plain:
            check(schema, plain)  # before values are hidden: a hash is a string, whatever type the value had
        if yields:
            intent, differing = yield_fields(intent, live, schema, _managers_of(live, apply_identity(manager)), yields, manager=manager)
        decision = _decide(intent, live, schema, manager, force, subresource)
    except (SchemaMismatch, BadManagedFields) as error:
        return Decision(Verdict.UNKNOWN, intent, reason=f"the server may reject it: {error}")
    if differing and decision.verdict is Verdict.SAME:
        return Decision(Verdict.YIELDED, intent, differing, reason=_left_to(differing))
    return decision


def _left_to(differing: list[FieldChange]) -> str:
    names = dict.fromkeys(owner.manager for change in differing for owner in change.owners)
    return f"differs only in fields left to {', '.join(names) or 'whoever sets it'}"


def _decide(intent: Manifest, live: Manifest, schema: Type, manager: str, force: Collection[str], subresource: str) -> Decision:
    version = str(intent.get("apiVersion", ""))
    owned = _owned_by(live, manager, version, subresource)
    duplicated = has_duplicate_entries(live)
    if owned is not None and not duplicated and is_surely_unchanged(intent, live, schema, owned):
        return Decision(Verdict.SAME, intent)
    ours = apply_identity(manager, subresource)
    managers = _managers_of(live, ours)
    applied = simulate(live, intent, schema, managers, manager=manager, version=version, subresource=subresource)
    differing = differences(live, applied.object, schema)
    changes, undecided, defaultable = _classify(differing, applied, ours)
    refused, taken = _conflicts(applied, force)
    if applied.other_versions and (changes or undecided or refused):
        versions = ", ".join(sorted(applied.other_versions))
        return Decision(Verdict.UNKNOWN, intent, changes, refused, f"fields are also managed in {versions}", bool(taken))
    if refused:
        return Decision(Verdict.CONFLICT, intent, changes, refused)
    if changes or duplicated or _ownership_differs(applied, managers, ours):
        return Decision(Verdict.CHANGE, intent, changes, [], "", bool(taken), defaultable, bool(undecided or defaultable))
    if undecided:
        return Decision(Verdict.UNKNOWN, intent, undecided, [], _first_caveat(differing), bool(taken))
    return Decision(Verdict.SAME, intent)


def _managers_of(live: Manifest, ours: Identity) -> Managers:
    managers = managers_of(live)
    return with_folded_owners(managers, ours) if is_secret(live) else managers


def _owned_by(live: Manifest, manager: str, version: str, subresource: str) -> Fields | None:
    """Returns the fields that we own by apply in this API version; None if managedFields has no such entry."""
    for entry in entries_of(live):
        if entry.get("manager") == manager and entry.get("operation") == "Apply" and (entry.get("subresource") or "") == subresource:
            fields: Fields = entry.get("fieldsV1") or {}
            return fields if entry.get("apiVersion") == version and entry.get("fieldsType") == "FieldsV1" else None
    return None


def _classify(
    differing: list[PersistedDifference], applied: Applied, ours: Identity
) -> tuple[list[FieldChange], list[FieldChange], list[FieldChange]]:
    """Classifies differences: the changes, those that only the server can decide, and the changes that the server may default again."""
    changes: list[FieldChange] = []
    undecided: list[FieldChange] = []
    defaultable: list[FieldChange] = []
    for found in differing:
        change = FieldChange(path_of(found.steps), found.old, found.new, tuple(owners_among(applied.before, found.steps, besides=ours)))
        (undecided if found.caveat and found.caveat != MAY_DEFAULT else changes).append(change)
        if found.caveat == MAY_DEFAULT:
            defaultable.append(change)
    return changes, undecided, defaultable


def _first_caveat(differing: list[PersistedDifference]) -> str:
    return next((f"{dotted(path_of(one.steps))}: {one.caveat}" for one in differing if one.caveat and one.caveat != MAY_DEFAULT), "")


def _conflicts(applied: Applied, force: Collection[str]) -> tuple[list[Conflict], list[Conflict]]:
    """Returns the conflicts that block the apply, and those with managers whose fields may be taken."""
    refused: list[Conflict] = []
    taken: list[Conflict] = []
    for identity, lost in applied.conflicts.items():
        owner = owner_of(identity, applied.before[identity])
        target = taken if "*" in force or identity.manager in force else refused
        target.extend(Conflict(path_of(steps), owner) for steps in members(lost))
    return refused, taken


def _ownership_differs(applied: Applied, managers: Managers, ours: Identity) -> bool:
    """Reports whether the server would update managedFields although no value changes."""
    if applied.managers and not managers:
        return True  # the live object has no managedFields yet
    before, after = applied.before, applied.managers
    if ours in before and ours in after and before[ours].version != after[ours].version:
        return True
    return {key: entry.fields for key, entry in before.items() if entry.fields} != {key: entry.fields for key, entry in after.items()}
