"""Waiting until new kinds can be used."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import aclosing

from applier.cluster import Cluster, WatchEvent
from applier.errors import Forbidden, UnknownKind
from applier.ref import Kind, Manifest
from applier.reflector import list_and_watch
from applier.transport.discovery import Discovery
from applier.transport.served import Served

DEFINITION = Kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
FIRST, LONGEST = 0.05, 1.0  # seconds between looks at discovery, which follows a definition a moment later


async def await_established(cluster: Cluster, discovery: Discovery, kinds: Iterable[Kind], timeout: float) -> bool:
    """Returns once the server serves all these kinds; says whether any of them is new.

    Raises `UnknownKind` after `timeout` seconds, naming what is missing and why.
    """
    waiting = Waiting(cluster, discovery, kinds)
    try:
        async with asyncio.timeout(timeout):
            return await waiting.until_served()
    except TimeoutError:
        raise UnknownKind(waiting.why()) from None


class Waiting:
    """Kinds that are waited for, and what their definitions say of themselves so far."""

    def __init__(self, cluster: Cluster, discovery: Discovery, kinds: Iterable[Kind]) -> None:
        self.cluster, self.discovery = cluster, discovery
        self.kinds = list(dict.fromkeys(kinds))
        self.definitions: dict[tuple[str, str], Manifest] = {}
        self.blind = False

    async def until_served(self) -> bool:
        """Watches definitions until all are established, then discovery until it has them; says whether there was anything to wait for.

        Whoever may not read definitions only looks at discovery.
        """
        if not self._missing(await self.discovery.all()) or not self._missing(await self.discovery.refresh()):
            return False
        try:
            await self._until_established()
        except Forbidden:
            self.blind = True
        pause = FIRST
        while self._missing(await self.discovery.refresh()):
            await asyncio.sleep(pause)
            pause = min(LONGEST, pause * 2)
        return True

    def why(self) -> str:
        """What is missing, and why, of all kinds at once."""
        served = self.discovery.served
        missing = self._missing(served) if served else self.kinds
        return "; ".join(f"{kind.kind} of {kind.api_version} cannot be used: {self._trouble(kind) or 'not served yet'}" for kind in missing)

    def _missing(self, served: Served) -> list[Kind]:
        return [kind for kind in self.kinds if kind not in served.by_kind]

    async def _until_established(self) -> None:
        """Follows definitions until no kind has trouble."""
        resource = await self.cluster.resource(DEFINITION)
        missing = self._missing(await self.discovery.all())
        async with aclosing(list_and_watch(self.cluster, resource)) as told:
            async for news in told:
                if not isinstance(news, WatchEvent):
                    self.definitions = {_defined(one): one for one in news.items}
                elif news.type != "BOOKMARK":
                    self._take(news)
                if not any(self._trouble(kind) for kind in missing):
                    return

    def _take(self, event: WatchEvent) -> None:
        if event.type == "DELETED":
            self.definitions.pop(_defined(event.object), None)
        else:
            self.definitions[_defined(event.object)] = event.object

    def _trouble(self, kind: Kind) -> str:
        """Why a kind's definition does not serve it; empty when it does."""
        definition = self.definitions.get((kind.group, kind.kind))
        if definition is None and self.blind:
            return "the server does not serve it, and we may not read definitions"
        if definition is None:
            return "there is no CustomResourceDefinition for it"
        versions = {one["name"]: one.get("served") for one in definition["spec"].get("versions") or ()}
        if not versions.get(kind.version):
            return f"its definition serves only {', '.join(name for name, served in versions.items() if served) or 'no version'}"
        conditions = {one["type"]: one for one in (definition.get("status") or {}).get("conditions") or ()}
        if (conditions.get("Established") or {}).get("status") == "True":
            return ""
        refused = conditions.get("NamesAccepted") or {}
        why = refused if refused.get("status") == "False" else conditions.get("Established") or {}
        return f"its definition is not established: {why.get('message') or 'the server has not looked at it yet'}"


def _defined(definition: Manifest) -> tuple[str, str]:
    """Group and kind that a definition is for."""
    spec = definition.get("spec") or {}
    return str(spec.get("group") or ""), str((spec.get("names") or {}).get("kind") or "")
