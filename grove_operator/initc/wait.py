"""Waits until the parent cliques of a pod are ready, across failures of the API server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import field
from typing import NamedTuple

from applier.backoff import Backoff
from applier.cluster import Cluster, Listing, Resource, WatchEvent
from applier.errors import ClusterError, CredentialsError
from applier.ref import POD, Kind, Manifest, uid_of
from applier.reflector import list_and_watch
from grove_compiler.kube.indices import read_indices
from grove_compiler.labels import ATTEMPT_LABEL, CLIQUE_LABEL, GANG_LABEL, POD_INDEX_LABEL
from grove_compiler.record import record
from kube_objects.manifest import is_terminating, labels_of, maps, section

PODS = Resource(POD, "pods", namespaced=True)
PODCLIQUES = Resource(Kind("grove.io", "v1alpha1", "PodClique"), "podcliques", namespaced=True)
"""Both are known without discovery, which a thousand pods that start would ask for at once, and which not every cluster permits them."""
FIRST_WAIT, MAX_WAIT = 0.5, 10.0
"""Seconds until a denied request is retried. A restart of the init container may take up to 300 (CrashLoopBackOff)."""

Log = Callable[[str], None]


class ReadyRank(NamedTuple):
    """A pod that counts: the attempt that it was made for, and its rank in its clique, which is its UID where no label tells it."""

    attempt: int
    rank: str


@record
class Parents:
    """The required number of ready pods by PodClique, and the pods that are ready, by UID.

    Of a training workload only pods of the last attempt count, of which the waiting pod is one: those of earlier ones are kept for their
    logs. A rank that is `done` remains so when its pod is deleted, and so do those that their PodClique has recorded, whose pods were gone
    before anybody here looked. `attempts` are those of all pods, by UID.
    """

    needed: dict[str, int]
    _ready: dict[str, dict[str, ReadyRank]] = field(default_factory=dict)
    _done: set[str] = field(default_factory=set)
    _recorded: dict[str, set[ReadyRank]] = field(default_factory=dict)
    _attempts: dict[str, int] = field(default_factory=dict)

    def replace_all(self, pods: Iterable[Manifest]) -> None:
        """Replaces the state by a list of all pods of the gang."""
        self._attempts.clear()
        for ready in self._ready.values():
            for uid in ready.keys() - self._done:
                del ready[uid]
        for pod in pods:
            self.update(pod)

    def update(self, pod: Manifest, *, gone: bool = False) -> None:
        """Updates the state by a pod, or removes a deleted one."""
        uid, clique, attempt = uid_of(pod), clique_of(pod), attempt_of(pod)
        ready = self._ready.setdefault(clique, {})
        if clique and not gone:
            self._attempts[uid] = attempt
        else:
            self._attempts.pop(uid, None)
        if attempt and has_succeeded(pod) and not is_terminating(pod):
            self._done.add(uid)
        if uid in self._done or (is_up(pod) and not gone):
            ready[uid] = ReadyRank(attempt, str(labels_of(pod).get(POD_INDEX_LABEL) or uid))
        else:
            ready.pop(uid, None)

    def record(self, podclique: Manifest, *, gone: bool = False) -> None:
        """Updates the state by what a PodClique of a training workload records of its ranks."""
        status, replicas = section(podclique, "status"), section(podclique, "spec").get("replicas")
        succeeded, attempt = status.get("succeededIndexes"), status.get("attempt")
        is_known = not gone and isinstance(succeeded, str) and isinstance(attempt, int) and isinstance(replicas, int)
        ranks = read_indices(str(succeeded), int(replicas or 0)) if is_known else ()
        self._recorded[str(section(podclique, "metadata").get("name") or "")] = {ReadyRank(int(attempt or 0), str(rank)) for rank in ranks}

    @property
    def is_training(self) -> bool:
        """Whether the pods are of a training workload, of which alone a PodClique records ranks."""
        return any(self._attempts.values())

    def waiting(self) -> dict[str, int]:
        """Returns the ready pods of each clique that has too few, by name; empty when the pod may start."""
        last = max(self._attempts.values(), default=0)
        counts = {name: sum(one.attempt == last for one in self._of(name)) for name in self.needed}
        return {name: count for name, count in counts.items() if count < self.needed[name]}

    def _of(self, clique: str) -> set[ReadyRank]:
        return {*self._ready.get(clique, {}).values(), *self._recorded.get(clique, ())}

    def describe(self) -> str:
        """Returns the missing pods as text: `demo-0-router (1 of 2 ready)`."""
        return ", ".join(f"{name} ({count} of {self.needed[name]} ready)" for name, count in self.waiting().items())


def clique_of(pod: Manifest) -> str:
    """Returns the PodClique that owns a pod and that its label names; empty for none, as for a pod that only copies labels of ours."""
    # By label: upstream Grove matches the prefix of pod names, so that `a` counts the pods of `ab` (§14, 46).
    name = str(labels_of(pod).get(CLIQUE_LABEL) or "")
    owners = maps(section(pod, "metadata").get("ownerReferences"))
    return name if any((owner.get("kind"), owner.get("name")) == ("PodClique", name) for owner in owners) else ""


def attempt_of(pod: Manifest) -> int:
    """Returns the attempt of a training workload that a pod was made for; 0 for a service's pod."""
    text = str(labels_of(pod).get(ATTEMPT_LABEL) or "")
    return int(text) if text.isascii() and text.isdecimal() else 0


def has_succeeded(pod: Manifest) -> bool:
    """Reports whether a pod has run to completion, and succeeded."""
    return section(pod, "status").get("phase") == "Succeeded"


def is_up(pod: Manifest) -> bool:
    """Reports whether a pod counts: it is ready and not terminating, or has succeeded.

    A pod that has succeeded is never ready again, so that pods after it would wait forever, for example in a training job with a clique
    that prepares the data and exits.
    """
    if has_succeeded(pod):
        return True
    conditions = maps(section(pod, "status").get("conditions"))
    return not is_terminating(pod) and any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)


async def connected(
    connect: Callable[[], AbstractAsyncContextManager[Cluster]], wait: Callable[[Cluster], Awaitable[None]], log: Log
) -> None:
    """Connects, and waits then. Credentials that are missing are awaited, and reported to `log`.

    The kubelet mounts the Secret of the token before it has one, and puts in later what it gets. An init container that ended instead would
    be restarted more and more slowly, and with `restartPolicy: Never` its pod would have failed.
    """
    backoff = Backoff(FIRST_WAIT, MAX_WAIT)
    while True:
        try:
            async with connect() as cluster:
                await wait(cluster)
                return
        except CredentialsError as error:
            log(f"cannot log in; retrying: {error}")
        await asyncio.sleep(backoff.next())


async def wait_for(parents: Parents, cluster: Cluster, namespace: str, gang: str, log: Log) -> None:
    """Returns once enough pods of every parent are ready. `gang` is the PodGang of the waiting pod and its parents.

    `log` is called with the missing pods whenever they change, and with errors. Errors are retried, `Forbidden` too: the API server's
    authorizer may not know the role of the service account yet when the pod starts.
    """
    is_training = asyncio.Event()
    logged = ""

    def report(error: ClusterError) -> None:
        nonlocal logged
        logged = ""
        log(f"cannot read the pods of {namespace}/{gang}; retrying: {error}")

    def apply(event: Listing | WatchEvent) -> None:
        nonlocal logged
        _apply(parents, event)
        if parents.is_training:
            is_training.set()
        if parents.waiting() and parents.describe() != logged:
            logged = parents.describe()
            log(f"waiting for {logged}")

    async def records() -> None:
        await is_training.wait()
        await _follow(PODCLIQUES, parents, cluster, namespace, gang, lambda event: _record(parents, event), lambda _: None)

    streams = [asyncio.ensure_future(_follow(PODS, parents, cluster, namespace, gang, apply, report)), asyncio.ensure_future(records())]
    try:
        done, _ = await asyncio.wait(streams, return_when=asyncio.FIRST_COMPLETED)
        for one in done:
            one.result()
    finally:
        for one in streams:
            one.cancel()
        await asyncio.gather(*streams, return_exceptions=True)


async def _follow(
    resource: Resource,
    parents: Parents,
    cluster: Cluster,
    namespace: str,
    gang: str,
    apply: Callable[[Listing | WatchEvent], None],
    report: Callable[[ClusterError], None],
) -> None:
    """Follows the objects of a gang until enough pods of every parent are ready."""
    backoff = Backoff(FIRST_WAIT, MAX_WAIT)
    while True:
        try:
            labels = f"{GANG_LABEL}={gang}"
            async with aclosing(list_and_watch(cluster, resource, namespace, labels=labels, on_outage=report)) as events:
                async for event in events:
                    if isinstance(event, WatchEvent):  # a list may be allowed where a watch is not
                        backoff.reset()
                    apply(event)
                    if not parents.waiting():
                        return
        except ClusterError as error:
            report(error)
        await asyncio.sleep(backoff.next())


def _apply(parents: Parents, event: Listing | WatchEvent) -> None:
    if isinstance(event, Listing):
        parents.replace_all(event.items)
    elif event.type != "BOOKMARK":
        parents.update(event.object, gone=event.type == "DELETED")


def _record(parents: Parents, event: Listing | WatchEvent) -> None:
    if isinstance(event, Listing):
        for podclique in event.items:
            parents.record(podclique)
    elif event.type != "BOOKMARK":
        parents.record(event.object, gone=event.type == "DELETED")
