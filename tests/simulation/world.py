"""The cluster of a simulation: what is stored, what time it is, and what people and machines other than the operator do to it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Coroutine, Iterator
from datetime import UTC, datetime
from typing import Any, TypeVar

from applier.ref import Kind, Manifest, Ref, is_being_deleted
from applier.testing.memory import MemoryCluster
from applier.testing.memory.faults import Request
from grove_compiler.api.crd import crds
from tests.applier.free_schemas import FreeSchemas

T = TypeVar("T")

START = 1_800_000_000.0
NAMESPACE = "default"
POD = Kind("", "v1", "Pod")
SET = Kind("grove.io", "v1alpha1", "PodCliqueSet")
CLIQUE = Kind("grove.io", "v1alpha1", "PodClique")
GROUP = Kind("grove.io", "v1alpha1", "PodCliqueScalingGroup")
REVISION = Kind("apps", "v1", "ControllerRevision")
GRACE = "simulation/grace"
"""A finalizer that every pod bears, so that it goes when its node says so and not at once."""


class World:
    """A cluster without machines: what is in it changes when somebody calls. `told` are the events, by name."""

    def __init__(self) -> None:
        self.now = START
        self.cluster = MemoryCluster(
            schemas=FreeSchemas(), before=_at_once, admit=_with_grace, now=lambda: datetime.fromtimestamp(self.now, UTC), history=100_000
        )
        self.cluster.seed(*crds())
        self.told: dict[str, str] = {}

    def take_over(self, other: World) -> None:
        """Becomes as another world is now. What is stored is never changed in place, so that both may share it."""
        mine, theirs = self.cluster.store, other.cluster.store
        mine.objects, mine.version, mine.oldest, self.now = dict(theirs.objects), theirs.version, theirs.version, other.now
        while len(mine.objects) and mine.new_uid() < max(one["metadata"]["uid"] for one in mine.objects.values()):
            pass  # UIDs are numbers that are given once
        mine.changes.clear()

    # What anybody may ask.

    def all(self, kind: Kind) -> list[Manifest]:
        """The objects of a kind, by name; not to be changed."""
        return list(self.cluster.store.of(kind.group, kind.kind, NAMESPACE))

    def get(self, kind: Kind, name: str) -> Manifest:
        return self.cluster.store.objects[Ref(kind.group, kind.kind, NAMESPACE, name)]

    def find(self, kind: Kind, name: str) -> Manifest | None:
        return self.cluster.find(Ref(kind.group, kind.kind, NAMESPACE, name))

    def pods(self, prefix: str = "") -> list[Manifest]:
        """The pods that nobody has asked to go, by name; those of one PodClique, replica or set where a prefix of names says so."""
        return [one for one in self.all(POD) if one["metadata"]["name"].startswith(prefix) and not is_being_deleted(one)]

    @property
    def version(self) -> int:
        """Grows with each change of anything."""
        return self.cluster.store.version

    # What people do.

    def apply(self, manifest: Manifest) -> None:
        """Somebody writes what is desired of an object; a server counts its generations and keeps its status."""
        old = self.cluster.find(Ref.of(manifest))
        new = copy.deepcopy(manifest)
        if old is not None:
            changed = old["spec"] != new["spec"]
            new = {**old, **new, "metadata": {**old["metadata"], **new["metadata"]}}
            new["metadata"]["generation"] = old["metadata"]["generation"] + changed
        self.put(new)

    def change(self, kind: Kind, name: str, change: Callable[[Manifest], None]) -> None:
        """Somebody edits an object."""
        new = copy.deepcopy(self.get(kind, name))
        change(new)
        self.apply(new)

    def delete(self, kind: Kind, name: str) -> None:
        """Somebody deletes an object."""
        live = self.get(kind, name)
        at_once(self.cluster.delete(self.cluster.kinds.get(kind), NAMESPACE, name, uid=live["metadata"]["uid"]))

    # What machines do.

    def put(self, manifest: Manifest) -> None:
        """Somebody writes an object, status and all."""
        self.cluster.seed(manifest)

    def report(self, pod: Manifest, **status: Any) -> None:
        """A node or a scheduler writes fields of a pod's status."""
        self.put({**pod, "status": {**pod.get("status", {}), **status}})

    def end(self, pod: Manifest) -> None:
        """A node has stopped a pod that was asked to go."""
        kept = [one for one in pod["metadata"]["finalizers"] if one != GRACE]
        self.cluster.store.put({**pod, "metadata": {**pod["metadata"], "finalizers": kept}})
        self.cluster.garbage.finish(Ref.of(pod), pod["metadata"]["deletionTimestamp"])

    def changes_since(self, version: int) -> Iterator[tuple[Ref, Manifest | None, Manifest | None]]:
        """What happened after a version, the newest first: the object's name, what it was, what it became."""
        for change in reversed(self.cluster.store.changes):
            if change.version <= version:
                return
            yield change.ref, change.old, change.new


def at_once(request: Coroutine[Any, Any, T]) -> T:
    """Carries out a request to a cluster that never waits, without an event loop: there are thousands in a schedule."""
    try:
        request.send(None)
    except StopIteration as answer:
        value: T = answer.value
        return value
    raise RuntimeError("a cluster of a simulation waits for nothing")


async def _at_once(_: Request) -> None:
    return


def _with_grace(manifest: Manifest) -> Manifest:
    metadata = manifest["metadata"]
    if manifest["kind"] != "Pod" or "uid" in metadata:
        return manifest
    return {**manifest, "metadata": {**metadata, "finalizers": [*metadata.get("finalizers", []), GRACE]}}
