"""The cluster of a simulation: what is stored, what time it is, and what people and machines other than the operator do to it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Coroutine, Iterator
from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple, TypeVar

from applier.ref import Kind, Manifest, Ref
from applier.testing.memory import MemoryCluster
from applier.testing.memory.faults import MemoryRequest
from grove_compiler.api.crd import crds
from grove_compiler.kube.timestamp import timestamp
from kube_objects.manifest import is_terminating, section
from tests.applier.free_schemas import FreeSchemas

T = TypeVar("T")

START = 1_800_000_000.0
NAMESPACE = "default"
POD = Kind("", "v1", "Pod")
SET = Kind("grove.io", "v1alpha1", "PodCliqueSet")
CLIQUE = Kind("grove.io", "v1alpha1", "PodClique")
GROUP = Kind("grove.io", "v1alpha1", "PodCliqueScalingGroup")
EVENT = Kind("", "v1", "Event")
SERVICE = Kind("", "v1", "Service")
GANG = Kind("scheduler.grove.io", "v1alpha1", "PodGang")
TOPOLOGY = Kind("grove.io", "v1alpha1", "ClusterTopology")
KAI_TOPOLOGY = Kind("kai.scheduler", "v1alpha1", "Topology")
REVISION = Kind("apps", "v1", "ControllerRevision")


DOMAIN = Kind("resource.nvidia.com", "v1beta1", "ComputeDomain")
POD_GROUP = Kind("scheduling.run.ai", "v2alpha2", "PodGroup")
CLAIM = Kind("resource.k8s.io", "v1", "ResourceClaim")
CLAIM_TEMPLATE = Kind("resource.k8s.io", "v1", "ResourceClaimTemplate")
DEFINITION = Kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
AUTOSCALER = Kind("autoscaling", "v2", "HorizontalPodAutoscaler")


def _definition(kind: Kind, plural: str, scope: str = "Namespaced") -> Manifest:
    versions = [{"name": kind.version, "served": True, "storage": True}]
    names = {"kind": kind.kind, "plural": plural}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{kind.group}"},
        "spec": {"group": kind.group, "scope": scope, "names": names, "versions": versions},
    }


@cache
def _definitions() -> list[Manifest]:
    """Those of others, and ours without schemas, which nobody reads here: to generate and to copy them takes longer than a short life."""
    others = [
        _definition(KAI_TOPOLOGY, "topologies", "Cluster"),
        _definition(POD_GROUP, "podgroups"),
        _definition(DOMAIN, "computedomains"),
    ]
    return [*map(_without_schemas, crds()), *others]


def _without_schemas(definition: Manifest) -> Manifest:
    versions = [{key: value for key, value in one.items() if key != "schema"} for one in definition["spec"]["versions"]]
    return {**definition, "spec": {**definition["spec"], "versions": versions}}


class Moment(NamedTuple):
    """A cluster as it was at a time. What is stored is never changed in place, so that many worlds may begin with it."""

    objects: dict[Ref, Manifest]
    version: int
    now: float


class World:
    """A cluster without machines: what is in it changes when somebody calls. `time` is a clock in seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.time, self._began = clock, START
        self._edits: list[tuple[float, Ref, int]] = []
        self.cluster = MemoryCluster(
            schemas=FreeSchemas(), before=_at_once, now=lambda: datetime.fromtimestamp(self.now, UTC), history=100_000, collects=False
        )
        self.cluster.store.has_progress = False  # of what nothing happens to nothing is told: so it is with some kinds of real servers
        self.cluster.seed(*_definitions())

    @property
    def now(self) -> float:
        """Seconds since the epoch."""
        return self._began + self.time()

    def moment(self) -> Moment:
        """What there is now."""
        return Moment(dict(self.cluster.store.objects), self.cluster.store.version, self.now)

    def resume(self, moment: Moment) -> None:
        """Becomes what a world was once."""
        store = self.cluster.store
        store.restore(moment.objects, moment.version)
        self._began = moment.now - self.time()
        highest = max(one["metadata"]["uid"] for one in store.objects.values())
        while store.new_uid() < highest:
            pass  # UIDs are numbers that are given once

    # What anybody may ask.

    def all(self, kind: Kind) -> list[Manifest]:
        """The objects of a kind, by name; not to be changed."""
        return list(self.cluster.store.of(kind.group, kind.kind))

    def get(self, kind: Kind, name: str) -> Manifest:
        return self.cluster.store.objects[self._ref(kind, name)]

    def find(self, kind: Kind, name: str) -> Manifest | None:
        return self.cluster.find(self._ref(kind, name))

    def _ref(self, kind: Kind, name: str) -> Ref:
        return Ref(kind.group, kind.kind, NAMESPACE if self.cluster.kinds.get(kind).namespaced else "", name)

    def pods(self, prefix: str = "") -> list[Manifest]:
        """The pods that nobody has asked to go, by name; those of one PodClique, replica or set where a prefix of names says so."""
        return [one for one in self.all(POD) if one["metadata"]["name"].startswith(prefix) and not is_terminating(one)]

    @property
    def version(self) -> int:
        """Grows with each change of anything but a lease, which is renewed for ever."""
        changes = (change.version for change in reversed(self.cluster.store.changes) if change.ref.kind != "Lease")
        return next(changes, self.cluster.store.oldest)

    @property
    def told(self) -> list[str]:
        """The events, each as its reason and message, in the order in which they were told."""
        events = sorted(self.all(EVENT), key=lambda one: int(one["metadata"]["resourceVersion"]))
        return [f"{one['reason']}: {one['message']}" for one in events]

    # What people do.

    def apply(self, manifest: Manifest) -> None:
        """Somebody writes what is desired of an object; a server counts its generations and keeps its status."""
        old = self.cluster.find(Ref.of(manifest))
        new = copy.deepcopy(manifest)
        if old is not None:
            changed = old["spec"] != new["spec"]
            self._edits.append((self.now, Ref.of(manifest), old["spec"].get("replicas", 0)))
            new = {**old, **new, "metadata": {**old["metadata"], **new["metadata"]}}
            new["metadata"]["generation"] = old["metadata"]["generation"] + changed
            if old["spec"].get("replicas") != new["spec"].get("replicas"):
                new["metadata"]["managedFields"] = scaled_by_people(old["metadata"].get("managedFields") or [])
        self.put(new)

    def change(self, kind: Kind, name: str, change: Callable[[Manifest], None]) -> None:
        """Somebody edits an object."""
        new = copy.deepcopy(self.get(kind, name))
        change(new)
        self.apply(new)

    def delete(self, kind: Kind, name: str, propagation: str = "Background") -> None:
        """Somebody deletes an object."""
        uid, namespace = self.get(kind, name)["metadata"]["uid"], self._ref(kind, name).namespace
        at_once(self.cluster.delete(self.cluster.kinds.get(kind), namespace, name, uid=uid, propagation=propagation))

    # What machines do.

    def put(self, manifest: Manifest) -> None:
        """Somebody writes an object, status and all."""
        self.cluster.seed(manifest)

    def report(self, pod: Manifest, **status: Any) -> None:
        """A node or a scheduler writes fields of a pod's status."""
        self.put({**pod, "status": {**pod.get("status", {}), **status}})

    def end(self, pod: Manifest) -> None:
        """A node has stopped a pod that was asked to go."""
        self.cluster.garbage.end(Ref.of(pod), timestamp(self.now))

    def collect_garbage(self) -> None:
        """The garbage collector deletes what has no owner left."""
        self.cluster.garbage.collect(timestamp(self.now))

    def declared(self, one: Manifest, within: float) -> int:
        """The least number of replicas that was declared of an object within the last seconds, as who writes may know it."""
        ref, since, declared = Ref.of(one), self.now - within, int(one["spec"]["replicas"])
        return min([declared, *(before for at, edited, before in self._edits if edited == ref and at >= since)])

    def lately_lost(self) -> list[Manifest]:
        """No pods: operators are judged only while they are told of everything at once."""
        return []

    def lately_deleted(self) -> list[Manifest]:
        """No PodCliques, for the same reason."""
        return []

    def is_lately_edited(self, _: Manifest) -> bool:
        """No object, for the same reason."""
        return False

    def changes_since(self, version: int) -> Iterator[tuple[Ref, Manifest | None, Manifest | None]]:
        """What happened after a version, the newest first: the object's name, what it was, what it became."""
        for change in reversed(self.cluster.store.changes):
            if change.version <= version:
                return
            yield change.ref, change.old, change.new


def scaled_by_people(entries: list[Manifest]) -> list[Manifest]:
    """Returns managedFields in which nobody but people owns the number of replicas."""
    path: Manifest = {"f:spec": {"f:replicas": {}}}
    theirs = {"manager": "people", "operation": "Update", "subresource": "scale", "fieldsType": "FieldsV1", "fieldsV1": path}
    others = copy.deepcopy([entry for entry in entries if entry.get("manager") != "people"])
    for entry in others:
        section(entry, "fieldsV1", "f:spec").pop("f:replicas", None)
    return [*others, {**theirs, "apiVersion": "grove.io/v1alpha1"}]


def is_ready(pod: Manifest) -> bool:
    """Whether a node has told that a pod is ready."""
    return any((one["type"], one["status"]) == ("Ready", "True") for one in pod.get("status", {}).get("conditions", []))


def at_once(request: Coroutine[Any, Any, T]) -> T:
    """Carries out a request to a cluster that never waits, without an event loop: there are thousands in a schedule."""
    try:
        request.send(None)
    except StopIteration as answer:
        value: T = answer.value
        return value
    raise RuntimeError("a cluster of a simulation waits for nothing")


async def _at_once(_: MemoryRequest) -> None:
    return
