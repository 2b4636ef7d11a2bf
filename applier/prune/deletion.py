"""Orders deletions, Services first and then in reverse order of writing, and deletes live objects wave by wave.

Each is deleted only if its UID is unchanged, and only when its dependants are gone.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from applier.cluster import Cluster, Resource
from applier.desired import AwaitedGroup, Cycle, Desired, Graph
from applier.errors import ApplierError, ClusterError, NotFound, WriteConflict
from applier.events import Finished, Sink, Started, WaveStarted, nowhere
from applier.outcome import Action, Outcome, Step
from applier.plan.order import order
from applier.ref import DEFINITION, NAMESPACE, Kind, Manifest, Ref, resource_version_of, uid_of
from applier.stop import STOPPED, Stop
from applier.wait.gone import Remaining, wait_gone
from kube_objects.manifest import is_terminating

SERVICE = ("", "Service")


class Teardown(NamedTuple):
    """Holds waves of objects, those without dependants first; and for each object its `users`, which have to be gone before it."""

    waves: list[list[Ref]]
    users: dict[Ref, list[Ref]]


def teardown(live: Iterable[Manifest], graph: Graph | None = None) -> Teardown:
    """Orders live objects by their owner references, by implicit dependencies of Kubernetes, and by the graph they come from."""
    objects = list(live)
    try:
        found = order(Graph([Desired(manifest, after=[*owners_of(manifest), *_dependencies_in(manifest, graph)]) for manifest in objects]))
    except Cycle:  # the graph's edges contradict the live owners, which take precedence
        found = order(Graph([Desired(manifest, after=owners_of(manifest)) for manifest in objects]))
    users: dict[Ref, list[Ref]] = {}
    # There are no groups above: each object waits until its own users are gone.
    alone = ((user, ref) for user, before in found.hard_dependencies.items() for ref in before if not isinstance(ref, AwaitedGroup))
    for user, ref in (*alone, *((user, ref) for user, before in found.soft_dependencies.items() for ref in before)):
        users.setdefault(ref, []).append(user)
    return Teardown(_services_first(found.waves[::-1], users), users)


def _services_first(waves: list[list[Ref]], users: dict[Ref, list[Ref]]) -> list[list[Ref]]:
    """Moves Services without dependants to the front, as Helm does.

    So no traffic goes to a pod that is about to stop, and endpoints are not rewritten for each of a thousand pods that are deleted.
    """
    services = dict.fromkeys(ref for wave in waves for ref in wave if ref[:2] == SERVICE and not users.get(ref))
    if not services:
        return waves
    first, *later = [[ref for ref in wave if ref not in services] for wave in waves]
    return [[*services, *first], *(wave for wave in later if wave)]


def last(order: Teardown, ref: Ref) -> Teardown:
    """Returns the order with this object last, to be deleted only when all others are gone.

    It is the namespace of the record, without which the others could not be found.
    """
    others = [[one for one in wave if one != ref] for wave in order.waves]
    return Teardown([*(wave for wave in others if wave), [ref]], {**order.users, ref: [one for wave in others for one in wave]})


def owners_of(manifest: Manifest) -> list[Ref]:
    """Returns the possible owners of a live object. A reference does not tell whether its owner is namespaced, so both are returned."""
    metadata = manifest.get("metadata") or {}
    namespaces = dict.fromkeys((metadata.get("namespace") or "", ""))
    return [
        Ref(Kind.read(owner["apiVersion"], owner["kind"]).group, owner["kind"], namespace, owner["name"])
        for owner in metadata.get("ownerReferences") or ()
        for namespace in namespaces
    ]


def _dependencies_in(manifest: Manifest, graph: Graph | None) -> list[Ref]:
    desired = graph.objects.get(Ref.of(manifest)) if graph else None
    return graph.before(desired) if graph and desired else []


def still_needed(manifest: Manifest, desired: Iterable[Ref]) -> list[Ref]:
    """Returns the desired objects that deleting this one would delete too: those in a namespace, or of a definition's kind."""
    ref = Ref.of(manifest)
    if ref[:2] == NAMESPACE:
        return [other for other in desired if other.namespace == ref.name]
    if ref[:2] == DEFINITION:
        spec = manifest.get("spec") or {}
        defined = (spec.get("group", ""), (spec.get("names") or {}).get("kind", ""))
        return [other for other in desired if other[:2] == defined]
    return []


AT_ONCE = 16  # deletes in flight
TRIES = 8  # attempts for an object that is written concurrently
OF_KUBERNETES = frozenset(
    {
        "foregroundDeletion",
        "orphan",
        "kubernetes.io/pvc-protection",
        "kubernetes.io/pv-protection",
        "batch.kubernetes.io/job-tracking",
        "customresourcecleanup.apiextensions.k8s.io",
    }
)
"""Finalizers that the server and its own controllers remove, whatever else is deleted."""


@dataclass(slots=True, eq=False)
class Deleter:
    """Deletes objects with these options.

    `still_meant` decides whether an object that has changed since it was read is still to be deleted; without it only the UID counts.
    `seconds` is the total time to wait: between waves for objects with finalizers, which need their controllers until they are gone; with
    `wait_for_all`, for every object and after the last wave too. With 0 seconds remaining objects hold nothing back. `labels` is a selector
    that all objects match, to watch less. `before` is awaited before each delete, with the object. `stop` ends it early: no further wave is
    started, and nothing is waited for.
    """

    cluster: Cluster
    still_meant: Callable[[Manifest], bool] | None = None
    propagation: str = "Background"
    seconds: float = 60.0
    wait_for_all: bool = False
    labels: str = ""
    sink: Sink = nowhere
    dry_run: bool = False
    stop: Stop = field(default_factory=Stop)
    before: Callable[[Step, Manifest], Awaitable[None]] | None = None
    _at_once: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    async def run(self, steps: Iterable[Step], live: dict[Ref, Manifest], order: Teardown) -> list[Outcome]:
        """Carries out the PRUNED steps; returns an outcome for each step, in the order of the waves. Held steps stay held.

        An object with a dependant that still exists is held.
        """
        due = {step.ref: step for step in steps}
        until = time.monotonic() + self.seconds
        outcomes: list[Outcome] = []
        there: dict[Ref, str] = {}
        for number, wave in enumerate(order.waves):
            refs = [ref for ref in wave if ref in due]
            if self.stop.is_cancelled:
                outcomes += self._not_begun([due[ref] for ref in refs])
                continue
            self.sink(WaveStarted(number, len(refs)))
            ended = await asyncio.gather(
                *(self._one(due[ref], live[ref], order.users.get(ref, ()) if self.seconds else (), there) for ref in refs)
            )
            # A remaining object holds back what it depends on: deleting a namespace would delete the controller in it, and then nothing
            # would remove that controller's finalizers.
            there.update({one.step.ref: one.reason for one in ended if one.action is not Action.PRUNED})
            awaited = [live[ref] for ref in refs if ref not in there and self._is_awaited(live[ref], last=number + 1 == len(order.waves))]
            remaining = await self._still_there(awaited, until)
            there.update({ref: one.reason for ref, one in remaining.items()})
            for outcome in ended:
                if self.wait_for_all and outcome.action is Action.PRUNED and outcome.step.ref in remaining:
                    outcome.step.obstacle = remaining[outcome.step.ref].obstacle
                    outcome.action, outcome.reason = (
                        Action.FAILED,
                        f"is deleted but {'may still exist' if self.stop.is_cancelled else 'still exists'}: {there[outcome.step.ref]}",
                    )
                self.sink(Finished(outcome))
            outcomes += ended
        return outcomes

    def _not_begun(self, steps: Iterable[Step]) -> list[Outcome]:
        outcomes = [Outcome(step, Action.HELD, STOPPED if step.action is Action.PRUNED else step.reason, step.uid) for step in steps]
        for outcome in outcomes:
            self.sink(Finished(outcome))
        return outcomes

    async def _one(self, step: Step, live: Manifest, users: Iterable[Ref], there: dict[Ref, str]) -> Outcome:
        if step.action is not Action.PRUNED:
            return Outcome.of(step)
        if waits_for := [user for user in users if user in there]:
            return Outcome(step, Action.HELD, f"{waits_for[0]} depends on it and still exists", step.uid)
        if is_terminating(live):
            return Outcome(step, Action.PRUNED, step.reason, step.uid)
        async with self._at_once:
            self.sink(Started(step))
            began = time.monotonic()
            action, reason, error = await self._delete(live, step)
            return Outcome(step, action, reason, step.uid, time.monotonic() - began, error)

    async def _delete(self, live: Manifest, step: Step) -> tuple[Action, str, ApplierError | None]:
        """Deletes an object in the version that was read; after a conflict in the current one, if it is still to be deleted."""
        ref = step.ref
        try:
            resource = await self.cluster.resource(Kind.of(live))
            for _ in range(TRIES):
                try:
                    if self.before is not None:
                        await self.before(step, live)
                    await self._request(resource, live)
                    return Action.PRUNED, step.reason, None
                except WriteConflict as error:
                    conflict = error
                    live = await self.cluster.get(resource, ref.namespace, ref.name)
                if uid_of(live) != step.uid:
                    return Action.UNCHANGED, "was replaced by another object of this name since it was read", None
                if self.still_meant and not self.still_meant(live):
                    return Action.UNCHANGED, "is no longer a member of the ApplySet", None
        except NotFound:
            return Action.PRUNED, "was already deleted", None
        except ApplierError as error:
            return Action.FAILED, str(error), error
        return Action.FAILED, f"keeps changing: {conflict}", conflict

    async def _request(self, resource: Resource, live: Manifest) -> None:
        ref = Ref.of(live)
        await self.cluster.delete(
            resource,
            ref.namespace,
            ref.name,
            uid=uid_of(live),
            # The UID protects a later object of the same name. The version only matters where a label decides: the object may have been
            # removed from the set since it was listed, and then it has to be checked again.
            resource_version=resource_version_of(live) if self.still_meant else "",
            propagation=self.propagation,
            dry_run=self.dry_run,
        )

    def _is_awaited(self, live: Manifest, *, last: bool) -> bool:
        return not self.dry_run and (self.wait_for_all or (not last and bool(finalizers_of(live))))

    async def _still_there(self, deleted: list[Manifest], until: float) -> dict[Ref, Remaining]:
        """Waits until these objects are gone; returns those that still exist, with the reason."""
        seconds = max(until - time.monotonic(), 0.0)
        waiting = wait_gone(deleted, self.cluster, seconds=seconds, labels=self.labels, sink=self.sink)
        try:
            left = await self.stop.unless(waiting)
        except ClusterError as error:
            return {Ref.of(one): Remaining(f"cannot be watched: {error}") for one in deleted}
        unconfirmed = Remaining("the run was stopped before its deletion was confirmed")
        return {Ref.of(one): unconfirmed for one in deleted} if left is None else left


def finalizers_of(manifest: Manifest) -> list[str]:
    """Returns the finalizers that a controller outside of Kubernetes has to remove."""
    return [finalizer for finalizer in (manifest.get("metadata") or {}).get("finalizers") or () if finalizer not in OF_KUBERNETES]
