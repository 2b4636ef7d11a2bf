"""Evaluates the assertions of a case about parts of the result: fields, counts, absences. Pure.

| an entry | holds when |
|---|---|
| `object: Kind/namespace/name`, `has: …` | there is that object, and it has all that is written |
| `each: …`, `has: …` | every object that has the one has the other, and there is one |
| `count: …`, `is: 3` (or `atLeast`, `atMost`) | so many objects have what is written |
| `absent: …` | no object has what is written |

An object has what is written when every field that is written has that value: other fields may be anything, and `null` says that a
field is not there. Lists whose items have names are compared by name, and may hold more; other lists item by item, and may not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from grove_cli.golden.differences import Mismatch, compare_values, subject_of
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.field_path import FieldPath
from grove_compiler.graph.nearest import nearest
from grove_compiler.graph.node import Manifest
from grove_compiler.source.document import Document

Assert = dict[str, Any]

FORMS: dict[str, dict[str, tuple[type, ...]]] = {
    "object": {"object": (str,), "has": (dict,)},
    "each": {"each": (dict,), "has": (dict,)},
    "count": {"count": (dict,), "is": (int,), "atLeast": (int,), "atMost": (int,)},
    "absent": {"absent": (dict,)},
}
"""The keys of each kind of assertion, by the one that identifies it, with their types."""

_BOUNDS = ("is", "atLeast", "atMost")
_WORDS = {str: "text", dict: "a map", int: "a number"}


def read_asserts(documents: Sequence[Document], file: str) -> tuple[list[Assert], list[Diagnostic]]:
    """Parses the documents of a file, which should be one with a list of assertions; returns them with all errors."""
    problems = [_problem(document, (), "a second document; only one is allowed") for document in documents[1:]]
    if not documents or not isinstance(documents[0].value, list) or not documents[0].value:
        document = documents[0] if documents else Document(None, file)
        return [], [_problem(document, (), f"expected a list of asserts, each with one of {', '.join(FORMS)}")]
    for number, entry in enumerate(documents[0].value):
        problems += _check(documents[0], number, entry)
    return ([] if problems else documents[0].value), problems


def compare_asserts(asserts: Sequence[Assert], objects: Sequence[Manifest]) -> list[Mismatch]:
    """Returns the failed assertions in order, each with its place."""
    differences: list[Mismatch] = []
    for number, entry in enumerate(asserts):
        for difference in _unmet(entry, objects):
            difference.document, difference.at = 0, (number, *difference.at)
            differences.append(difference)
    return differences


def _unmet(entry: Assert, objects: Sequence[Manifest]) -> Iterator[Mismatch]:
    if "object" in entry:
        matching = [manifest for manifest in objects if subject_of(manifest) == entry["object"]]
        if not matching:
            yield Mismatch(entry["object"], "", "missing", at=("object",))
        yield from _lacking(entry, matching)
    elif "each" in entry:
        matching = [manifest for manifest in objects if has(manifest, entry["each"])]
        if not matching:
            yield Mismatch(f"each {_label(entry['each'])}", "", "missing", at=("each",))
        yield from _lacking(entry, matching)
    elif "absent" in entry:
        for manifest in objects:
            if has(manifest, entry["absent"]):
                yield Mismatch(subject_of(manifest), "", "unexpected", found=manifest, at=("absent",))
    else:
        number = sum(has(manifest, entry["count"]) for manifest in objects)
        holds = {
            "is": number == entry.get("is"),
            "atLeast": number >= entry.get("atLeast", 0),
            "atMost": number <= entry.get("atMost", number),
        }
        for bound in _BOUNDS:
            if bound in entry and not holds[bound]:
                yield Mismatch(f"count {_label(entry['count'])}", bound, "changed", entry[bound], number, at=(bound,))


def _lacking(entry: Assert, found: Sequence[Manifest]) -> Iterator[Mismatch]:
    for manifest in found:
        for difference in _missing(entry.get("has", {}), manifest):
            difference.subject, difference.at = subject_of(manifest), ("has", *difference.at)
            yield difference


def has(manifest: Manifest, part: Mapping[str, Any]) -> bool:
    """Returns whether an object has all given fields."""
    return next(_missing(part, manifest), None) is None


def _missing(part: Any, value: Any) -> Iterator[Mismatch]:
    """Yields the differences without additional fields. Additional items of unkeyed lists are differences, as they shift others."""
    for difference in compare_values(part, value):
        is_item = re.search(r"\[\d+\]$", difference.path) is not None
        is_besides = (difference.change == "unexpected" and not is_item) or difference.change == "reordered"
        is_absence = difference.change == "missing" and difference.expected is None
        if not is_besides and not is_absence:
            yield difference


def _label(part: Mapping[str, Any]) -> str:
    return (
        str(part["kind"])
        if list(part) == ["kind"]
        else f"{part.get('kind', 'objects')} with {', '.join(key for key in part if key != 'kind')}"
    )


def _check(document: Document, number: int, entry: Any) -> Iterator[Diagnostic]:
    kinds = [kind for kind in FORMS if isinstance(entry, dict) and kind in entry]
    if len(kinds) != 1:
        yield _problem(document, (number,), f"an assert is a map with exactly one of {', '.join(FORMS)}")
        return
    keys = FORMS[kinds[0]]
    for key, value in entry.items():
        if key not in keys:
            message = f"an assert with `{kinds[0]}` has no {key!r}; the keys are {', '.join(keys)}"
            yield _problem(document, (number, key), message, nearest(str(key), keys))
        elif not isinstance(value, keys[key]) or isinstance(value, bool) or value == "":
            yield _problem(document, (number, key), f"`{key}` is {_WORDS[keys[key][0]]}")
    if kinds[0] == "count" and not any(bound in entry for bound in _BOUNDS):
        yield _problem(document, (number,), f"a `count` requires one of {', '.join(_BOUNDS)}")
    if kinds[0] == "each" and "has" not in entry:
        yield _problem(document, (number,), "`each` requires `has`, which each object must match")


def _problem(document: Document, path: FieldPath, message: str, suggestion: str = "") -> Diagnostic:
    line, column = document.place(path)
    return Diagnostic("case/asserts", "error", message, file=document.file, line=line, column=column, nearest=suggestion)
