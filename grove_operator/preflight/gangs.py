"""The gang controller: a ConfigMap for every gang whose pods wait for one another, and events about checks that have ended."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from applier.cache import Query, WatchCache
from applier.cluster import Cluster
from applier.desired import Desired, EventWrite, Gone, Graph, Hold, ObjectReference, Policy
from applier.loop import Loop, Reconciler, Result, View
from applier.ref import Kind, Manifest, Ref
from grove_compiler.engine.runtime.failure import RuleFailure
from grove_compiler.engine.runtime.program import Program
from grove_compiler.model.inputs.check_run import CheckRun, TestedPod
from grove_compiler.model.preflight.gang import LABEL, PREFIX
from grove_compiler.model.preflight.values import Preflight
from grove_compiler.preflight_gang import ForeignName, GangKey, gang_objects, key_of
from grove_compiler.preflight_result import LABEL as CHECKED
from grove_compiler.preflight_result import check_events
from grove_operator.controller.live_objects import LiveObjects

MANAGER = "grove-preflight"
COMPONENT = "app.kubernetes.io/component=preflight-gang"
CONFIG_MAP = Kind("", "v1", "ConfigMap")
POD = Kind("", "v1", "Pod")
WATCHED = (
    Query(POD, managed=False, labels=CHECKED),
    Query(CONFIG_MAP, labels=COMPONENT),
    Query(Kind("scheduling.k8s.io", "v1alpha2", "PodGroup"), managed=False, optional=True),
    Query(Kind("scheduling.k8s.io", "v1alpha1", "Workload"), managed=False, optional=True),
    Query(Kind("scheduling.volcano.sh", "v1beta1", "PodGroup"), managed=False, optional=True),
    Query(Kind("kueue.x-k8s.io", "v1beta1", "Workload"), managed=False, optional=True),
    Query(Kind("scheduler.grove.io", "v1alpha1", "PodGang"), managed=False, optional=True),
    Query(Kind("grove.io", "v1alpha1", "PodClique"), managed=False, optional=True),
    Query(Kind("resource.k8s.io", "v1", "ResourceClaim"), managed=False, optional=True),
    Query(Kind("resource.k8s.io", "v1", "ResourceClaimTemplate"), managed=False, optional=True),
    Query(Kind("resource.k8s.io", "v1", "DeviceClass"), managed=False, optional=True),
    Query(Kind("", "v1", "Namespace"), managed=False),
)
"""Only pods with checks, only our ConfigMaps, what stands for gangs, and what says which pods get checks: those a gang waits for.

Schedulers' kinds need not be installed; the newest versions are asked for.
"""
OURS_ALONE = Policy(adopt=False)
"""A ConfigMap that somebody else made is not ours, whatever its name: with our owners it would even be deleted with the gang."""


EVENTS_LAST = 3600.0
"""Seconds for which an API server keeps an event, where nobody has told it another time."""


class PodKey(NamedTuple):
    """A pod whose checks have ended, well or badly."""

    namespace: str
    pod: str


Key = GangKey | PodKey


class GangController:
    """Keeps the ConfigMaps of all gangs of a cluster, and tells how checks ended, until `stop`.

    `on_result` is told what came of each look at a gang or a pod. `now` is wall time.
    """

    def __init__(
        self,
        cluster: Cluster,
        preflight: Preflight,
        program: Program,
        cache: WatchCache | None = None,
        on_result: Callable[[Result[Key]], None] = lambda _: None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.cache = cache or WatchCache(cluster, WATCHED)
        self._preflight, self._program, self._now = preflight, program, now
        reconciler = Reconciler[Key](cluster, self.cache, manager=MANAGER, force=("*",), members=_members)
        self.loop = Loop[Key](self.cache, self._desired, reconciler, keys=self._keys, on_result=on_result)

    async def run(self) -> None:
        """Runs until `stop`. Raises what keeps it from reading the cluster."""
        await self.loop.run()

    def stop(self, grace: float = 20.0) -> None:
        """Lets what is in work end, and begins nothing more."""
        self.loop.stop(grace)

    def _keys(self, ref: Ref, old: Manifest | None, new: Manifest | None) -> Iterator[Key]:
        """The gangs that a changed pod is, or was, in; and the pod, where one of its checks has ended. A ConfigMap's gang may be over."""
        if ref[:2] == ("", "ConfigMap") and new is not None:
            label = (new["metadata"].get("labels") or {}).get(LABEL)
            if label and ref.name.startswith(PREFIX):
                yield GangKey(ref.namespace, label, ref.name)
        if ref[:2] != ("", "Pod"):
            return
        yield from dict.fromkeys(key for pod in (old, new) if pod is not None and (key := key_of(pod)) is not None)
        if new is not None and any(old is not None or self._is_news(run) for run in ended_runs(old, new)):
            yield PodKey(ref.namespace, ref.name)

    def _is_news(self, run: CheckRun) -> bool:
        """Whether a server still knows that a run was told which ended before we came: what it has forgotten would be told twice."""
        return not run.ended or self._now() - run.ended < EVENTS_LAST

    def _desired(self, view: View, key: Key) -> Graph | Gone | Hold:
        return self._told(view, key) if isinstance(key, PodKey) else self._kept(view, key)

    def _told(self, view: View, key: PodKey) -> Graph | Gone | Hold:
        """What people are told of a pod's checks. Events have names, so that replicas of ours tell nothing twice."""
        pod = view.get(Ref("", "Pod", key.namespace, key.pod))
        if pod is None:
            return Gone()
        try:
            events = check_events(pod, self._preflight, self._program)
        except RuleFailure as error:
            return Hold(str(error))
        of = ObjectReference.of(pod)
        return Graph([], events=[EventWrite(of, one.type, one.reason, one.message, one.name) for one in events])

    def _kept(self, view: View, key: GangKey) -> Graph | Gone | Hold:
        objects = LiveObjects(view)
        try:
            nodes = gang_objects(key, objects, self._preflight, self._program)
        except (ForeignName, RuleFailure) as error:
            return Hold(str(error))
        if objects.not_synced is not None:
            raise objects.not_synced
        return Graph([Desired(node.object, policy=OURS_ALONE, source=node.rule) for node in nodes]) if nodes else Gone()


def _members(view: View, key: Key) -> list[Manifest]:
    """The ConfigMap of a gang, if it exists and is ours."""
    if isinstance(key, PodKey) or not key.name.startswith(PREFIX):
        return []
    found = view.get(Ref("", "ConfigMap", key.namespace, key.name))
    return [found] if found is not None else []


def ended_runs(old: Manifest | None, new: Manifest) -> list[CheckRun]:
    """Returns the runs of checks that have ended between two states of a pod."""
    known = {run.id for run in TestedPod(old).runs} if old is not None else set()
    return [run for run in TestedPod(new).runs if run.id not in known]
