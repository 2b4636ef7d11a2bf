"""Gives manifests another order, which for most of their lists means the same."""

from __future__ import annotations

from typing import Any


def reversed_lists(value: Any) -> Any:
    """The value with all its lists in the opposite order."""
    if isinstance(value, dict):
        return {key: reversed_lists(item) for key, item in value.items()}
    return [reversed_lists(item) for item in reversed(value)] if isinstance(value, list) else value
