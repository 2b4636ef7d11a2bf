"""Parses and matches label selectors, as `kubectl -l` writes them and as the API's `LabelSelector`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from kube_objects.manifest import Manifest

_SET = re.compile(r"\s*([^\s,()=!]+)\s+(in|notin)\s*\(([^()]*)\)\s*$")
_EQUAL = re.compile(r"\s*([^\s,()=!]+)\s*(==|=|!=)\s*([^\s,()=!]*)\s*$")
_EXISTS = re.compile(r"\s*(!?)\s*([^\s,()=!]+)\s*$")
_COMMA = re.compile(r",(?![^(]*\))")  # between requirements, not between the values of a set


class Requirement(NamedTuple):
    """Requires a label's value to be in `values`, or without values the label to be present; not `positive` requires the opposite."""

    key: str
    positive: bool
    values: frozenset[str] | None = None

    def holds(self, labels: Mapping[str, str]) -> bool:
        """Matches as apimachinery's `labels.Requirement.Matches`: an absent label is never in a set, and so always `notin` it."""
        is_in = self.key in labels and (self.values is None or labels[self.key] in self.values)
        return is_in is self.positive


class Selector:
    """Matches labels by requirements that must all hold. The empty text matches everything. Raises ValueError for an invalid selector."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.requirements = [_requirement(part, text) for part in _COMMA.split(text)] if text.strip() else []

    def matches(self, manifest: Manifest) -> bool:
        labels = (manifest.get("metadata") or {}).get("labels") or {}
        return all(requirement.holds(labels) for requirement in self.requirements)


@lru_cache(maxsize=1024)
def selector(text: str) -> Selector:
    """Parses a selector, cached. Raises ValueError for an invalid one."""
    return Selector(text)


def selects(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Reports whether labels meet every requirement of a `LabelSelector`; an empty one matches everything, an unknown operator nothing."""
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    return all(_meets(expression, labels) for expression in selector.get("matchExpressions") or ())


def _meets(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key = str(expression.get("key"))
    match expression.get("operator"):
        case "In" | "NotIn" as operator:
            return Requirement(key, operator == "In", frozenset(expression.get("values") or ())).holds(labels)
        case "Exists" | "DoesNotExist" as operator:
            return Requirement(key, operator == "Exists").holds(labels)
    return False


def _requirement(part: str, text: str) -> Requirement:
    if found := _SET.match(part):
        return Requirement(found[1], found[2] == "in", frozenset(value.strip() for value in found[3].split(",")))
    if found := _EQUAL.match(part):
        return Requirement(found[1], found[2] != "!=", frozenset((found[3],)))
    if found := _EXISTS.match(part):
        return Requirement(found[2], not found[1])
    raise ValueError(f"{text!r} is not a label selector: cannot parse {part.strip()!r}")
