"""Hands ComputeDomains and claims that the webhooks made over to the PodGangs of their pods, so that they go when these go.

A webhook that is asked about a new PodGang sees no UID of it, without which nothing can belong to it. So a loop does it as soon as the gang
is there, whichever of them comes first, and after a restart as well.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from applier.cache import Query, WatchCache, WriteThrough
from applier.cluster import Cluster
from applier.desired import Desired, Gone, Graph, Hold
from applier.errors import ApplierError, NotFound, WriteConflict
from applier.loop import Loop, Result, View
from applier.outcome import Outcome
from applier.ref import Kind, Manifest, Ref
from grove_compiler.mnnvl_admission import admit_podgang
from grove_compiler.model.inputs.mnnvl_shape import AS_PROPOSED
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.step import Context
from grove_operator.controller.live_objects import LiveObjects

PAUSE = 30.0
"""Seconds before a cluster that could not be read is asked again."""
MANAGER = "grove-operator"
MADE_BY_WEBHOOKS = "grove.io/mnnvl-managed=true"
POD_GANG = Kind("scheduler.grove.io", "v1alpha1", "PodGang")


def watched(settings: Settings) -> list[Query]:
    """Returns what the loop has to know: all gangs, and of domains and claims those that webhooks made."""
    version = "v1alpha1" if settings.mnnvl_shape == AS_PROPOSED else "v1beta1"
    domain, claim = Kind("resource.nvidia.com", version, "ComputeDomain"), Kind("resource.k8s.io", settings.resource_api, "ResourceClaim")
    return [
        Query(POD_GANG, managed=False),
        *(Query(kind, managed=False, labels=MADE_BY_WEBHOOKS, optional=True) for kind in (domain, claim)),
    ]


class Adoption:
    """Looks at each PodGang whenever it or a domain of its set changes. `context` gives the rules of the moment.

    `tell` is given one line about whatever goes wrong.
    """

    def __init__(self, cluster: Cluster, context: Callable[[], Context], tell: Callable[[str], None]) -> None:
        self._cluster, self._context, self._tell = cluster, context, tell
        self._cache = WatchCache(cluster, watched(context().settings))

    def view(self) -> LiveObjects:
        """Returns what is known of gangs, domains and claims."""
        return LiveObjects(View(self._cache))

    async def run(self) -> None:
        """Runs until it is cancelled. What keeps it from reading the cluster is told, and tried again."""
        while True:
            loop = Loop[Ref](self._cache, self._desired, self._hand_over, keys=_gangs, on_result=self._told)
            try:
                await loop.run()
            except ApplierError as error:
                self._tell(f"no domains are handed over to PodGangs: {error}")
            await asyncio.sleep(PAUSE)
            self._cache = WatchCache(self._cluster, watched(self._context().settings))

    def _desired(self, view: View, key: Ref) -> Graph | Gone | Hold:
        """What is to be merged into the gang's domains and claims, and into itself."""
        gang, context = view.get(key), self._context()
        if gang is None or gang["metadata"].get("deletionTimestamp"):
            return Graph([])
        admission = admit_podgang(gang, LiveObjects(view), context, replace(context.settings, namespace=key.namespace))
        if admission.problem is not None:
            return Hold(admission.problem.message)
        return Graph([Desired(one) for one in admission.merged])

    async def _hand_over(self, _: Ref, desired: Graph | Gone | Hold, __: View) -> Sequence[Outcome]:
        for one in desired.objects.values() if isinstance(desired, Graph) else ():
            cluster = WriteThrough(self._cluster, self._cache)
            resource = await cluster.resource(Kind.of(one.manifest))
            try:
                await cluster.patch(resource, one.ref.namespace, one.ref.name, one.manifest, manager=MANAGER)
            except (NotFound, WriteConflict):  # it has changed meanwhile, of which the watch tells
                continue
        return []

    def _told(self, result: Result[Ref]) -> None:
        if result.held or result.error:
            self._tell(f"domains of {result.key} are not handed over: {result.held or result.error}")


def _gangs(ref: Ref, _: Manifest | None, new: Manifest | None) -> Iterator[Ref]:
    if (ref.group, ref.kind) == (POD_GANG.group, POD_GANG.kind) and new is not None:
        yield ref
