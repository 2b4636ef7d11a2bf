"""Runs the compiler's step for every key of a cluster in the applier's loop, with the settings that the cluster shows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import field
from random import Random

from applier.cache import Query, WatchCache
from applier.cluster import Cluster
from applier.desired import Gone, Graph, Hold
from applier.errors import ApplierError, UnknownKind
from applier.events import Sink, nowhere
from applier.loop import DeletionOptions, FencedCluster, Lease, LeaseThread, Loop, Reconciler, Result, View, WorkQueue
from applier.ref import NAMESPACE_KIND, Kind
from grove_compiler.decoder import SET_KIND
from grove_compiler.engine.runtime.cost_budget import CostBudget
from grove_compiler.labels import DELETION_REASON
from grove_compiler.model.inputs.mnnvl_shape import AS_PROPOSED, DRIVER
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.spec.topology import CLUSTER_TOPOLOGY, DEFAULT_TOPOLOGY
from grove_compiler.record import record
from grove_compiler.step import Key, StepContext
from grove_operator import field_managers
from grove_operator.controller.desired_state import DesiredState
from grove_operator.controller.evaluator import Clock, Evaluator
from grove_operator.controller.former_pods import recall_former_pods
from grove_operator.controller.large_sets import LargeSets
from grove_operator.controller.live_objects import CLUSTER_WIDE, COMPUTE_DOMAIN, WATCHED
from grove_operator.controller.membership import Keys, MemberIndex, state_of, unit_of
from grove_operator.controller.recorder import Retention, StepRecorder
from grove_operator.worker_thread import WorkerThread

FINALIZERS = ("grove.io/podcliqueset.grove.io", "grove.io/podclique.grove.io", "grove.io/podcliquescalinggroup.grove.io")
"""Finalizers of the shipped operator. Our objects have none, as their deletion needs no cleanup, and these are removed at once from objects
that it has created (shipped semantics §7.8)."""
GUARDS = ("grove.io/computedomain-finalizer", "grove.io/clustertopology.grove.io")
"""Finalizers that retain a deleted object as long as it is desired: a ComputeDomain, because pods of its replica have channels in it, and a
topology that sets refer to."""
DEFAULT = Key(CLUSTER_TOPOLOGY, "", DEFAULT_TOPOLOGY)
"""The key of the topology that the configuration describes. It is enqueued at the start, as no object in the cluster stands for it."""
WORKERS = 16
MAX_RETRY = 60.0
"""Upper limit in seconds of the backoff of rejected writes. No watch reports that a quota was raised or a webhook removed."""
PACE_OF_SETS = 0.25
"""Least seconds between two evaluations of a set's own key, which sums up its replicas: each of 500 starting replicas enqueues it."""
PROPOSED = COMPUTE_DOMAIN._replace(version="v1alpha1")
ARRIVAL_PAUSE = 30.0
"""Seconds between two looks whether NVIDIA's driver has been installed in place of the designs' kind."""


@record
class OperatorOptions:
    """How the operator runs. `namespace` limits it to one namespace; without a `lease` there is no leader election.

    `workers` keys are reconciled concurrently, most of which wait for the server. `on_evaluate` is called with a key when its
    reconciliation begins and `on_result` with the result, in the same task; `on_wait` and `on_work` with the seconds that it was queued and
    that it took. `retention` is which evaluations are recorded for replay. `chance` decides how long broken watches rest.
    """

    namespace: str = ""
    lease: Lease | LeaseThread | None = None
    workers: int = WORKERS
    sink: Sink = nowhere
    on_result: Callable[[Result[Key]], None] = field(default=lambda _: None)
    on_wait: Callable[[float], None] = field(default=lambda _: None)
    on_work: Callable[[float], None] = field(default=lambda _: None)
    on_evaluate: Callable[[Key], None] = field(default=lambda _: None)
    retention: Retention = field(default_factory=Retention)
    chance: Random | None = None


class Operator:
    """Reconciles all sets and topologies of a cluster until `stop`.

    `cluster` is connected; `clock` gives seconds since the epoch.
    """

    def __init__(self, cluster: Cluster, context: StepContext, clock: Clock, options: OperatorOptions) -> None:
        self.clock = clock
        self.cache = WatchCache(cluster, watched(options.namespace, context.settings), chance=options.chance)
        share = max(1, options.workers - options.workers // 4)
        queue = WorkQueue[Key](group=_group, pace=_pace, share=share, longest=MAX_RETRY, on_wait=options.on_wait, on_work=options.on_work)
        self.membership = MemberIndex(queue.add)
        self.recorder = StepRecorder(options.retention)
        self._evaluator = Evaluator(context, clock, queue.add, self.recorder.record)
        self._state = DesiredState(self._evaluator, self.membership, with_namespaces=not options.namespace)
        self._large, self._thread = LargeSets(), WorkerThread("large steps", CostBudget())
        self._on_evaluate, self._on_result = options.on_evaluate, options.on_result
        self._context, self._namespace = context, options.namespace
        self._lease, self._led_since = options.lease, float("inf")
        writable = FencedCluster(cluster, options.lease.fence) if options.lease else cluster
        reconciler = Reconciler[Key](
            writable,
            self.cache,
            manager=field_managers.OPERATOR,
            force=("*",),
            members=self._state.members,
            namespace=options.namespace,
            deletions=DeletionOptions(DELETION_REASON, FINALIZERS, GUARDS, surplus=[("", "Pod")], unit=unit_of, state=state_of),
            group=_group,
            sink=options.sink,
            clock=clock,
            aside=self._thread.run,
        )
        self._reconciler = reconciler
        self.loop = Loop[Key](
            self.cache,
            self._desired,
            reconciler,
            keys=Keys(self.membership, with_topologies=not options.namespace),
            queue=queue,
            lease=options.lease,
            workers=options.workers,
            on_result=self._observe,
            on_begin=lambda: recall_former_pods(self.cache),
            partial=True,
            is_large=self._large.is_large,
        )

    async def run(self) -> None:
        """Runs until `stop`. Raises the error that prevents it from reading the cluster."""
        if self._context.config.has_default_topology and not self._namespace:
            self.loop.enqueue(DEFAULT)
        await self.loop.run()

    @property
    def write_limit(self) -> int:
        """The number of writes that may be in flight now."""
        return self._reconciler.write_limit

    def reload(self, context: StepContext) -> None:
        """Reloads: continues with other rules or another configuration, and reconciles all keys again."""
        self._context.reload(context)
        self.loop.enqueue_all()

    def stop(self, grace: float = 25.0) -> None:
        """Begins no further reconciliation, and waits `grace` seconds for those in progress."""
        self.loop.stop(grace)

    def _observe(self, result: Result[Key]) -> None:
        self._evaluator.observe(result)
        self.recorder.finish(result)
        self._on_result(result)

    async def _desired(self, view: View, key: Key) -> Graph | Gone | Hold:
        self._on_evaluate(key)
        if self._lease is not None and self._lease.led_since != self._led_since:  # another process may have led since the last key
            self._led_since = self._lease.led_since
            self._evaluator.forget()
            self.loop.enqueue_all()
        desired = await self._state.desired(view, key, self._thread if view.is_frozen else None)
        self._large.note(key, desired)
        return desired


def settings_of(kube_version: str, mnnvl_shape: str | None = None) -> Settings:
    """Returns the compiler settings of an operator: the cluster's version (`major.minor`), and the form of its driver's ComputeDomains."""
    return Settings(pods=True, kube_version=kube_version, mnnvl_shape=mnnvl_shape, is_operator=True)


def watched(namespace: str, settings: Settings) -> Iterator[Query]:
    """Yields the watches of an operator, in the API versions of its `settings`, and of one `namespace` unless it is empty.

    An operator of one namespace does not watch Namespaces, which it may not be allowed to read.
    """
    proposed = settings.mnnvl_shape == AS_PROPOSED
    versions = {"resource.k8s.io": settings.resource_api, "resource.nvidia.com": "v1alpha1" if proposed else "v1beta1"}
    for watch in WATCHED:
        kind = watch.kind._replace(version=versions.get(watch.kind.group, watch.kind.version))
        # Steps look up cluster-scoped objects without a namespace, so they are watched without one.
        yield watch._replace(kind=kind, namespace="" if kind.kind in CLUSTER_WIDE else namespace)
    if not namespace:
        yield Query(NAMESPACE_KIND, managed=False)


def _pace(key: Key) -> float:
    return PACE_OF_SETS if key.kind == SET_KIND and key.replica is None else 0.0


def _group(key: Key) -> tuple[str, str, str]:
    """Returns the fairness group of a key in the queue, its set: a set of 5,000 replicas must not delay other sets.

    A quarter of the workers, and of the writes in flight, is never given to a single set, so that one with a slow webhook delays no other;
    and its writes that hang are not counted among those in flight.
    """
    return key.kind, key.namespace, key.name


async def served_shape(cluster: Cluster) -> str:
    """Returns `driver`, unless the cluster serves the version of the designs and not that of NVIDIA's driver. Raises `ClusterError`.

    When neither is served, the driver may be installed later, and no other form was ever released. The form is discovered once, when a
    process starts: a set whose pods run with one form must not get the other because a definition is missing for a moment.
    """
    return DRIVER if await _is_served(cluster, COMPUTE_DOMAIN) or not await _is_served(cluster, PROPOSED) else AS_PROPOSED


async def driver_arrives(cluster: Cluster, settings: Settings) -> None:
    """Returns once the cluster serves the version of NVIDIA's driver to a process that began with that of the designs; otherwise never.

    Watches and objects of a process have one version, so that another one has to take its place. What runs is not touched by that.
    """
    while True:
        with suppress(ApplierError):  # the next look may succeed
            if settings.mnnvl_shape == AS_PROPOSED and await _is_served(cluster, COMPUTE_DOMAIN):
                return
        await asyncio.sleep(ARRIVAL_PAUSE)


async def _is_served(cluster: Cluster, kind: Kind) -> bool:
    try:
        await cluster.resource(kind)
    except UnknownKind:
        return False
    return True
