"""The operator: the rules' step for every key of a cluster, in the applier's loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field

from applier.cache import Query, WatchCache
from applier.cluster import Cluster
from applier.desired import Gone, Graph, Hold
from applier.events import Sink, nowhere
from applier.loop import FencedCluster, Lease, Loop, Reconciler, Result, View, WorkQueue
from grove_compiler.decoder import SET_KIND
from grove_compiler.model.inputs.mnnvl_shape import AS_PROPOSED
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.spec.topology import CLUSTER_TOPOLOGY, DEFAULT_TOPOLOGY
from grove_compiler.record import record
from grove_compiler.step import Context, Key
from grove_operator.controller.desire import Clock, Desire
from grove_operator.controller.keys import Keys
from grove_operator.controller.live_objects import CLUSTER_WIDE, NAMESPACE, WATCHED
from grove_operator.controller.membership import Membership
from grove_operator.controller.recorder import Keeping, Recorder
from grove_operator.controller.steps import Steps

MANAGER = "grove-operator"
DELETION_REASON = "grove.io/deletion-reason"
FINALIZERS = (
    "grove.io/podcliqueset.grove.io",
    "grove.io/podclique.grove.io",
    "grove.io/podcliquescalinggroup.grove.io",
)
"""Those of the shipped operator, on what it has left us. Nothing is to be done before these objects go, so that ours bear none, and these
are taken off at once (shipped semantics §7.8)."""
GUARDS = ("grove.io/computedomain-finalizer", "grove.io/clustertopology.grove.io")
"""Keep what somebody has deleted while it is still wanted: a ComputeDomain, for pods of its replica have channels in it, and a topology
that sets refer to."""
DEFAULT = Key(CLUSTER_TOPOLOGY, "", DEFAULT_TOPOLOGY)
"""The key of the topology that the configuration describes: nothing in the cluster says that it should exist."""
WORKERS = 16
LONGEST_RETRY = 60.0
"""Seconds between two tries of what the server refuses. A quota that is raised, or a webhook that is taken away, is told by no watch."""
PACE_OF_SETS = 0.25
"""Seconds between two looks at a set as a whole. It counts what its replicas report, and while 500 of them come up each would be news."""


@record
class Options:
    """How the operator runs. `namespace` limits it to one; without a `lease` it takes itself for the only one.

    `workers` keys are brought along at a time: each waits for the server most of the time. `on_look` hears of a key when a look at it
    begins, `on_result` what came of it, in the same task; `on_wait` and `on_work` how many seconds it waited for that and took. `keeping`
    says how many looks are kept, to be replayed.
    """

    namespace: str = ""
    lease: Lease | None = None
    workers: int = WORKERS
    sink: Sink = nowhere
    on_result: Callable[[Result[Key]], None] = field(default=lambda _: None)
    on_wait: Callable[[float], None] = field(default=lambda _: None)
    on_work: Callable[[float], None] = field(default=lambda _: None)
    on_look: Callable[[Key], None] = field(default=lambda _: None)
    keeping: Keeping = field(default_factory=Keeping)


class Operator:
    """Keeps all sets and topologies of a cluster as the rules say, until `stop`.

    `cluster` is connected; `clock` gives seconds since the epoch.
    """

    def __init__(self, cluster: Cluster, context: Context, clock: Clock, options: Options) -> None:
        self.cache = WatchCache(cluster, watched(options.namespace, context.settings))
        share = max(1, options.workers - options.workers // 4)
        queue = WorkQueue[Key](
            group=_group, pace=_pace, share=share, longest=LONGEST_RETRY, on_wait=options.on_wait, on_work=options.on_work
        )
        self.membership = Membership(queue.add)
        self.recorder = Recorder(options.keeping)
        self._desire = Desire(context, clock, queue.add, self.recorder.take)
        self._steps = Steps(self._desire, self.membership, with_namespaces=not options.namespace)
        self._on_look, self._on_result = options.on_look, options.on_result
        self._context, self._namespace = context, options.namespace
        written = FencedCluster(cluster, options.lease.fence) if options.lease else cluster
        reconciler = Reconciler[Key](
            written,
            self.cache,
            manager=MANAGER,
            force=("*",),
            members=self._steps.members,
            namespace=options.namespace,
            attribution=DELETION_REASON,
            finalizers=FINALIZERS,
            guards=GUARDS,
            group=_group,
            sink=options.sink,
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
            on_result=self._look_at,
            partial=True,
        )

    async def run(self) -> None:
        """Runs until `stop`. Raises what keeps it from reading the cluster."""
        if self._context.config.has_default_topology and not self._namespace:
            self.loop.enqueue(DEFAULT)
        await self.loop.run()

    @property
    def write_limit(self) -> int:
        """How many writes may be in flight now."""
        return self._reconciler.write_limit

    def take_over(self, context: Context) -> None:
        """Goes on by other rules, and looks at everything anew."""
        self._context.take_over(context)
        self.loop.enqueue_all()

    def stop(self, grace: float = 25.0) -> None:
        """Lets what is in work end, and begins nothing more."""
        self.loop.stop(grace)

    def _look_at(self, result: Result[Key]) -> None:
        self._desire.look_at(result)
        self.recorder.result(result)
        self._on_result(result)

    def _desired(self, view: View, key: Key) -> Graph | Gone | Hold:
        self._on_look(key)
        return self._steps.desired(view, key)


def settings_of(kube_version: str, mnnvl_shape: str | None = None) -> Settings:
    """Returns what the steps of an operator are taken with, in a cluster of that version (`major.minor`) whose driver takes that shape."""
    return Settings(pods=True, kube_version=kube_version, mnnvl_shape=mnnvl_shape, is_operator=True)


def watched(namespace: str, settings: Settings) -> Iterator[Query]:
    """Yields what the operator watches, in the versions that its `settings` say: kinds with namespaces in one, if it is limited to one.

    Who looks after one namespace may well not be allowed to look at namespaces.
    """
    proposed = settings.mnnvl_shape == AS_PROPOSED
    versions = {"resource.k8s.io": settings.resource_api, "resource.nvidia.com": "v1alpha1" if proposed else "v1beta1"}
    for one in WATCHED:
        kind = one.kind._replace(version=versions.get(one.kind.group, one.kind.version))
        # What belongs to no namespace is asked for without one, so it has to be watched so, too.
        yield one._replace(kind=kind, namespace="" if kind.kind in CLUSTER_WIDE else namespace)
    if not namespace:
        yield Query(NAMESPACE, managed=False)


def _pace(key: Key) -> float:
    return PACE_OF_SETS if key.kind == SET_KIND and key.replica is None else 0.0


def _group(key: Key) -> tuple[str, str, str]:
    """What shares a turn in the queue: the keys of one set, so that a set of 5,000 replicas keeps nobody waiting.

    Nor does one whose webhook does not answer: a quarter of the workers, and of the writes in flight, are never those of one set.
    """
    return key.kind, key.namespace, key.name
