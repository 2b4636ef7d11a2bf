"""Reads the options of a case: the flags of `grove compile`, rules, and the kinds to compare."""

from __future__ import annotations

import re
from dataclasses import field
from typing import Any, NamedTuple

from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.nearest import nearest
from grove_compiler.model.inputs.mnnvl_shape import AS_PROPOSED, DRIVER
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.record import record
from grove_compiler.source.document import Document


@record
class CaseOptions:
    """`rules` are folders, relative to that of the case. `kinds` are those that are compared; none means every kind.

    `ignore` are warnings that are silenced. With `strict`, a warning that is not expected fails as well.
    """

    settings: Settings = field(default_factory=Settings)
    rules: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    strict: bool = False
    ignore: list[str] = field(default_factory=list)


class OptionKey(NamedTuple):
    """The type of an option, in words and as JSON Schema."""

    words: str
    schema: dict[str, Any]


CODE = "case/options"
_FLAG, _TEXTS = {"type": "boolean"}, {"type": "array", "items": {"type": "string", "minLength": 1}}
KEYS: dict[str, OptionKey] = {
    "namespace": OptionKey(
        "the namespace of manifests that name none: up to 63 of a-z, 0-9 and '-'",
        {"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"},
    ),
    "kubeVersion": OptionKey('the version of Kubernetes as text, such as "1.34"', {"type": "string", "pattern": r"^v?1\.[0-9]{1,3}$"}),
    "pods": OptionKey("true or false: whether Pods are generated as well", _FLAG),
    "maxObjects": OptionKey("a number greater than 0: more objects are rejected", {"type": "integer", "minimum": 1}),
    "mnnvlShape": OptionKey("as-proposed or driver: the form of ComputeDomains and their claims", {"enum": [AS_PROPOSED, DRIVER]}),
    "strict": OptionKey("true or false: whether warnings that are not expected fail as well", _FLAG),
    "ignore": OptionKey("a list of warnings that are silenced, each as `CODE: reason` or `CODE@PATH: reason`", _TEXTS),
    "rules": OptionKey("a list of directories with rules, relative to the case", _TEXTS),
    "kinds": OptionKey("a list of the kinds that are compared; the others may be anything", _TEXTS),
}
_TYPES: dict[str, Any] = {"boolean": bool, "array": list, "string": str, "integer": int}
_SETTINGS = {
    "namespace": "namespace",
    "kubeVersion": "kube_version",
    "pods": "pods",
    "maxObjects": "max_objects",
    "mnnvlShape": "mnnvl_shape",
}


def read_options(documents: list[Document]) -> tuple[CaseOptions, list[Diagnostic]]:
    """Returns the options of documents, with all errors."""
    if not documents:
        return CaseOptions(), []
    first, *rest = documents
    problems = [document.finding(CODE, "a second document; only one is allowed") for document in rest]
    if not isinstance(first.value, dict):
        return CaseOptions(), [first.finding(CODE, f"expected a map with {', '.join(KEYS)}"), *problems]
    good: dict[str, Any] = {}
    for key, value in first.value.items():
        option = KEYS.get(key)
        if option is None:
            message = f"unknown option {key!r}; the options are {', '.join(KEYS)}"
            problems.append(first.finding(CODE, message, (key,), nearest=nearest(key, KEYS)))
        elif not _fits(value, option.schema):
            problems.append(first.finding(CODE, f"{key} is {option.words}", (key,)))
        else:
            good[key] = value
    settings = Settings(**{_SETTINGS[key]: value for key, value in good.items() if key in _SETTINGS})
    settings.kube_version = settings.kube_version.removeprefix("v")
    return CaseOptions(settings, good.get("rules", []), good.get("kinds", []), good.get("strict", False), good.get("ignore", [])), problems


def _fits(value: Any, schema: dict[str, Any]) -> bool:
    """Reports whether a value has the type of an option."""
    if "enum" in schema:
        return value in schema["enum"]
    kind = schema["type"]
    if not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "boolean"):
        return False
    if kind == "array":
        return all(_fits(item, schema["items"]) for item in value)
    if kind == "string":
        return len(value) >= schema.get("minLength", 0) and re.fullmatch(schema.get("pattern", "(?s:.*)"), value) is not None
    return bool(value >= schema.get("minimum", value))
