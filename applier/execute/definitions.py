"""Definitions (CRDs): once one is written, its kind is waited for, and known without asking the server for all kinds again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from applier.cluster import Resource
from applier.errors import ApplierError
from applier.execute.patience import looks
from applier.execute.state import Run
from applier.ref import Kind, Manifest, Ref

VERBS = frozenset({"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"})


class NotEstablished(ApplierError):
    """A definition that the server took and does not serve."""


async def established(run: Run, definition: Manifest) -> None:
    """Waits until the server serves what a definition defines. Raises `NotEstablished` with the server's reason."""
    ref, kind = Ref.of(definition), Kind.of(definition)
    if not run.dry_run:
        async for _ in looks(run.patience, run.stop, run.patience.established):
            if _says(definition, "Established") == "True":
                break
            definition = await run.read(ref, kind) or definition
        else:
            raise NotEstablished(f"is not served after {run.patience.established:g} s: {_why_not(definition)}")
    run.made.update({resource.kind: resource for resource in served_by(definition)})


def served_by(definition: Manifest) -> Iterator[Resource]:
    """The resources that a definition makes the server serve, one for each served version."""
    spec = definition["spec"]
    for version in spec["versions"]:
        if version.get("served"):
            kind = Kind(spec["group"], version["name"], spec["names"]["kind"])
            subresources = frozenset(version.get("subresources") or ())
            yield Resource(kind, spec["names"]["plural"], spec.get("scope") == "Namespaced", VERBS, subresources)


def _conditions(definition: Manifest) -> list[dict[str, Any]]:
    return (definition.get("status") or {}).get("conditions") or []


def _says(definition: Manifest, type: str) -> str:
    return next((str(condition.get("status")) for condition in _conditions(definition) if condition.get("type") == type), "")


def _why_not(definition: Manifest) -> str:
    said = [
        f"{one.get('type')}: {one.get('message') or one.get('reason')}" for one in _conditions(definition) if one.get("status") == "False"
    ]
    return "; ".join(said) or "the server says nothing of it"
