"""Compares objects with expected ones, by object and field. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from grove_compiler.graph.field_path import FieldPath, render
from grove_compiler.graph.node import Manifest
from grove_compiler.record import record
from kube_objects.manifest import group_of

Change = Literal["missing", "unexpected", "changed", "reordered"]
NOTHING: Any = None
Key = tuple[str, str, str, str, int]


@record
class Mismatch:
    """A field that differs, or a whole object when `path` is empty.

    `subject` is the object's `Kind/namespace/name`, or `finding …`. Items of lists are identified by name if all have one
    (`containers[name=main]`). `document` is the index of the expected object, -1 for an unexpected one, and `at` the path within it.
    """

    subject: str
    path: str
    change: Change
    expected: Any = NOTHING
    found: Any = NOTHING
    document: int = -1
    at: FieldPath = ()


def compare_objects(expected: Sequence[Manifest], found: Sequence[Manifest]) -> list[Mismatch]:
    """Returns all differences in the order of the expected objects; unexpected ones come last.

    The order of objects does not matter.
    """
    expected_by_key, found_by_key = _by_key(expected), _by_key(found)
    differences: list[Mismatch] = []
    for number, (key, manifest) in enumerate(expected_by_key.items()):
        subject = subject_of(manifest)
        if key not in found_by_key:
            differences.append(Mismatch(subject, "", "missing", manifest, document=number))
            continue
        for difference in compare_values(manifest, found_by_key[key]):
            difference.subject, difference.document = subject, number
            differences.append(difference)
    differences += [
        Mismatch(subject_of(manifest), "", "unexpected", found=manifest)
        for key, manifest in found_by_key.items()
        if key not in expected_by_key
    ]
    return differences


def compare_values(expected: Any, found: Any, shown: FieldPath = (), at: FieldPath = ()) -> Iterator[Mismatch]:
    """Yields the differences below a path, deepest first, with an empty `subject`."""
    if isinstance(expected, dict) and isinstance(found, dict):
        yield from _compare_maps(expected, found, shown, at)
    elif isinstance(expected, list) and isinstance(found, list):
        names = _names(expected), _names(found)
        if names[0] and names[1]:
            yield from _compare_named(dict(zip(names[0], expected, strict=True)), dict(zip(names[1], found, strict=True)), shown, at)
        else:
            yield from _compare_lists(expected, found, shown, at)
    elif not is_same(expected, found):
        yield Mismatch("", render(shown), "changed", expected, found, at=at)


def is_same(expected: Any, found: Any) -> bool:
    """Returns whether two scalars are equal: `1` and `1.0` are, `1` and `true` or `"1"` are not."""
    if isinstance(expected, bool) or isinstance(found, bool):
        return expected is found
    return bool(expected == found)


def subject_of(manifest: Manifest) -> str:
    """Returns `Kind/namespace/name`, or `Kind/name`."""
    metadata = manifest.get("metadata") or {}
    return "/".join(str(part) for part in (manifest.get("kind"), metadata.get("namespace"), metadata.get("name")) if part)


def _by_key(objects: Iterable[Manifest]) -> dict[Key, Manifest]:
    """Keys manifests by group, kind, namespace and name, with a counter for duplicates."""
    found: dict[Key, Manifest] = {}
    for manifest in objects:
        metadata = manifest.get("metadata") or {}
        group = group_of(str(manifest.get("apiVersion") or ""))
        key = (group, str(manifest.get("kind")), str(metadata.get("namespace") or ""), str(metadata.get("name") or ""), 0)
        while key in found:
            key = (*key[:4], key[4] + 1)
        found[key] = manifest
    return found


def _compare_maps(expected: dict[str, Any], found: dict[str, Any], shown: FieldPath, at: FieldPath) -> Iterator[Mismatch]:
    for key, value in expected.items():
        here, there = (*shown, key), (*at, key)
        if key in found:
            yield from compare_values(value, found[key], here, there)
        else:
            yield Mismatch("", render(here), "missing", value, at=there)
    for key, value in found.items():
        if key not in expected:
            yield Mismatch("", render((*shown, key)), "unexpected", found=value, at=at)


def _compare_lists(expected: list[Any], found: list[Any], shown: FieldPath, at: FieldPath) -> Iterator[Mismatch]:
    for index in range(max(len(expected), len(found))):
        here, there = (*shown, index), (*at, index)
        if index >= len(found):
            yield Mismatch("", render(here), "missing", expected[index], at=there)
        elif index >= len(expected):
            yield Mismatch("", render(here), "unexpected", found=found[index], at=at)
        else:
            yield from compare_values(expected[index], found[index], here, there)


def _compare_named(expected: dict[str, Any], found: dict[str, Any], shown: FieldPath, at: FieldPath) -> Iterator[Mismatch]:
    for index, (name, value) in enumerate(expected.items()):
        here, there = (*shown, f"name={name}"), (*at, index)
        if name in found:
            yield from compare_values(value, found[name], here, there)
        else:
            yield Mismatch("", render(here), "missing", value, at=there)
    for name, value in found.items():
        if name not in expected:
            yield Mismatch("", render((*shown, f"name={name}")), "unexpected", found=value, at=at)
    orders = [name for name in expected if name in found], [name for name in found if name in expected]
    if orders[0] != orders[1]:
        yield Mismatch("", render(shown), "reordered", *orders, at=at)


def _names(items: list[Any]) -> list[str]:
    """Returns the names of items if all have a distinct one, as containers and ports do; else none."""
    names = [item.get("name") if isinstance(item, dict) else None for item in items]
    texts = [name for name in names if isinstance(name, str) and name]
    return texts if len(set(texts)) == len(items) else []
