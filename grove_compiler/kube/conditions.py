"""What an object reports of itself: its status, and the conditions in it, which are a list with one entry for each type."""

from __future__ import annotations

from typing import Any

Manifest = dict[str, Any]


def status_of(manifest: Manifest | None) -> Manifest:
    """Returns what an object reports; empty while it reports nothing, or where there is no object."""
    return (manifest or {}).get("status") or {}


def condition_of(manifest: Manifest | None, type: str) -> Manifest:
    """Returns a condition of an object; empty without one of that type."""
    return condition_in(status_of(manifest), type)


def condition_in(status: Manifest, type: str) -> Manifest:
    """Returns a condition of a status, or of a part of one that has conditions of its own; empty without one of that type."""
    conditions: list[Manifest] = status.get("conditions") or []
    return next((one for one in conditions if one.get("type") == type), {})


def is_true(manifest: Manifest | None, type: str) -> bool:
    """Tells whether an object reports a condition as true. Without the condition, or where it is `Unknown`, it does not."""
    return is_true_in(status_of(manifest), type)


def is_true_in(status: Manifest, type: str) -> bool:
    """Tells whether a status holds a condition that is true."""
    return condition_in(status, type).get("status") == "True"
