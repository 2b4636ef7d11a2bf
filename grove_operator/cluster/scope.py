"""Namespaces of plain manifests: filled in where one is missing, taken out where a kind has none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from applier.cluster import Cluster
from applier.errors import UnknownKind
from applier.ref import DEFINITION, GroupKind, Kind, Manifest
from grove_operator.cluster.classify import Item


class OtherNamespace(Exception):
    """A manifest names another namespace than the one that was asked for."""


async def in_namespace(cluster: Cluster, items: Sequence[Item], namespace: str, *, only: bool) -> list[Item]:
    """Returns the items with their namespaces. Kinds that only a definition among them makes known are of that definition's scope.

    Those of a kind that neither the server serves nor a definition defines stay as they are: who asks for kinds names all that are
    missing. `only` refuses other namespaces, as kubectl does with `-n`. Raises `OtherNamespace`.
    """
    defined = defined_scopes(item.manifest for item in items)
    scopes = {kind: await _is_namespaced(cluster, kind, defined) for kind in {Kind.of(item.manifest) for item in items}}
    return [_placed(item, scopes[Kind.of(item.manifest)], namespace, only) for item in items]


def defined_scopes(manifests: Iterable[Manifest]) -> dict[GroupKind, bool]:
    """Returns group and kind of what CustomResourceDefinitions define, and whether those objects stand in namespaces."""
    found = {}
    for manifest in manifests:
        kind = Kind.of(manifest)
        if (kind.group, kind.kind) == DEFINITION:
            spec = manifest.get("spec") or {}
            name = str(spec.get("group") or ""), str((spec.get("names") or {}).get("kind") or "")
            found[name] = spec.get("scope") != "Cluster"
    return found


async def _is_namespaced(cluster: Cluster, kind: Kind, defined: dict[GroupKind, bool]) -> bool | None:
    """Tells whether a kind has namespaces; None for a kind that nobody knows."""
    try:
        return (await cluster.resource(kind)).namespaced
    except UnknownKind:
        return defined.get((kind.group, kind.kind))


def _placed(item: Item, namespaced: bool | None, namespace: str, only: bool) -> Item:
    if namespaced is None:
        return item
    metadata = item.manifest["metadata"]
    said = metadata.get("namespace") or ""
    if namespaced and only and said and said != namespace:
        name = f"{item.manifest['kind']} {metadata['name']!r}"
        raise OtherNamespace(f"{item.source or name}: {name} is of the namespace {said!r}, and -n asks for {namespace!r}")
    wanted = (said or namespace) if namespaced else ""
    if wanted == said and ("namespace" in metadata) == bool(wanted):
        return item
    placed = {key: value for key, value in metadata.items() if key != "namespace"}
    if wanted:
        placed["namespace"] = wanted
    return Item({**item.manifest, "metadata": placed}, item.document)
