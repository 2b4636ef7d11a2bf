"""Reads what every manifest may have, also one that nobody has validated."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

Manifest = dict[str, Any]

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""The annotation in which client-side `kubectl apply` keeps the manifest that it has applied."""


def mapping(value: Any) -> Manifest:
    """Returns a map, or an empty one in place of anything else: users and other clients may have written any value."""
    return value if isinstance(value, dict) else {}


def maps(values: Any) -> list[Manifest]:
    """Returns the maps among the items of a list; empty where the value is no list."""
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


def section(value: Any, *path: str) -> Manifest:
    """Returns the map at a path, or an empty one where there is none: rules of users may generate objects of any shape."""
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
    return mapping(value)


def labels_of(manifest: Manifest) -> Manifest:
    """Returns an object's labels."""
    return section(manifest, "metadata", "labels")


def namespace_of(manifest: Manifest) -> str:
    """Returns an object's namespace; empty where it has none."""
    return str(section(manifest, "metadata").get("namespace") or "")


def namespaced_name(manifest: Manifest) -> tuple[str, str]:
    """Returns an object's namespace and name; empty where it has none."""
    return namespace_of(manifest), str(section(manifest, "metadata").get("name") or "")


def resource_name(manifest: Manifest) -> str:
    """Returns `podcliqueset.grove.io/demo`, as kubectl names an object in `-o name`."""
    group, slash, _ = str(manifest["apiVersion"]).partition("/")
    return f"{manifest['kind'].lower()}{f'.{group}' if slash else ''}/{section(manifest, 'metadata').get('name')}"


def by_label(manifests: Iterable[Manifest], label: str) -> dict[tuple[str, str], list[Manifest]]:
    """Groups objects by their namespace and the value of a label, which is empty where they lack it. Any other key has no objects."""
    groups: dict[tuple[str, str], list[Manifest]] = defaultdict(list)
    for manifest in manifests:
        groups[namespace_of(manifest), str(labels_of(manifest).get(label) or "")].append(manifest)
    return groups


def managers_of_field(manifest: Manifest, *path: str) -> set[str]:
    """Returns the field managers that own a field, as `managedFields` says; empty where an object comes without."""
    *parents, name = (f"f:{part}" for part in path)
    entries = maps(section(manifest, "metadata").get("managedFields"))
    return {str(entry.get("manager") or "") for entry in entries if name in section(entry, "fieldsV1", *parents)}


def without_managed_fields(manifest: Manifest) -> Manifest:
    """Returns an object without its managedFields; the same one if it has none."""
    metadata = section(manifest, "metadata")
    if "managedFields" not in metadata:
        return manifest
    return {**manifest, "metadata": {key: value for key, value in metadata.items() if key != "managedFields"}}


def group_of(api_version: str) -> str:
    """Returns the API group of an `apiVersion`; empty for the core group."""
    return api_version.rpartition("/")[0]


def is_terminating(manifest: Manifest) -> bool:
    """Reports whether a live object's deletion has begun."""
    return bool((manifest.get("metadata") or {}).get("deletionTimestamp"))
