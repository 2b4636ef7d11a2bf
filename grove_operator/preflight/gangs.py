"""Reconciles a ConfigMap for every gang whose pods wait for one another, records events about ended checks, and logs errors."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from applier.cache import Query, WatchCache
from applier.cluster import Cluster
from applier.desired import Desired, EventWrite, Gone, Graph, Hold, ObjectReference, Policy
from applier.errors import NotSynced
from applier.loop import Loop, Reconciler, Result, View
from applier.outcome import Action
from applier.ref import CONFIG_MAP, NAMESPACE_KIND, POD, Kind, Manifest, Ref
from grove_compiler.engine.runtime.failure import RuleFailure
from grove_compiler.engine.runtime.program import Program
from grove_compiler.model.inputs.check_run import CheckRun, TestedPod
from grove_compiler.model.preflight.gang import LABEL, PREFIX
from grove_compiler.model.preflight.values import Preflight
from grove_compiler.preflight_gang import ForeignName, GangKey, gang_objects, key_of, pods_of
from grove_compiler.preflight_result import LABEL as CHECKED
from grove_compiler.preflight_result import check_events
from grove_compiler.unknown import Unknown
from grove_operator import field_managers
from grove_operator.controller.live_objects import LiveObjects
from kube_objects.manifest import labels_of

COMPONENT = "app.kubernetes.io/component=preflight-gang"
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
    Query(NAMESPACE_KIND, managed=False),
    Query(Kind("", "v1", "Node"), managed=False, metadata_only=True),
)
"""Pods with checks, our ConfigMaps, the kinds of gangs, the objects that decide which pods of a gang have checks, and the labels of nodes.

The kinds of schedulers are optional, and watched in their newest versions.
"""
WITHOUT_ADOPTION = Policy(adopt=False)
"""A ConfigMap of another creator is not adopted: with our owner references it would be deleted with the gang."""


EVENT_TTL = 3600.0
"""Seconds for which an API server retains events by default (`--event-ttl`)."""


class PodKey(NamedTuple):
    """A pod one of whose checks has ended."""

    namespace: str
    pod: str


Key = GangKey | PodKey


class GangController:
    """Reconciles the ConfigMaps of all gangs of a cluster, and records how checks ended, until `stop`.

    `on_result` takes the result of each gang or pod. `clock` gives seconds since the epoch.
    """

    def __init__(
        self,
        cluster: Cluster,
        preflight: Preflight,
        program: Program,
        cache: WatchCache | None = None,
        on_result: Callable[[Result[Key]], None] = lambda _: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.cache = cache or WatchCache(cluster, WATCHED)
        self._preflight, self._program, self.clock = preflight, program, clock
        reconciler = Reconciler[Key](cluster, self.cache, manager=field_managers.PREFLIGHT, force=("*",), members=_members, clock=clock)
        self.loop = Loop[Key](self.cache, self._desired, reconciler, keys=self._keys, on_result=on_result)

    async def run(self) -> None:
        """Runs until `stop`. Raises the error that prevents it from reading the cluster."""
        await self.loop.run()

    def stop(self) -> None:
        """Begins no further reconciliation, and waits 20 seconds for those in progress."""
        self.loop.stop(20.0)

    def _keys(self, ref: Ref, old: Manifest | None, new: Manifest | None) -> Iterator[Key]:
        """Yields the gangs of a changed pod before and after, the pod if one of its checks has ended, and the gang of a ConfigMap."""
        if ref[:2] == ("", "ConfigMap") and new is not None:
            label = _label(new)
            if label and ref.name.startswith(PREFIX):
                yield GangKey(ref.namespace, label, ref.name)
        if ref[:2] != ("", "Pod"):
            return
        yield from dict.fromkeys(key for pod in (old, new) if pod is not None and (key := key_of(pod)) is not None)
        if new is not None and any(old is not None or self._may_be_unrecorded(run) for run in ended_runs(old, new)):
            yield PodKey(ref.namespace, ref.name)

    def _may_be_unrecorded(self, run: CheckRun) -> bool:
        """Returns whether to record a run that ended before this process started: not if its event, by the same name, may have expired."""
        return not run.ended or self.clock() - run.ended < EVENT_TTL

    def _desired(self, view: View, key: Key) -> Graph | Gone | Hold:
        return self._events(view, key) if isinstance(key, PodKey) else self._config_map(view, key)

    def _events(self, view: View, key: PodKey) -> Graph | Gone | Hold:
        """Returns the events about a pod's checks. Their names are deterministic, so that our replicas record each once."""
        pod = view.get(Ref("", "Pod", key.namespace, key.pod))
        if pod is None:
            return Gone()
        try:
            events = check_events(pod, self._preflight, self._program)
        except RuleFailure as error:
            return Hold(str(error))
        of = ObjectReference.of(pod)
        return Graph([], events=[EventWrite(of, event.type, event.reason, event.message, event.name) for event in events])

    def _config_map(self, view: View, key: GangKey) -> Graph | Gone | Hold:
        objects = LiveObjects(view)
        live = view.get(_ref(key))
        owner = key._replace(label=_label(live) or key.label) if live is not None else key
        try:
            if owner != key and pods_of(owner, objects):
                # A pod keeps its ConfigMap's name whatever label somebody gives it. Two gangs would write over each other without end.
                return Hold(f"the ConfigMap is of the gang {owner.label}; put the label {LABEL} of the pods of {key.label} back")
            nodes = gang_objects(key, objects, self._preflight, self._program)
        except (ForeignName, RuleFailure) as error:
            return Hold(str(error))
        except Unknown as error:
            raise objects.not_synced or error from None
        if objects.not_synced is not None:
            raise objects.not_synced
        return Graph([Desired(node.object, policy=WITHOUT_ADOPTION, source=node.rule) for node in nodes]) if nodes else Gone()


def _members(view: View, key: Key) -> list[Manifest]:
    """Returns the ConfigMap of a gang, if it exists and has our prefix. One with another label is another gang's, if only by an edit."""
    if isinstance(key, PodKey) or not key.name.startswith(PREFIX):
        return []
    live = view.get(_ref(key))
    return [live] if live is not None and _label(live) in ("", key.label) else []


def _ref(key: GangKey) -> Ref:
    return Ref("", "ConfigMap", key.namespace, key.name)


def _label(manifest: Manifest) -> str:
    return str(labels_of(manifest).get(LABEL) or "")


def ended_runs(old: Manifest | None, new: Manifest) -> list[CheckRun]:
    """Returns the runs of checks that have ended between two states of a pod."""
    before = {run.id for run in TestedPod(old).runs} if old is not None else set()
    return [run for run in TestedPod(new).runs if run.id not in before]


class ErrorLog:
    """Logs one line when the reconciliation of a key fails for a new reason, and one when it succeeds again."""

    def __init__(self, log: Callable[[str], None]) -> None:
        self._log = log
        self._errors: dict[Key, str] = {}

    def __call__(self, result: Result[Key]) -> None:
        """Takes the result of a gang or a pod."""
        error = "; ".join(dict.fromkeys(_errors(result)))
        if error == self._errors.get(result.key, ""):
            return
        if error:
            self._errors[result.key] = error
            self._log(f"{_name(result.key)}: {error}")
        else:
            del self._errors[result.key]
            self._log(f"{_name(result.key)}: resolved")


def _errors(result: Result[Key]) -> Iterator[str]:
    """Yields why a reconciliation failed; nothing while the cache is not synced, as it is then repeated."""
    if result.held and not isinstance(result.error, NotSynced):
        yield result.held
    for outcome in result.outcomes:
        if outcome.action in (Action.FAILED, Action.HELD) and not isinstance(outcome.error, NotSynced):
            yield f"{outcome.step.ref}: {outcome.reason or outcome.error or outcome.action}"


def _name(key: Key) -> str:
    return f"gang {key.namespace}/{key.name}" if isinstance(key, GangKey) else f"pod {key.namespace}/{key.pod}"
