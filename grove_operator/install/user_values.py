"""Merges the values of an installation from files and `path=value` settings, and validates them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError

from grove_compiler.source.reader import read_bytes, read_text
from grove_operator.install.values import OWN_LABELS, Values, defaults
from kube_objects import json_pointer

HELMS_OWN = "global"
"""A key of values that Helm shares with subcharts; it is ignored."""


class InvalidValues(Exception):
    """Reports values that cannot be used. `lines` has an error per line: its place, what is wrong, and what would be right."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = list(lines)
        super().__init__("; ".join(self.lines))


def load_values(files: Sequence[tuple[str, bytes]], settings: Sequence[str]) -> Values:
    """Returns the values of files, given by name and content, and of settings; later ones take precedence. Raises `InvalidValues`."""
    overrides, errors = dict[str, Any](), list[str]()
    for name, data in files:
        documents, findings = read_bytes(data, name)
        errors += [f"{finding.place}: {finding.message}" for finding in findings]
        for document in documents:
            if isinstance(document.value, dict):
                overrides = merge(overrides, {key: value for key, value in document.value.items() if key != HELMS_OWN}, keep_nulls=True)
            else:
                errors.append(f"{name}: expected a map of values")
    for setting in settings:
        path, equals, text = setting.partition("=")
        if not path or not equals:
            errors.append(f"--set {setting}: expected PATH=VALUE, such as replicas=3")
            continue
        documents, findings = read_text(text, "")
        errors += [f"--set {setting}: {finding.message}" for finding in findings]
        overrides = merge(overrides, _nested(_keys(path), documents[0].value if documents else None), keep_nulls=True)
    if errors:
        raise InvalidValues(errors)
    try:
        values = Values.model_validate(merge(defaults(), overrides))
    except ValidationError as error:
        raise InvalidValues([_message(details) for details in error.errors()]) from None
    if contradictions := list(_contradictions(values)):
        raise InvalidValues([f"values: {contradiction}" for contradiction in contradictions])
    return values


def merge(base: dict[str, Any], override: dict[str, Any], *, keep_nulls: bool = False) -> dict[str, Any]:
    """Returns `base` with the values of `override`, as Helm merges them: maps recursively; null removes a key; others replace.

    Overrides that are merged with each other `keep_nulls`, which are to remove defaults.
    """
    merged = dict(base)
    for key, value in override.items():
        if value is None and not keep_nulls:
            merged.pop(key, None)
        elif isinstance(value, dict) and isinstance(merged.get(key), dict):
            merged[key] = merge(merged[key], value, keep_nulls=keep_nulls)
        else:
            merged[key] = value
    return merged


def _contradictions(values: Values) -> Iterator[str]:
    """Yields why a combination of values cannot work. The schema of the chart has the same conditions (`tools/generate_chart.py`)."""

    def is_enabled(pointer: str, *, default: bool) -> bool:
        return bool(json_pointer.at(values.config, pointer, default))

    for label in filter(values.pod_labels.__contains__, OWN_LABELS):
        yield f"podLabels: {label} is reserved: the operator's pods are selected by it; use another key"
    if values.webhooks.only and not is_enabled("/admission/mnnvlWebhooks", default=False):
        yield "webhooks.only: nothing would be installed; set config.admission.mnnvlWebhooks=true as well"
    if values.replicas > 1 and not is_enabled("/leaderElection/enabled", default=False):
        yield f"replicas: {values.replicas} operators would run at the same time; set config.leaderElection.enabled=true as well"
    if values.webhooks.enabled and not is_enabled("/server/webhooks/enabled", default=True):
        yield "config.server.webhooks.enabled: no server would answer the installed webhooks; set webhooks.enabled=false instead"
    if not values.webhooks.enabled and is_enabled("/authorizer/enabled", default=False):
        yield "config.authorizer.enabled: the authorizer is a webhook, and webhooks are not installed; set webhooks.enabled=true as well"


def _keys(path: str) -> list[str]:
    """Splits a path at its dots. Helm escapes those that belong to a key: `podLabels.example\\.com/team`."""
    return [key.replace("\\.", ".") for key in re.split(r"(?<!\\)\.", path)]


def _nested(path: list[str], value: Any) -> dict[str, Any]:
    """Returns `{"a": {"b": value}}` for the path `a`, `b`."""
    for name in reversed(path):
        value = {name: value}
    nested: dict[str, Any] = value
    return nested


def _message(error: Any) -> str:
    """Returns the message for an error of pydantic; for an unknown value with the nearest name, or all names."""
    path = ".".join(map(str, error["loc"]))
    if error["type"] != "extra_forbidden":
        return f"values: {path}: {error['msg']}, and not {error['input']!r}"
    known = _known_names(error["loc"][:-1])
    close = get_close_matches(str(error["loc"][-1]), known, n=1)
    return f"values: {path}: unknown value" + (f'; did you mean "{close[0]}"?' if close else f"; the values are {', '.join(known)}")


def _known_names(path: Sequence[Any]) -> list[str]:
    """Returns the names of the values below a path."""
    model: type[BaseModel] = Values
    for part in path:
        inner = next((field.annotation for name, field in model.model_fields.items() if part in (field.alias, name)), None)
        if not (isinstance(inner, type) and issubclass(inner, BaseModel)):
            return []
        model = inner
    return [field.alias or name for name, field in model.model_fields.items()]
