"""Prepares objects for their deletion: writes the reason to them, and removes our finalizers, unless they have changed since."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Container, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from applier.cluster import Cluster
from applier.desired import Deletion
from applier.errors import ClusterError, Invalid, NotFound, WriteConflict
from applier.events import Finished, Sink
from applier.execute.refusals import is_other_object
from applier.outcome import Action, Outcome, Step
from applier.prune.deletion import AT_ONCE, TRIES
from applier.ref import Kind, Manifest, Ref, resource_version_of, uid_of
from kube_objects.manifest import is_terminating

RELEASED = "our work before its deletion is done"


class _Replaced(WriteConflict):
    """An object of another UID has the name."""


class Preparation(NamedTuple):
    """Holds how it ended to prepare an object of a unit, and in how many seconds."""

    error: ClusterError | None
    seconds: float

    @property
    def is_change(self) -> bool:
        """Reports whether the object could not be prepared because it is not as it was read."""
        return _is_change(self.error)


@dataclass(frozen=True, slots=True)
class DeletionOptions:
    """Configures what is written to an object before it is deleted.

    `annotation` is the key under which it gets the reason, so that our deletions can be distinguished from others'; empty for none.
    `finalizers` are ours, and are removed from every member that is deleted; so are `guards`, but only from one that is no longer desired.
    Objects of the kinds in `surplus`, by group and name, are deleted once they are no longer desired although others could not be applied:
    they hold what these may lack, as pods do where a quota is used up. But one stays whose place an object of its kind and owner was to
    take that could not be created.
    `unit` says which objects are deleted for a reason only as they were read, since the reason is their state, and of which unit each is:
    nothing of a unit is deleted of which anything has changed. It returns None for other objects. `state` returns what such reasons depend
    on: what else is written to an object holds nothing, as a kubelet's counts and times that change while a unit is prepared.
    """

    annotation: str = ""
    finalizers: Collection[str] = ()
    guards: Collection[str] = ()
    surplus: Collection[tuple[str, str]] = ()
    unit: Callable[[Manifest], Hashable | None] = field(default=lambda _: None)
    state: Callable[[Manifest], object] = field(default=resource_version_of)


class Preparer:
    """Writes to objects what they get before their deletion.

    The annotation is written under the main `manager`, by a plain patch. If the delete then fails and the object is still desired, the next
    apply owns that field and removes the annotation; an object that is only created keeps it. The same patch removes our own `finalizers`,
    whose purpose is fulfilled when we delete an object ourselves. They are also removed from objects that others have deleted; `guards`
    only once the object is no longer desired, since they keep it while it is needed.
    """

    def __init__(self, cluster: Cluster, options: DeletionOptions, *, manager: str, sink: Sink) -> None:
        self.cluster, self.manager, self.annotation, self.sink = cluster, manager, options.annotation, sink
        self.finalizers, self.guards = frozenset((*options.finalizers, *options.guards)), frozenset(options.guards)
        self.state = options.state

    async def release(self, members: Iterable[Manifest], desired: Container[Ref]) -> list[Outcome]:
        """Removes our finalizers from members that others have deleted; returns an outcome for each that had one."""
        releases = []
        for member in members:
            if is_terminating(member):
                ours = self.finalizers - self.guards if Ref.of(member) in desired else self.finalizers
                if not ours.isdisjoint(_finalizers(member)):
                    releases.append(self._release(member, ours))
        return list(await asyncio.gather(*releases)) if releases else []

    async def _release(self, live: Manifest, ours: frozenset[str]) -> Outcome:
        step, began = Step.deletion(live, RELEASED), time.monotonic()
        outcome = Outcome(step, Action.PRUNED, RELEASED, step.uid)
        try:
            await self._patch(live, _without(ours, live))
        except NotFound:
            pass
        except ClusterError as error:
            outcome.action, outcome.reason, outcome.error = Action.FAILED, f"cannot be released: {error}", error
        outcome.seconds = time.monotonic() - began
        self.sink(Finished(outcome))
        return outcome

    async def mark(self, deletions: Collection[Deletion], live: Mapping[Ref, Manifest]) -> dict[Ref, Preparation]:
        """Prepares objects for their deletion, in the state that was read.

        What is not deleted after all keeps its reason: to remove it would be a change, for which the next attempt came at once.
        """
        at_once, clock = asyncio.Semaphore(AT_ONCE), asyncio.get_running_loop().time

        async def mark(one: Deletion) -> Preparation:
            async with at_once:
                began, error = clock(), None
                try:
                    await self._prepare_as_read(one, live[one.of.ref])
                except ClusterError as raised:
                    error = raised
                return Preparation(error, clock() - began)

        marks = await asyncio.gather(*map(mark, deletions)) if deletions else []
        return dict(zip((one.of.ref for one in deletions), marks, strict=True))

    async def _prepare_as_read(self, one: Deletion, live: Manifest) -> None:
        """Prepares an object, in a later version if its `state` is that which was read. Raises `WriteConflict` if it is not."""
        state, ref = self.state(live), one.of.ref
        for attempt in range(TRIES):
            try:
                await self.prepare(one, live, as_read=True)
                return
            except WriteConflict as error:
                if not _is_change(error) or attempt + 1 == TRIES:
                    raise
                live = await self.cluster.get(await self.cluster.resource(Kind.of(live)), ref.namespace, ref.name)
                if uid_of(live) != one.of.uid:
                    raise _Replaced(409, "Conflict", str(error)) from None
                if self.state(live) != state:
                    raise

    async def prepare(self, deletion: Deletion, live: Manifest, *, as_read: bool = False) -> None:
        """Writes the reason of its deletion to an object, and removes our finalizers.

        Raises `WriteConflict` when its UID has changed, and with `as_read` when anything of it has. A reason that an earlier deletion left,
        which could not be carried out, is removed where this one has none.
        """
        present = live["metadata"].get("annotations") or {}
        reason = {self.annotation: deletion.reason if deletion.is_attributed else None} if self.annotation else {}
        annotations = {**reason, **deletion.annotations}
        metadata = _without(self.finalizers, live)
        if any(present.get(key) != value for key, value in annotations.items()):
            metadata["annotations"] = annotations
        if as_read:
            metadata["resourceVersion"] = resource_version_of(live)
        if metadata:
            await self._patch(live, metadata)

    async def _patch(self, live: Manifest, metadata: dict[str, Any]) -> None:
        ref = Ref.of(live)
        resource = await self.cluster.resource(Kind.of(live))
        try:
            patch = {"metadata": {"uid": uid_of(live), **metadata}}
            await self.cluster.patch(resource, ref.namespace, ref.name, patch, manager=self.manager)
        except Invalid as error:
            if is_other_object(error):
                raise _Replaced(409, "Conflict", str(error)) from None
            raise


def _is_change(error: ClusterError | None) -> bool:
    """Reports whether an object could not be prepared because it is not as it was read."""
    return isinstance(error, WriteConflict) and not isinstance(error, _Replaced)


def _without(ours: frozenset[str], live: Manifest) -> dict[str, Any]:
    """Returns the metadata of a merge patch that removes our finalizers; empty if there are none.

    A merge patch replaces the whole list, so it is bound to this resourceVersion.
    """
    finalizers = _finalizers(live)
    others = [finalizer for finalizer in finalizers if finalizer not in ours]
    return {} if others == finalizers else {"finalizers": others, "resourceVersion": resource_version_of(live)}


def _finalizers(live: Manifest) -> list[str]:
    return live["metadata"].get("finalizers") or []
