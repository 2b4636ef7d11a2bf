"""Waits until new kinds are served."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable

from applier.backoff import Backoff
from applier.cluster import Cluster
from applier.errors import ClusterError, UnknownKind
from applier.ref import DEFINITION_KIND, Kind, Manifest
from applier.transport.discovery import Discovery
from applier.transport.served import ServedResources

FIRST, MAX_DELAY = 0.05, 1.0  # seconds between polls: a definition is mostly served 0.1 to 0.3 s after it was created


async def await_established(cluster: Cluster, discovery: Discovery, kinds: Iterable[Kind], timeout: float) -> bool:
    """Waits until the server serves all these kinds; returns whether it had to wait.

    Raises `UnknownKind` after `timeout` seconds, with each missing kind and why. Polls discovery instead of watching definitions: discovery
    is updated only after a definition is Established, so a watch would save no poll, and definitions may not be readable.
    """
    kinds = list(dict.fromkeys(kinds))
    if not _missing(await discovery.all(), kinds):
        return False
    end, backoff, is_new = time.monotonic() + timeout, Backoff(FIRST, MAX_DELAY), False
    while missing := _missing(await discovery.refresh(), kinds):
        if time.monotonic() > end:
            raise UnknownKind(await _why(cluster, missing))
        await asyncio.sleep(backoff.next())
        is_new = True
    return is_new


def _missing(served: ServedResources, kinds: Iterable[Kind]) -> list[Kind]:
    return [kind for kind in kinds if kind not in served.by_kind]


async def _why(cluster: Cluster, missing: Iterable[Kind]) -> str:
    """Returns why these kinds are not served, in one message."""
    try:
        listing = await cluster.list(await cluster.resource(DEFINITION_KIND))
    except ClusterError:
        return _message((kind, "the server does not serve it, and we have no permission to read definitions") for kind in missing)
    definitions = {_defined(definition): definition for definition in listing.items}
    return _message((kind, _why_unserved(kind, definitions.get((kind.group, kind.kind)))) for kind in missing)


def _message(reasons: Iterable[tuple[Kind, str]]) -> str:
    return "; ".join(f"{kind.kind} of {kind.api_version} cannot be used: {reason}" for kind, reason in reasons)


def _why_unserved(kind: Kind, definition: Manifest | None) -> str:
    """Returns why a kind's definition does not serve it."""
    if definition is None:
        return "there is no CustomResourceDefinition for it"
    versions = {version["name"]: version.get("served") for version in definition["spec"].get("versions") or ()}
    if not versions.get(kind.version):
        return f"its definition serves only {', '.join(name for name, served in versions.items() if served) or 'no version'}"
    conditions = {condition["type"]: condition for condition in (definition.get("status") or {}).get("conditions") or ()}
    if (conditions.get("Established") or {}).get("status") == "True":
        return "not served yet"
    names_accepted = conditions.get("NamesAccepted") or {}
    condition = names_accepted if names_accepted.get("status") == "False" else conditions.get("Established") or {}
    return f"its definition is not established: {condition.get('message') or 'the server has not looked at it yet'}"


def _defined(definition: Manifest) -> tuple[str, str]:
    """Returns the group and kind that a definition defines."""
    spec = definition.get("spec") or {}
    return str(spec.get("group") or ""), str((spec.get("names") or {}).get("kind") or "")
