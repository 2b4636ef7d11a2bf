"""Classifies a server's rejection of a write: immutable fields, another object of the same name, temporary causes, field conflicts."""

from __future__ import annotations

import re
from typing import Any

from applier.decision.managers import entries_of
from applier.errors import FieldConflict, Forbidden, Invalid, UnknownKind
from applier.outcome import Conflict, Owner
from applier.ref import Manifest

IMMUTABLE = re.compile(
    r"immutable|may not (be )?changed?|must not be changed|cannot (be )?changed?|updates to .+ (are|is) forbidden", re.I | re.S
)
"""Messages of Kubernetes' validation, and of CRDs with transition rules, for a field that cannot be changed."""

PASSING = re.compile(r'serviceaccount "[^"]*" not found|status unknown for quota|error looking up service account', re.S)
"""Rejections of admission in a new namespace, in which controllers have not created service accounts and quota statuses yet."""

_MANAGER = re.compile(
    r'conflict with "(?P<manager>[^"]*)"(?: with subresource "(?P<subresource>[^"]*)")?(?P<update> using \S+(?: at (?P<time>\S+))?)?'
)


def is_immutable(error: Exception) -> bool:
    """Reports whether an object is rejected only because of immutable fields.

    If anything else is wrong with it, it could not be recreated either, and must not be deleted.
    """
    if not isinstance(error, Invalid) or error.status != 422:
        return False
    messages = [cause.message for cause in error.causes] or [error.message]
    return all(IMMUTABLE.search(message) for message in messages)


def is_other_object(error: Exception) -> bool:
    """Reports whether another object has the name by now: the server rejects a change of the UID, which each write includes."""
    return isinstance(error, Invalid) and any(cause.field == "metadata.uid" for cause in error.causes)


def is_passing(error: Exception, *, defined: bool) -> bool:
    """Reports whether the rejection may disappear by itself within seconds. `defined`: this run has written the definition of the kind."""
    return (defined and isinstance(error, UnknownKind)) or (isinstance(error, Forbidden) and bool(PASSING.search(error.message)))


def conflicts_of(error: FieldConflict, live: Manifest) -> list[Conflict]:
    """Returns the fields in conflict, each path as one string in the server's notation, with the times of the live object's managers."""
    times = {
        (entry.get("manager"), entry.get("operation"), entry.get("subresource", "")): entry.get("time", "") for entry in entries_of(live)
    }
    return [Conflict((cause.field.removeprefix("."),), _owner(cause.message, times)) for cause in error.causes]


def _owner(message: str, times: dict[tuple[Any, ...], str]) -> Owner:
    match = _MANAGER.search(message)
    if match is None:
        return Owner(message, "", "")
    manager, operation, subresource = match["manager"], "Update" if match["update"] else "Apply", match["subresource"] or ""
    return Owner(manager, operation, match["time"] or times.get((manager, operation, subresource), ""), subresource)
