"""Whether applying a manifest would change a live object: the server's answer without asking it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from applier.decision.fast_path import surely_same
from applier.decision.fields import Fields, members, path_of
from applier.decision.intent import as_stored, hide_secrets, is_secret, prepared, yield_fields
from applier.decision.managers import (
    BadManagedFields,
    Identity,
    Managers,
    applier_of,
    entries_of,
    managers_of,
    owner_of,
    owners_among,
    recorded_twice,
)
from applier.decision.persisted_form import BACK, Difference, differences
from applier.decision.schema import Type
from applier.decision.server_side_apply import Applied, simulate
from applier.decision.values import Misfit, check
from applier.outcome import Conflict, FieldChange, dotted
from applier.ref import Manifest


class Verdict(StrEnum):
    """What applying would do."""

    CREATE = "create"
    SAME = "same"
    CHANGE = "change"  # values, or who owns them
    YIELDED = "yielded"  # nothing, though fields that belong to others differ
    CONFLICT = "conflict"  # be refused
    UNKNOWN = "unknown"  # only the server can say: make a dry run


@dataclass(slots=True, eq=False)
class Decision:
    """A verdict and its grounds.

    `intent` is what to send: the prepared manifest without what is yielded, values of Secrets hidden (`applier.decision.intent.revealed`
    gives them back). `force` says that it has to be sent with force, since it takes fields from managers that may be taken from.
    `changes` are the values that would differ (and, for `YIELDED`, those that are left to others), with old values as they are;
    `conflicts` what stands in the way. `why` is one line for YIELDED and UNKNOWN; of the others, changes and conflicts are the grounds,
    and a CHANGE without any changes only who owns what. `refilled` are those of the changes that take a field out which the server may
    fill in again, perhaps with what is there now. `unsure` says of a CHANGE that something is written for sure, but that only the
    server can say what comes out.
    """

    verdict: Verdict
    intent: Manifest
    changes: list[FieldChange] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    why: str = ""
    force: bool = False
    refilled: list[FieldChange] = field(default_factory=list)
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
    """Returns what a server-side apply of a manifest under a manager's name would do to a live object.

    `schema` is that of the manifest's kind; without one the verdict is UNKNOWN. `yields` are JSON pointers (see
    `applier.decision.intent`), `force` the managers whose fields may be taken, `*` for all. Values of Secrets count by their hashes,
    so `live` may have been hidden. With `status` as the `subresource` the manifest is applied there: it holds a status and nothing
    else, and the schema is one `with_status`. Nothing is raised for any object that a server could hand out.
    """
    plain = prepared(manifest, schema)
    intent = hide_secrets(plain)
    if live is None:
        return Decision(Verdict.CREATE, intent)
    if schema is None:
        return Decision(Verdict.UNKNOWN, intent, why=f"the schema of {manifest.get('kind')} is not known")
    read_in, version = live.get("apiVersion"), manifest.get("apiVersion")
    if read_in is not None and read_in != version:
        return Decision(Verdict.UNKNOWN, intent, why=f"the live object was read in {read_in}, not in {version}")
    live = hide_secrets(live)
    differing: list[FieldChange] = []
    try:
        if intent is not plain:
            check(schema, plain)  # before they are hidden, since hashes are texts whatever they stand for
        if yields:
            intent, differing = yield_fields(intent, live, schema, _managers_of(live, applier_of(manager)), yields, manager=manager)
        decision = _decide(intent, live, schema, manager, force, subresource)
    except (Misfit, BadManagedFields) as error:
        return Decision(Verdict.UNKNOWN, intent, why=f"the server may refuse it: {error}")
    if differing and decision.verdict is Verdict.SAME:
        return Decision(Verdict.YIELDED, intent, differing, why=_left_to(differing))
    return decision


def _left_to(differing: list[FieldChange]) -> str:
    names = dict.fromkeys(owner.manager for change in differing for owner in change.owners)
    return f"differs only in what is left to {', '.join(names) or 'whoever sets it'}"


def _decide(intent: Manifest, live: Manifest, schema: Type, manager: str, force: Collection[str], subresource: str) -> Decision:
    version = str(intent.get("apiVersion", ""))
    owned = _owned_by(live, manager, version, subresource)
    double = recorded_twice(live)
    if owned is not None and not double and surely_same(intent, live, schema, owned):
        return Decision(Verdict.SAME, intent)
    ours = applier_of(manager, subresource)
    managers = _managers_of(live, ours)
    applied = simulate(live, intent, schema, managers, manager=manager, version=version, subresource=subresource)
    differing = differences(live, applied.object, schema)
    changes, doubts, refilled = _weigh(differing, applied, ours)
    refused, taken = _conflicts(applied, force)
    if applied.strangers and (changes or doubts or refused):
        versions = ", ".join(sorted(applied.strangers))
        return Decision(Verdict.UNKNOWN, intent, changes, refused, f"fields are also managed in {versions}", bool(taken))
    if refused:
        return Decision(Verdict.CONFLICT, intent, changes, refused)
    if changes or double or _records_differ(applied, managers, ours):
        return Decision(Verdict.CHANGE, intent, changes, [], "", bool(taken), refilled, bool(doubts or refilled))
    if doubts:
        return Decision(Verdict.UNKNOWN, intent, doubts, [], _doubt(differing), bool(taken))
    return Decision(Verdict.SAME, intent)


def _managers_of(live: Manifest, ours: Identity) -> Managers:
    managers = managers_of(live)
    return as_stored(managers, ours) if is_secret(live) else managers


def _owned_by(live: Manifest, manager: str, version: str, subresource: str) -> Fields | None:
    """Returns what we own of an object in this API version; None when there is no such entry."""
    for entry in entries_of(live):
        if entry.get("manager") == manager and entry.get("operation") == "Apply" and (entry.get("subresource") or "") == subresource:
            fields: Fields = entry.get("fieldsV1") or {}
            return fields if entry.get("apiVersion") == version and entry.get("fieldsType") == "FieldsV1" else None
    return None


def _weigh(differing: list[Difference], applied: Applied, ours: Identity) -> tuple[list[FieldChange], list[FieldChange], list[FieldChange]]:
    """Changes, those in doubt, and those of the changes that the server may fill in again."""
    changes: list[FieldChange] = []
    doubts: list[FieldChange] = []
    refilled: list[FieldChange] = []
    for one in differing:
        change = FieldChange(path_of(one.steps), one.old, one.new, tuple(owners_among(applied.before, one.steps, besides=ours)))
        (doubts if one.doubt and one.doubt != BACK else changes).append(change)
        if one.doubt == BACK:
            refilled.append(change)
    return changes, doubts, refilled


def _doubt(differing: list[Difference]) -> str:
    return next((f"{dotted(path_of(one.steps))}: {one.doubt}" for one in differing if one.doubt and one.doubt != BACK), "")


def _conflicts(applied: Applied, force: Collection[str]) -> tuple[list[Conflict], list[Conflict]]:
    """Conflicts that stand in the way, and those with managers whose fields may be taken."""
    refused: list[Conflict] = []
    taken: list[Conflict] = []
    for identity, lost in applied.conflicts.items():
        owner = owner_of(identity, applied.before[identity])
        several = taken if "*" in force or identity.manager in force else refused
        several.extend(Conflict(path_of(steps), owner) for steps in members(lost))
    return refused, taken


def _records_differ(applied: Applied, managers: Managers, ours: Identity) -> bool:
    """Tells whether the server would write who owns what, although no value differs."""
    if applied.managers and not managers:
        return True  # nobody's ownership was recorded before
    before, after = applied.before, applied.managers
    if ours in before and ours in after and before[ours].version != after[ours].version:
        return True
    return {one: entry.fields for one, entry in before.items() if entry.fields} != {one: entry.fields for one, entry in after.items()}
