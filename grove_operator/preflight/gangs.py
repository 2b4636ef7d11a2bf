"""The gang controller: a ConfigMap for every gang whose pods wait for one another, kept in the applier's loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from applier.cache import Wanted, WatchCache
from applier.cluster import Cluster
from applier.desired import Desired, Gone, Graph, Hold
from applier.loop import Loop, Reconciler, Result, View
from applier.ref import Kind, Manifest, Ref
from grove_compiler.engine.runtime.failure import RuleFailure
from grove_compiler.engine.runtime.program import Program
from grove_compiler.model.preflight.gang import PREFIX
from grove_compiler.model.preflight.values import Preflight
from grove_compiler.preflight_gang import LABEL, ForeignName, GangKey, gang_objects, key_of
from grove_operator.controller.live_objects import LiveObjects

MANAGER = "grove-preflight"
COMPONENT = "app.kubernetes.io/component=preflight-gang"
CONFIG_MAP = Kind("", "v1", "ConfigMap")
POD = Kind("", "v1", "Pod")
WATCHED = (
    Wanted(POD, managed=False, labels=LABEL),
    Wanted(CONFIG_MAP, labels=COMPONENT),
    Wanted(Kind("scheduling.k8s.io", "v1alpha2", "PodGroup"), managed=False, optional=True),
    Wanted(Kind("scheduling.k8s.io", "v1alpha1", "Workload"), managed=False, optional=True),
    Wanted(Kind("scheduling.volcano.sh", "v1beta1", "PodGroup"), managed=False, optional=True),
    Wanted(Kind("kueue.x-k8s.io", "v1beta1", "Workload"), managed=False, optional=True),
    Wanted(Kind("scheduler.grove.io", "v1alpha1", "PodGang"), managed=False, optional=True),
    Wanted(Kind("grove.io", "v1alpha1", "PodClique"), managed=False, optional=True),
)
"""Only pods that wait for a gang, only our ConfigMaps, and what stands for gangs; schedulers' kinds need not be installed."""


class GangController:
    """Keeps the ConfigMaps of all gangs of a cluster, until `stop`. `on_result` is told what came of each look at a gang."""

    def __init__(
        self,
        cluster: Cluster,
        preflight: Preflight,
        program: Program,
        cache: WatchCache | None = None,
        on_result: Callable[[Result[GangKey]], None] = lambda _: None,
    ) -> None:
        self.cache = cache or WatchCache(cluster, WATCHED)
        self._preflight, self._program = preflight, program
        reconciler = Reconciler[GangKey](cluster, self.cache, manager=MANAGER, force=("*",), members=_members)
        self.loop = Loop[GangKey](self.cache, self._desired, reconciler, keys=_keys, on_result=on_result)

    async def run(self) -> None:
        """Runs until `stop`. Raises what keeps it from reading the cluster."""
        await self.loop.run()

    def stop(self, grace: float = 20.0) -> None:
        """Lets what is in work end, and begins nothing more."""
        self.loop.stop(grace)

    def _desired(self, view: View, key: GangKey) -> Graph | Gone | Hold:
        objects = LiveObjects(view)
        try:
            nodes = gang_objects(key, objects, self._preflight, self._program)
        except (ForeignName, RuleFailure) as error:
            return Hold(str(error))
        if objects.not_synced is not None:
            raise objects.not_synced
        return Graph([Desired(node.object, source=node.rule) for node in nodes]) if nodes else Gone()


def _members(view: View, key: GangKey) -> list[Manifest]:
    """The ConfigMap of a gang, if it exists and is ours."""
    found = view.get(Ref("", "ConfigMap", key.namespace, key.name))
    return [found] if found is not None and key.name.startswith(PREFIX) else []


def _keys(ref: Ref, old: Manifest | None, new: Manifest | None) -> Iterator[GangKey]:
    """The gangs that a changed pod is, or was, in."""
    if ref[:2] == ("", "Pod"):
        yield from dict.fromkeys(key for pod in (old, new) if pod is not None and (key := key_of(pod)) is not None)
