"""Evaluates LabelSelectors, as an API server does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def selects(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Reports whether labels meet every requirement of a selector; an empty selector matches everything."""
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    return all(_meets(requirement, labels) for requirement in selector.get("matchExpressions") or [])


def _meets(requirement: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key, values = str(requirement.get("key")), requirement.get("values") or []
    match requirement.get("operator"):
        case "In":
            return key in labels and labels[key] in values
        case "NotIn":
            return key not in labels or labels[key] not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
    return False
