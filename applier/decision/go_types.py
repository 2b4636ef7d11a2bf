"""Describes what the Go types of Kubernetes' own kinds define and OpenAPI does not: pointer fields, feature gates and defaults.

A server decodes an object into Go structs, sets defaults, and stores the result. A `0` is kept in a pointer field and omitted from any
other; null is omitted from both. OpenAPI describes the two alike.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

_PREFIX = "io.k8s."


@cache
def _structs(package: str) -> dict[str, str]:
    """Returns the fields of each struct of a package, separated by spaces."""
    from applier.decision.go_fields import FIELDS  # 50 KB, needed only once an object differs

    return dict(struct.split(":") for struct in FIELDS.get(package, "").split(";") if struct)


@cache
def _of(definition: str) -> dict[str, str]:
    """Returns the fields of a definition with their marks: `*` for a pointer, `?` for one behind a feature gate."""
    package, _, struct = definition.removeprefix(_PREFIX).rpartition(".")
    words = _structs(package).get(struct, "").split()
    return {word.lstrip("?*"): word[: -len(word.lstrip("?*"))] for word in words}


@cache
def _tables() -> dict[str, dict[str, Any]]:
    """Returns the tables of `go_defaults.json`, by definition.

    `defaults` are from pkg/apis/*/*/defaults.go of Kubernetes 1.35, since OpenAPI declares only a few of them. Defaults are part of an
    API's compatibility guarantee, so they hold for other releases, too. A default that is missing there costs a write without effect, and
    never hides a change: a field without a known default counts as changed. `computed` are from the same files, and from the strategies
    and admission plugins of the kinds (pkg/registry, plugin/pkg/admission). `validatedWhenEmpty` is from pkg/apis/apiextensions/validation:
    beside a status subresource, the root of a schema is compared with Go's zero values, which an empty map is not. (A StorageClass's
    `parameters: {}` is accepted on creation and rejected on update; but by then it is stored as desired.)
    """
    return json.loads((files("applier.decision") / "go_defaults.json").read_bytes())  # type: ignore[no-any-return]


def is_known(definition: str, field: str) -> bool:
    """Reports whether these tables have the field; those of a newer server may be missing."""
    return field in _of(definition)


def is_plain(definition: str, field: str) -> bool:
    """Reports whether a field is known to be no pointer, so that the server treats an empty scalar in it as absent."""
    return "*" not in _of(definition).get(field, "*")


def is_gated(definition: str, field: str) -> bool:
    """Reports whether a server may drop the field because its feature gate is off."""
    return "?" in _of(definition).get(field, "")


def default_of(definition: str, field: str) -> Any:
    """Returns the default of an absent field, if it does not depend on other fields; None if no such default is known."""
    return _tables()["defaults"].get(definition.removeprefix(_PREFIX), {}).get(field)


def is_computed(definition: str, field: str) -> bool:
    """Reports whether the server computes an absent field from others, allocates it, or removes it."""
    return field in _tables()["computed"].get(definition.removeprefix(_PREFIX), "").split()


def is_validated_when_empty(definition: str, field: str) -> bool:
    """Reports whether validation on the server distinguishes an empty value from an absent one, although neither is stored."""
    return field in _tables()["validatedWhenEmpty"].get(definition.removeprefix(_PREFIX), "").split()
