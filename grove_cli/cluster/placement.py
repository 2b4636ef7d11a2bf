"""Gives manifests of files their namespaces, by the scopes of their kinds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from applier.cluster import Cluster
from applier.errors import UnknownKind
from applier.ref import DEFINITION, GroupKind, Kind, Manifest
from grove_operator.cluster.classify import Item


class OtherNamespace(Exception):
    """A manifest has another namespace than `-n`."""


async def in_namespace(cluster: Cluster, items: Sequence[Item], namespace: str, *, only: bool) -> list[Item]:
    """Returns the items with their namespaces. The scope of kinds that the server does not serve is that of definitions among the items.

    Items of unknown kinds are returned unchanged; `_check_kinds` reports them all. `only` rejects other namespaces, as kubectl does with
    `-n`. Raises `OtherNamespace`.
    """
    defined = defined_scopes(item.manifest for item in items)
    scopes = {kind: await _is_namespaced(cluster, kind, defined) for kind in {Kind.of(item.manifest) for item in items}}
    return [_placed(item, scopes[Kind.of(item.manifest)], namespace, only) for item in items]


def defined_scopes(manifests: Iterable[Manifest]) -> dict[GroupKind, bool]:
    """Returns whether the kinds of CustomResourceDefinitions are namespaced."""
    scopes = {}
    for manifest in manifests:
        kind = Kind.of(manifest)
        if (kind.group, kind.kind) == DEFINITION:
            spec = manifest.get("spec") or {}
            name = str(spec.get("group") or ""), str((spec.get("names") or {}).get("kind") or "")
            scopes[name] = spec.get("scope") != "Cluster"
    return scopes


async def _is_namespaced(cluster: Cluster, kind: Kind, defined: dict[GroupKind, bool]) -> bool | None:
    """Returns whether a kind is namespaced; None for an unknown one."""
    try:
        return (await cluster.resource(kind)).namespaced
    except UnknownKind:
        return defined.get((kind.group, kind.kind))


def _placed(item: Item, namespaced: bool | None, namespace: str, only: bool) -> Item:
    if namespaced is None:
        return item
    metadata = item.manifest["metadata"]
    declared = metadata.get("namespace") or ""
    if namespaced and only and declared and declared != namespace:
        name = f"{item.manifest['kind']} {metadata['name']!r}"
        raise OtherNamespace(f"{item.source or name}: {name} is of the namespace {declared!r}, and -n asks for {namespace!r}")
    effective = (declared or namespace) if namespaced else ""
    if effective == declared and ("namespace" in metadata) == bool(effective):
        return item
    placed = {key: value for key, value in metadata.items() if key != "namespace"}
    if effective:
        placed["namespace"] = effective
    return Item({**item.manifest, "metadata": placed}, item.document)
