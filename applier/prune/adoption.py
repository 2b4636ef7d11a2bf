"""Takes over the fields that other managers own in live objects, and proves that nothing else changes.

kubectl, Helm or Argo CD own the fields that they applied. After adoption we own them: our apply has no conflicts, and removes fields that
we no longer list. Only `metadata.managedFields` is written (and kubectl's last-applied annotation removed), so nothing rolls and no pod
restarts. A webhook could still change more. So the patch is sent as a dry run first and the result compared with the live object: it is
written only when nothing but ownership differs.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, TypeVar

from applier.cache.snapshot import by_place, read_once
from applier.cluster import Cluster, Resource
from applier.decision import hide_secrets, prepared
from applier.decision.managers import after_takeover, managers_to_take_over, ownership_patch
from applier.desired import Desired, Graph
from applier.errors import ClusterError, Invalid, WriteConflict
from applier.events import Finished, RunMeter, Sink, nowhere
from applier.outcome import ABSENT, Action, FieldChange, Outcome, Step, dotted
from applier.plan.membership import staying
from applier.ref import Kind, Manifest, resource_version_of, uid_of
from kube_objects.manifest import LAST_APPLIED

T = TypeVar("T")
AT_ONCE = 16  # objects in progress
TRIES = 5  # attempts for an object that is written concurrently
OF_OWNERSHIP = {
    ("metadata", "managedFields"),
    ("metadata", "resourceVersion"),
    ("metadata", "annotations", LAST_APPLIED),
    ("metadata", "generation"),  # some kinds, Deployments among them, count a change of annotations; the spec is compared itself
}
"""The paths that adoption may change."""


class ChangesMore(ClusterError):
    """Reports that in a dry run more than ownership changed. `paths` are dotted."""

    def __init__(self, paths: list[str]) -> None:
        self.paths = paths
        super().__init__(f"not adopted: the server would also change {', '.join(paths)}; does a webhook interfere?")


async def adopt(
    graph: Graph, cluster: Cluster, *, manager: str, managers: Sequence[str], dry_run: bool = False, sink: Sink = nowhere
) -> list[Outcome]:
    """Takes over the fields that `managers` own in the graph's objects; returns an outcome for each object.

    Objects that were taken over are CONFIGURED; the step's `changes` are what an apply of the graph would change afterwards, empty when it
    would change nothing. In a dry run, fields that such an apply would remove are not among them. Raises `ClusterError` when the live
    objects cannot be read.
    """
    account = RunMeter(cluster, sink)
    live = await read_once(cluster, by_place((Kind.of(desired.manifest), ref) for ref, desired in graph.objects.items()))
    objects = [live.get(ref) for ref in graph.objects]
    account.planned(Counter(Action.CONFIGURED if each and _others(each, manager, managers) else Action.UNCHANGED for each in objects), 1)
    semaphore = asyncio.Semaphore(AT_ONCE)

    async def adopt_one(desired: Desired) -> Outcome:
        async with semaphore:
            outcome = await _Adoption(cluster, manager, managers, desired, dry_run).run(live.get(desired.ref))
        sink(Finished(outcome))
        return outcome

    outcomes = list(await asyncio.gather(*map(adopt_one, graph.objects.values())))
    account.closed(outcomes)
    return outcomes


def _others(live: Manifest, manager: str, managers: Sequence[str]) -> list[str]:
    """Returns the managers whose fields are taken over; our own plain writes alone are no reason, unless our name is in `managers`."""
    return [name for name in managers_to_take_over(live, manager, managers) if name != manager or manager in managers]


class _Adoption:
    """Adopts one object."""

    def __init__(self, cluster: Cluster, manager: str, managers: Sequence[str], desired: Desired, dry_run: bool) -> None:
        self.cluster, self.manager, self.managers = cluster, manager, managers
        self.desired, self.dry_run = desired, dry_run
        self.step = Step(desired.ref, Action.UNCHANGED)

    async def run(self, live: Manifest | None) -> Outcome:
        step = self.step
        if live is None:
            return Outcome(step, Action.UNCHANGED, "does not exist yet")
        step.uid, step.resource_version = uid_of(live), resource_version_of(live)
        try:
            return await self._take(await self.cluster.resource(Kind.of(live)), live)
        except ClusterError as error:
            return Outcome(step, Action.FAILED, str(error), step.uid, error=error)

    async def _take(self, resource: Resource, live: Manifest) -> Outcome:
        step = self.step
        others = _others(live, self.manager, self.managers)
        if not others:
            return Outcome(step, Action.UNCHANGED, f"none of its fields belong to {' or '.join(self.managers)}", step.uid)
        after = await self._retried(self._written, resource, live)
        step.action, step.reason = Action.CONFIGURED, f"ownership taken over from {', '.join(others)}; nothing else changed"
        try:
            step.changes = await self._retried(self._changes_of_an_apply, resource, after)
        except ClusterError as error:
            step.reason += f". An apply would be rejected: {error}"
        return Outcome(step, Action.CONFIGURED, step.reason, step.uid)

    async def _changes_of_an_apply(self, resource: Resource, live: Manifest) -> list[FieldChange]:
        """Returns what an apply would change now, by a dry run: fields that client-side apply owned by default are defaulted again."""
        intent = staying(prepared(self.desired.manifest), live, self.manager)
        # Bound to this version, so that a concurrent write of others does not count as a change of ours.
        bound = {**intent, "metadata": {**intent["metadata"], "resourceVersion": resource_version_of(live)}}
        return beside_ownership(live, await self.cluster.apply(resource, bound, manager=self.manager, force=True, dry_run=True))

    async def _retried(self, attempt: Callable[[Resource, Manifest], Awaitable[T]], resource: Resource, live: Manifest) -> T:
        """Calls `attempt`, and retries it with the current object after a conflict. Raises `WriteConflict` after `TRIES`."""
        for _ in range(TRIES - 1):
            try:
                return await attempt(resource, live)
            except WriteConflict:
                live = await self.cluster.get(resource, self.desired.ref.namespace, self.desired.ref.name)
        return await attempt(resource, live)

    async def _written(self, resource: Resource, live: Manifest) -> Manifest:
        """Sends the patch as a dry run, and then for real if nothing but ownership changes. Raises `ChangesMore`."""
        patch = ownership_patch(live, self.manager, self.managers)
        if not patch:  # they have given it up since
            return live
        ref = self.desired.ref
        for dry_run in (True,) if self.dry_run else (True, False):
            try:
                after = await self.cluster.patch(resource, ref.namespace, ref.name, patch, manager=self.manager, dry_run=dry_run)
            except Invalid as error:  # the server's error when the resourceVersion is not the one that the patch tests for
                raise WriteConflict(409, "Conflict", f"{ref} keeps changing: {error}") from None
            if more := beside_ownership(live, after):
                raise ChangesMore([dotted(change.path) for change in more])
        return after_takeover(live, patch) if self.dry_run else after


def beside_ownership(before: Manifest, after: Manifest) -> list[FieldChange]:
    """Returns all differences between two states of an object except ownership.

    Values of Secrets are replaced by hashes; a list is one value.
    """
    return list(_differing(hide_secrets(before), hide_secrets(after), ()))


def _differing(before: Any, after: Any, path: tuple[str, ...]) -> Iterator[FieldChange]:
    if path in OF_OWNERSHIP or before == after:
        return
    if path == ("metadata", "annotations"):  # the only one may have been of ownership
        before, after = ({} if part is ABSENT else part for part in (before, after))
    if not isinstance(before, dict) or not isinstance(after, dict):
        yield FieldChange(path, before, after)
        return
    for key in dict.fromkeys((*before, *after)):
        yield from _differing(before.get(key, ABSENT), after.get(key, ABSENT), (*path, key))
