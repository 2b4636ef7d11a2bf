"""Makes PodGangs the owners of the ComputeDomains and claims that webhooks created for them, so that they are garbage collected with them.

The webhook cannot: on admission a new PodGang has no UID for an owner reference. A loop adds the reference as soon as both objects exist,
after a restart as well.
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
from grove_compiler.step import StepContext
from grove_operator import field_managers
from grove_operator.controller.live_objects import LiveObjects

PAUSE = 30.0
"""Seconds until the loop is started again after a cluster could not be read."""
MADE_BY_WEBHOOKS = "grove.io/mnnvl-managed=true"
POD_GANG = Kind("scheduler.grove.io", "v1alpha1", "PodGang")


def watched(settings: Settings) -> list[Query]:
    """Returns the watches of the loop: all gangs, and the domains and claims that webhooks created."""
    version = "v1alpha1" if settings.mnnvl_shape == AS_PROPOSED else "v1beta1"
    domain, claim = Kind("resource.nvidia.com", version, "ComputeDomain"), Kind("resource.k8s.io", settings.resource_api, "ResourceClaim")
    return [
        Query(POD_GANG, managed=False),
        *(Query(kind, managed=False, labels=MADE_BY_WEBHOOKS, optional=True) for kind in (domain, claim)),
    ]


class DomainAdoption:
    """Reconciles each PodGang whenever it or a domain of its set changes. `context` returns the current rules and configuration.

    `log_error` takes one line for each error.
    """

    def __init__(self, cluster: Cluster, context: Callable[[], StepContext], log_error: Callable[[str], None]) -> None:
        self._cluster, self._context, self._log_error = cluster, context, log_error
        self._cache = WatchCache(cluster, watched(context().settings))

    def view(self) -> LiveObjects:
        """Returns the cached gangs, domains and claims."""
        return LiveObjects(View(self._cache))

    async def run(self) -> None:
        """Runs until it is cancelled. Errors that prevent it from reading the cluster are logged, and it starts again."""
        while True:
            loop = Loop[Ref](self._cache, self._desired, self._patch, keys=_gangs, on_result=self._report)
            try:
                await loop.run()
            except ApplierError as error:
                self._log_error(f"cannot hand over domains to PodGangs: {error}")
            await asyncio.sleep(PAUSE)
            self._cache = WatchCache(self._cluster, watched(self._context().settings))

    def _desired(self, view: View, key: Ref) -> Graph | Gone | Hold:
        """Returns what is to be merged into the gang's domains and claims, and into itself."""
        gang, context = view.get(key), self._context()
        if gang is None or gang["metadata"].get("deletionTimestamp"):
            return Graph([])
        admission = admit_podgang(gang, LiveObjects(view), context, replace(context.settings, namespace=key.namespace))
        if admission.problem is not None:
            return Hold(admission.problem.message)
        return Graph([Desired(manifest) for manifest in admission.merged])

    async def _patch(self, _: Ref, desired: Graph | Gone | Hold, __: View) -> Sequence[Outcome]:
        for each in desired.objects.values() if isinstance(desired, Graph) else ():
            cluster = WriteThrough(self._cluster, self._cache)
            resource = await cluster.resource(Kind.of(each.manifest))
            try:
                await cluster.patch(resource, each.ref.namespace, each.ref.name, each.manifest, manager=field_managers.OPERATOR)
            except (NotFound, WriteConflict):  # it has changed meanwhile: the watch enqueues its gang again
                continue
        return []

    def _report(self, result: Result[Ref]) -> None:
        if result.held or result.error:
            self._log_error(f"domains of {result.key} are not handed over: {result.held or result.error}")


def _gangs(ref: Ref, _: Manifest | None, new: Manifest | None) -> Iterator[Ref]:
    if (ref.group, ref.kind) == (POD_GANG.group, POD_GANG.kind) and new is not None:
        yield ref
