"""Finds an object by its command line argument among recorded ones, and the set that it belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from applier.ref import Manifest
from grove_cli.queries.tree_query import NoSuchObject, parse_object
from grove_compiler.decoder import SET_KIND
from grove_compiler.labels import PART_OF

KINDS = ("PodCliqueSet", "PodCliqueScalingGroup", "PodClique", "PodGang", "Pod")
"""The kinds that rules report waits of."""


def find(argument: str, namespace: str, objects: Iterable[Manifest]) -> tuple[Manifest, Manifest]:
    """Returns the object `NAME` or `KIND/NAME`, and its PodCliqueSet. Raises `NoSuchObject`.

    Without a `namespace` the name has to be unique among all namespaces.
    """
    kind, name = parse_object(argument, KINDS, "can wait")
    known = list(objects)
    found = [each for each in _named(known, kind, name) if namespace in ("", each["metadata"].get("namespace"))]
    if not found:
        raise NoSuchObject(f"there is no {kind} {name!r}{f' in the namespace {namespace}' if namespace else ''}")
    if len(found) > 1:
        raise NoSuchObject(f"there are several {kind}s {name!r}: choose one with -n {' or -n '.join(map(_namespace, found))}")
    [manifest] = found
    set_name = name if kind == SET_KIND else (manifest["metadata"].get("labels") or {}).get(PART_OF)
    sets = [pcs for pcs in _named(known, SET_KIND, set_name) if _namespace(pcs) == _namespace(manifest)]
    if not sets:
        raise NoSuchObject(f"{kind} {name!r} belongs to no existing PodCliqueSet")
    return manifest, sets[0]


def _named(objects: Sequence[Manifest], kind: str, name: str | None) -> list[Manifest]:
    return [each for each in objects if each["kind"] == kind and each["metadata"]["name"] == name]


def _namespace(manifest: Manifest) -> str:
    return str(manifest["metadata"].get("namespace") or "")
