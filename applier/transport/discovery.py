"""Finds out which kinds a server serves, and waits until new ones are; caches them, and refreshes the cache for an unknown kind."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import orjson

from applier.backoff import Backoff
from applier.cluster import Cluster, Resource
from applier.errors import ClusterError, NotFound, UnknownKind, Unreachable
from applier.ref import DEFINITION_KIND, Kind, Manifest
from applier.transport.disk import Disk
from applier.transport.refusals import WRONG_ADDRESS
from applier.transport.retries import ApiRequest
from applier.transport.wire import Wire

AGGREGATED = ",".join(f"application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList" for version in ("v2", "v2beta1"))
"""The Accept header of aggregated discovery, which takes two requests. Every server since Kubernetes 1.27 supports it, so the older
protocol, with one request for each group version, is not implemented."""


@dataclass(slots=True, eq=False)
class ServedResources:
    """Holds resources by kind, each group's preferred version first. `broken` are group versions whose API service does not answer."""

    by_kind: dict[Kind, Resource] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)

    def add(self, resource: Resource) -> None:
        """Adds a resource. If two have the same kind, the first counts."""
        self.by_kind.setdefault(resource.kind, resource)

    def preferred(self) -> list[Resource]:
        """Returns every kind of every group, once: in the first version that has it."""
        first: dict[tuple[str, str], Resource] = {}
        for kind, resource in self.by_kind.items():
            first.setdefault((kind.group, kind.kind), resource)
        return list(first.values())

    def versions(self, kind: Kind) -> list[str]:
        """Returns the versions in which the group and kind of `kind` are served."""
        return [known.version for known in self.by_kind if (known.group, known.kind) == (kind.group, kind.kind)]

    def dump(self) -> dict[str, Any]:
        """Returns the resources as JSON, for a cache on disk."""
        rows = [[*r.kind, r.plural, r.namespaced, sorted(r.verbs), sorted(r.subresources)] for r in self.by_kind.values()]
        return {"resources": rows, "broken": self.broken}

    @classmethod
    def load(cls, dumped: dict[str, Any]) -> ServedResources:
        """Reads the output of `dump`. Raises KeyError, TypeError or ValueError for anything else."""
        served = cls(broken=list(dumped["broken"]))
        for group, version, kind, plural, namespaced, verbs, subresources in dumped["resources"]:
            served.add(Resource(Kind(group, version, kind), plural, namespaced, frozenset(verbs), frozenset(subresources)))
        return served


def read_aggregated(documents: Iterable[dict[str, Any]]) -> ServedResources:
    """Reads APIGroupDiscoveryLists (apidiscovery.k8s.io/v2), one for the core and one for all groups.

    A version whose freshness is Stale belongs to an API service that does not answer now, and is recorded in `broken`.
    """
    served = ServedResources()
    for document in documents:
        for group in document.get("items") or ():
            name = str((group.get("metadata") or {}).get("name") or "")
            for version in group.get("versions") or ():
                _add_version(served, name, version)
    return served


def _add_version(served: ServedResources, group: str, version: dict[str, Any]) -> None:
    number = str(version["version"])
    if version.get("freshness") == "Stale":
        served.broken.append(f"{group}/{number}" if group else number)
    for given in version.get("resources") or ():
        answers = given.get("responseKind") or {}
        kind = Kind(answers.get("group") or group, answers.get("version") or number, str(answers.get("kind") or ""))
        below = frozenset(subresource["subresource"] for subresource in given.get("subresources") or ())
        served.add(Resource(kind, given["resource"], given.get("scope") == "Namespaced", frozenset(given.get("verbs") or ()), below))


LIFE = 600.0  # seconds for which the cache on disk is valid; a kind that it lacks causes a refresh at once
REFRESH_INTERVAL = 2.0  # seconds between refreshes for unknown kinds, at least


class Discovery:
    """Provides the resources of one server."""

    def __init__(self, wire: Wire, disk: Disk) -> None:
        self.wire, self.disk = wire, disk
        self.served: ServedResources | None = None
        self.fetched_at = float("-inf")
        self._lock = asyncio.Lock()

    async def resource(self, kind: Kind) -> Resource:
        """Returns how a kind is served. Raises `UnknownKind`, with what is served instead."""
        resource = (await self.all()).by_kind.get(kind)
        if resource is None and time.monotonic() - self.fetched_at > REFRESH_INTERVAL:
            resource = (await self.refresh()).by_kind.get(kind)
        if resource is None:
            raise self._unknown(kind)
        return resource

    async def all(self) -> ServedResources:
        """Returns all resources, from memory, disk or the server."""
        if self.served is None:
            async with self._lock:
                if self.served is None:
                    self.served = self._from_disk() or await self._fetch()
        return self.served

    async def refresh(self) -> ServedResources:
        """Fetches all resources from the server; concurrent calls share one fetch."""
        before = self.served
        async with self._lock:
            if self.served is before or self.served is None:
                self.served = await self._fetch()
            return self.served

    def forget(self) -> None:
        """Drops the caches, after a kind that should be served was not found."""
        self.served = None
        self.disk.drop("discovery.json")

    def _from_disk(self) -> ServedResources | None:
        cached = self.disk.read("discovery.json", LIFE)
        if cached is None:
            return None
        try:
            return ServedResources.load(orjson.loads(cached))
        except (ValueError, KeyError, TypeError):
            return None

    async def _fetch(self) -> ServedResources:
        self.fetched_at = time.monotonic()
        served = read_aggregated(await asyncio.gather(self._get("/api"), self._get("/apis")))
        self.disk.write("discovery.json", orjson.dumps(served.dump()))
        return served

    async def _get(self, path: str) -> dict[str, Any]:
        """Fetches the discovery document of one of the server's two roots. Raises `ClusterError` if the response is none."""
        where = f"{self.wire.target.server}{path}"
        try:
            answer = await self.wire.call(ApiRequest("get", "discovery"), "GET", path, headers={"Accept": AGGREGATED})
        except (NotFound, UnknownKind):
            raise Unreachable(f"{where} is not found, as with a proxy without a server; {WRONG_ADDRESS}") from None
        try:
            document = orjson.loads(answer.body)
        except orjson.JSONDecodeError:
            document = None
        if isinstance(document, dict) and document.get("kind") == "APIGroupDiscoveryList":
            return document
        if isinstance(document, dict) and document.get("kind") in ("APIVersions", "APIGroupList"):
            raise ClusterError(
                f"{where} does not support aggregated discovery: Kubernetes 1.27 or later is required, without a proxy that removes it"
            )
        raise ClusterError(f"the answer of {where} is no list of APIs; {WRONG_ADDRESS}")

    def _unknown(self, kind: Kind) -> UnknownKind:
        served = self.served or ServedResources()
        if kind.api_version in served.broken:
            return UnknownKind(f"the API service of {kind.api_version} does not answer, so {kind.kind} cannot be read or written")
        others = served.versions(kind)
        if others:
            group = kind.group or "the core"
            return UnknownKind(f"the server serves {kind.kind} of {group} not in {kind.version}, but in {', '.join(others)}")
        groups = sorted({known.api_version for known in served.by_kind if known.kind == kind.kind})
        missing = "install its CustomResourceDefinition first" if kind.group else WRONG_ADDRESS
        hint = f"; {kind.kind} is known in {', '.join(groups)}" if groups else f"; {missing}"
        return UnknownKind(f"the server serves no {kind.kind} of {kind.api_version}{hint}")


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
