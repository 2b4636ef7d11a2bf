"""What a server's refusal means for a step: can it never be done in place, does it pass by itself, who is in the way."""

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
"""The ways in which Kubernetes' validation, and CRDs with transition rules, say that a field cannot be changed."""

PASSING = re.compile(r'serviceaccount "[^"]*" not found|status unknown for quota|error looking up service account', re.S)
"""Refusals in a namespace that is just made: controllers have not put there yet what admission asks for."""

_MANAGER = re.compile(
    r'conflict with "(?P<manager>[^"]*)"(?: with subresource "(?P<subresource>[^"]*)")?(?P<update> using \S+(?: at (?P<time>\S+))?)?'
)


def is_immutable(error: Exception) -> bool:
    """Says whether the object is refused only because of fields that cannot be changed in place.

    If anything else is wrong with it, it could not be made again either, and must not be deleted.
    """
    if not isinstance(error, Invalid) or error.status != 422:
        return False
    messages = [cause.message for cause in error.causes] or [error.message]
    return all(IMMUTABLE.search(message) for message in messages)


def is_other_object(error: Exception) -> bool:
    """Says whether the object that was meant is gone and another one has its name: its UID went along, and cannot be changed."""
    return isinstance(error, Invalid) and any(cause.field == "metadata.uid" for cause in error.causes)


def is_passing(error: Exception, *, defined: bool) -> bool:
    """Says whether trying again soon may help, without anybody changing anything. `defined`: its kind was made in this run."""
    return (defined and isinstance(error, UnknownKind)) or (isinstance(error, Forbidden) and bool(PASSING.search(error.message)))


def conflicts_of(error: FieldConflict, live: Manifest) -> list[Conflict]:
    """Returns the fields in conflict as the server names them, each path as one text; the times are those of the live object's owners."""
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
