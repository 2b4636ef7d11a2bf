"""Words the findings of the structural check: one method for each kind of finding."""

from __future__ import annotations

from typing import Any

from grove_compiler.graph.diagnostic import MAX_FINDINGS, SEVERITIES, Diagnostic, Severity
from grove_compiler.graph.field_path import FieldPath, render
from kube_objects.words import counted

INVALID = "Invalid value"
MAX_ITEMS = 10_000
"""The most items of a list or a map: a larger object does not fit into etcd, and validating each item would have no bound."""
SUGGESTIONS = 100
"""The most suggestions for unknown words in a document; later findings have none."""


class TooManyFindings(Exception):
    """Ends a check that has reached the limit of errors."""


class StructureFindings:
    """Collects the findings of one check, as (path, diagnostic) pairs."""

    __slots__ = ("collected", "definitions", "left", "start", "suggested")

    def __init__(self, definitions: dict[str, dict[str, Any]], start: int = 0) -> None:
        self.definitions = definitions
        self.collected: list[tuple[FieldPath, Diagnostic]] = []
        self.left = dict.fromkeys(SEVERITIES, MAX_FINDINGS)
        self.start = start
        self.suggested = 0

    def add(
        self,
        path: FieldPath,
        check: str,
        message: str,
        finding_type: str = INVALID,
        value: Any = None,
        nearest: str = "",
        severity: Severity = "error",
        hint: str = "",
    ) -> None:
        """Adds a finding; `check` is the part of its code after `schema/`. Raises `TooManyFindings` at the limit of errors."""
        self.left[severity] -= 1
        if self.left[severity] < 0:
            if severity == "error":
                raise TooManyFindings
            return  # an error may come later
        text = render(path)
        self.collected.append(
            (path, Diagnostic(f"schema/{check}", severity, message, text, nearest=nearest, type=finding_type, value=value, hint=hint))
        )

    def wrong_type(self, path: FieldPath, value: Any, expected: str, hint: str = "") -> None:
        """Reports a value of the wrong JSON type."""
        self.add(path, "wrong-type", f"must be {expected}, not {describe(value)}", value=value, hint=hint)

    def required(self, path: FieldPath, siblings: dict[str, Any]) -> None:
        """Reports a missing or null field; a misspelt sibling, the likely reason, has its own finding with a suggestion."""
        name = path[-1]
        message = f'"{name}" is required' + ("; null counts as absent" if name in siblings else "")
        self.add(path, "required", message, "Required value")

    def unknown_field(self, path: FieldPath, schema: dict[str, Any]) -> None:
        """Reports a field that the schema does not have; the schema decides whether that is an error, a warning or allowed."""
        unknown = schema.get("unknown", "error")
        if unknown == "keep":
            return
        name = path[-1]
        fields = schema["fields"]
        near = self.nearest(str(name), fields)
        hint = "" if near else self.belongs_under(name, fields)
        self.add(path, "unknown-field", f'unknown field "{name}"', INVALID, None, near, unknown, hint)

    def belongs_under(self, name: object, fields: dict[str, Any]) -> str:
        """Returns a hint when exactly one neighbouring object has a field of that name; a forgotten `spec:` is the most common mistake."""
        homes = []
        for home, schema in fields.items():
            while "ref" in schema:
                schema = self.definitions[schema["ref"]]
            if name in schema.get("fields", ()):
                homes.append(home)
        return f'"{name}" belongs under "{homes[0]}"' if len(homes) == 1 else ""

    def not_one_of(self, path: FieldPath, value: str, schema: dict[str, Any]) -> None:
        """Reports a string that is not in the schema's enum."""
        known = [str(choice) for choice in schema["enum"]]
        choices = ", ".join(filter(None, known))
        message = f"must be one of {choices}, not {shorten(value)}"
        self.add(path, "not-one-of", message, "Unsupported value", value, self.nearest(value, known))

    def duplicate(self, path: FieldPath, item: Any, earlier: int, schema: dict[str, Any]) -> None:
        """Reports an item that equals an earlier one, in its keys or (in a set) as a whole."""
        keys = schema.get("keys")
        first = render((*path[-2:-1], earlier))
        if keys is None:
            self.add(path, "duplicate-item", f"{shorten(item)} is already in {first}", "Duplicate value", item)
            return
        identity = {key: item[key] for key in keys if item.get(key) is not None}
        text = ", ".join(f"{key} {shorten(part)}" for key, part in identity.items())
        value = next(iter(identity.values())) if len(identity) == 1 else identity
        if "doubles" in schema:
            self.add(path, "duplicate-item", f"{text} is already used by {first}; the last one takes effect", "", value, severity="warning")
            return
        message = f"{text} is already used by {first}; it must be unique in this list"
        self.add(path, "duplicate-item", message, "Duplicate value", value)

    def count(self, path: FieldPath, value: list[Any], schema: dict[str, Any]) -> None:
        """Reports a list with too few or too many items."""
        number = len(value)
        if number < schema.get("min_items", 0):
            self.add(path, "too-few", f"needs at least {counted(schema['min_items'], 'item')}, has {number}", value=number)
        elif number > schema.get("max_items", number):
            message = f"has {counted(number, 'item')}, at most {schema['max_items']} are allowed"
            self.add(path, "too-many", message, "Too many", number)

    def takes(self, path: FieldPath, value: Any, kind: type, words: str) -> bool:
        """Tells whether a value is a list or a map (its `kind`) whose items can be checked; reports one that is not, or has too many."""
        if not isinstance(value, kind):
            self.wrong_type(path, value, words)
        elif len(value) > MAX_ITEMS:  # type: ignore[arg-type]
            self.add(path, "too-many", f"has {len(value):,} items, at most {MAX_ITEMS:,} are allowed", "Too many", len(value))  # type: ignore[arg-type]
        else:
            return True
        return False

    def nearest(self, word: str, known: Any) -> str:
        """Returns the known word that was probably meant, for the first `SUGGESTIONS` findings."""
        if self.suggested >= SUGGESTIONS:
            return ""
        from grove_compiler.graph.nearest import nearest  # only for faulty input

        self.suggested += 1
        return nearest(word, known)


def without_value(message: str) -> str:
    """Returns a check's message without the value that it quotes, for Secrets."""
    return message.partition(", not ")[0]


def describe(value: Any) -> str:
    """Returns the value with its JSON type, short enough for a line."""
    if value is None:
        return "null"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    kind = "boolean" if isinstance(value, bool) else "number" if isinstance(value, int | float) else "string"
    return f"the {kind} {shorten(value)}"


def shorten(value: Any) -> str:
    """Returns the value as JSON, cut to a length that suits a message."""
    import json  # only for faulty input

    if isinstance(value, str):
        value = value[:80]
    elif isinstance(value, int) and value.bit_length() > 256:
        return "of more than 256 bits"  # Python does not print integers of many thousand digits
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "..."
