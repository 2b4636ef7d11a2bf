"""Defines readiness states, and reads the status fields that they follow from."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple

from applier.ref import Manifest
from kube_objects.manifest import mapping


class State(StrEnum):
    """Lists the states of kstatus; its `Current` is `Ready` here."""

    READY = "Ready"
    IN_PROGRESS = "InProgress"
    FAILED = "Failed"
    TERMINATING = "Terminating"
    UNKNOWN = "Unknown"


class Readiness(NamedTuple):
    """Represents a state with a one-line `reason`. A `final` failure does not recover by itself."""

    state: State
    reason: str = ""
    final: bool = False

    @property
    def is_ready(self) -> bool:
        """Reports whether the object is ready."""
        return self.state is State.READY


class ObservedCondition(NamedTuple):
    """Represents an entry of `status.conditions`. `observed` is its `observedGeneration`, 0 without one."""

    type: str
    status: str
    reason: str
    message: str
    observed: int = 0

    def text(self) -> str:
        """Returns `Type: Reason: message`, without what is empty."""
        return ": ".join(part for part in (self.type, self.reason, one_line(self.message)) if part)


def ready(reason: str = "") -> Readiness:
    return Readiness(State.READY, reason)


def in_progress(reason: str) -> Readiness:
    return Readiness(State.IN_PROGRESS, reason)


def failed(reason: str, *, final: bool = True) -> Readiness:
    return Readiness(State.FAILED, reason, final)


def one_line(text: str) -> str:
    """Returns a message as one line."""
    return " ".join(text.split())


def part(manifest: Manifest, name: str) -> dict[str, Any]:
    """Returns `spec`, `status` or `metadata`; empty where there is none."""
    return mapping(manifest.get(name))


def number(fields: dict[str, Any], name: str, default: int = 0) -> int:
    """Returns an integer field of a status or spec; the default where it is missing, since Go omits zeros."""
    value = fields.get(name)
    return value if isinstance(value, int) else default


def conditions(manifest: Manifest) -> dict[str, ObservedCondition]:
    """Returns the conditions of an object by type; empty when they are malformed."""
    entries = part(manifest, "status").get("conditions")
    if not isinstance(entries, list):
        return {}
    return {str(entry.get("type", "")): _condition(entry) for entry in entries if isinstance(entry, dict)}


def _condition(entry: dict[str, Any]) -> ObservedCondition:
    kind, status, reason, message = (str(entry.get(name) or "") for name in ("type", "status", "reason", "message"))
    return ObservedCondition(kind, status, reason, message, number(entry, "observedGeneration"))
