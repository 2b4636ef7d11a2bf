"""Checks scalars for the structural check: strings, numbers, and texts that Kubernetes decodes further."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from grove_compiler.graph.field_path import FieldPath
from grove_compiler.kube.structure_findings import StructureFindings, shorten
from kube_objects.words import counted

ScalarCheck = Callable[[Any, dict[str, Any], FieldPath, StructureFindings], None]

PLAIN = 1
"""The number of keys of a string schema without limits, which only has `kind`."""


def _string(value: Any, schema: dict[str, Any], path: FieldPath, findings: StructureFindings) -> None:
    if not isinstance(value, str):
        words = "; on, off, yes, no, y and n are booleans in YAML, too" if isinstance(value, bool) else ""
        findings.wrong_type(path, value, "a string", f"put it in quotes{words}" if isinstance(value, bool | int | float) else "")
    elif len(schema) > PLAIN:
        _string_limits(value, schema, path, findings)


def _string_limits(value: str, schema: dict[str, Any], path: FieldPath, findings: StructureFindings) -> None:
    if "enum" in schema and value not in schema["enum"]:
        findings.not_one_of(path, value, schema)
        return
    if len(value) < schema.get("min_length", 0):
        least = schema["min_length"]
        what = "must not be empty" if least == 1 else f"needs at least {counted(least, 'character')}, has {len(value)}"
        findings.add(path, "too-short", what, value=value)
    elif len(value) > schema.get("max_length", len(value)):
        message = f"has {len(value)} characters, at most {schema['max_length']} are allowed"
        findings.add(path, "too-long", message, "Too long", shorten(value))
    elif "pattern" in schema and not _matches(value, schema["pattern"]):
        findings.add(path, "pattern", f"{shorten(value)} does not match {schema['pattern']}", value=value)


def _matches(value: str, pattern: str) -> bool:
    import re  # PyYAML has imported it already; other callers may never see a pattern

    # In RE2 and ECMAScript, which CRD patterns are written for, `$` means the very end; Python's also matches before a newline.
    end = pattern.endswith("$") and not pattern.endswith(r"\$")
    return re.search(pattern[:-1] + r"\Z" if end else pattern, value) is not None


def _integer(value: Any, schema: dict[str, Any], path: FieldPath, findings: StructureFindings) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or (isinstance(value, float) and not value.is_integer()):
        quoted = isinstance(value, str) and value.strip().lstrip("-").isdecimal()
        findings.wrong_type(path, value, "an integer", "remove the quotes" if quoted else "")
        return
    limit = 2 ** (schema.get("bits", 64) - 1)
    _range(value, schema.get("minimum", -limit), schema.get("maximum", limit - 1), path, findings)


def _range(value: float, least: float | None, most: float | None, path: FieldPath, findings: StructureFindings) -> None:
    if least is not None and value < least:
        findings.add(path, "out-of-range", f"must be at least {least}, not {shorten(value)}", value=value)
    elif most is not None and value > most:
        findings.add(path, "out-of-range", f"must be at most {most}, not {shorten(value)}", value=value)


def _number(value: Any, schema: dict[str, Any], path: FieldPath, findings: StructureFindings) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        findings.wrong_type(path, value, "a number")
    else:
        _range(value, schema.get("minimum"), schema.get("maximum"), path, findings)


def _boolean(value: Any, _schema: dict[str, Any], path: FieldPath, findings: StructureFindings) -> None:
    if not isinstance(value, bool):
        truth = {"true": "true", "yes": "true", "on": "true", "false": "false", "no": "false", "off": "false"}
        meant = truth.get(value.lower(), "") if isinstance(value, str) else ""
        findings.wrong_type(path, value, "true or false", f"write {meant} without quotes" if meant else "")


def _int_or_string(value: Any, _schema: dict[str, Any], path: FieldPath, findings: StructureFindings) -> None:
    if not isinstance(value, str):
        if isinstance(value, bool) or not isinstance(value, int | float):
            findings.wrong_type(path, value, "an integer or a string")
        else:
            _integer(value, {"bits": 32}, path, findings)


def _quantity(value: Any, _schema: dict[str, Any], path: FieldPath, findings: StructureFindings) -> None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        findings.wrong_type(path, value, "a quantity such as 8, 500m or 2Gi")
        return
    from kube_objects.quantity import explain  # most documents that are only linted have none

    reason = explain(value)
    if reason:
        findings.add(path, "quantity", reason, value=value)
    elif isinstance(value, float) and not value.is_integer():
        # The Pod API takes a fraction. A CRD cannot say so: its `int-or-string` is no number with a point.
        findings.add(
            path, "quantity", f'is a number with a fraction, which CRDs do not accept; write "{value}"', value=value, severity="warning"
        )


def _duration(value: Any, schema: dict[str, Any], path: FieldPath, findings: StructureFindings) -> None:
    if not isinstance(value, str):
        findings.wrong_type(path, value, "a duration such as 30s, 10m or 1h30m")
        return
    from grove_compiler.kube.duration import explain, parse  # most documents have none

    reason, least = explain(value), schema.get("minimum")
    if reason:
        findings.add(path, "duration", reason, value=value)
    elif least is not None and parse(value) < parse(least):
        findings.add(path, "out-of-range", f"must be at least {least}, not {shorten(value)}", value=value)


def _time(value: Any, _schema: dict[str, Any], path: FieldPath, findings: StructureFindings) -> None:
    if not isinstance(value, str):
        findings.wrong_type(path, value, "a time such as 2026-01-31T09:30:00Z")
    elif not _matches(value, _RFC3339):
        findings.add(path, "time", f"{shorten(value)} is not a time such as 2026-01-31T09:30:00Z (RFC 3339)", value=value)


_RFC3339 = (
    r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
    r"([.,][0-9]+)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
)

SCALARS: dict[str, ScalarCheck] = {
    "string": _string,
    "integer": _integer,
    "boolean": _boolean,
    "number": _number,
    "int-or-string": _int_or_string,
    "quantity": _quantity,
    "duration": _duration,
    "time": _time,
}
