"""What has to go: deleted with the reason on it, when it is sure that it has to go; else held."""

from __future__ import annotations

from collections.abc import Iterable

from applier.cluster import Cluster
from applier.desired import Deletion
from applier.errors import Invalid, NotSynced, WriteConflict
from applier.events import Finished, Sink
from applier.execute.refusals import is_other_object
from applier.loop.view import View
from applier.outcome import Action, Outcome, Step
from applier.prune import deletion
from applier.prune.teardown import teardown
from applier.ref import Kind, Manifest, Ref, is_being_deleted, resource_version_of, uid_of


class DeletionWriter:
    """Deletes live objects by their UIDs, those on which nothing rests first. Each gets its reason as an `annotation`, if that has a name.

    The annotation is written under the main `manager`, by a plain patch. Where the deletion does not come about and the object stays
    wanted, the next apply takes that patch over and the annotation away: what is alive never says that it was deleted.
    """

    def __init__(self, cluster: Cluster, *, manager: str, annotation: str, sink: Sink) -> None:
        self.cluster, self.manager, self.annotation, self.sink = cluster, manager, annotation, sink

    async def write(self, deletions: Iterable[Deletion], view: View, failed: Outcome | None = None) -> list[Outcome]:
        """What became of each object that is there and not being deleted. Later deletions count before earlier ones of the same object.

        All are held where something `failed` before, or what is known of the cluster is in doubt.
        """
        due = {deletion.of.ref: deletion for deletion in deletions}
        live = {ref: one for ref, deletion in due.items() if (one := _live(deletion, view)) is not None}
        if not live:
            return []
        order = teardown(live.values())
        steps = [_step(due[ref].reason, live[ref], wave) for wave, refs in enumerate(order.waves) for ref in refs]
        if failed or (doubts := view.doubts()):
            error = failed.error if failed else NotSynced(doubts[0])
            return [self._held(step, failed, error) for step in steps]

        # The reason goes first: after the delete there may be nothing left to write it to, and what sees it go would not know why.
        async def attribute(step: Step, live: Manifest) -> None:
            await self._attribute(due[step.ref], live)

        return await deletion.Deletion(self.cluster, sink=self.sink, before=attribute).run(steps, live, order)

    def _held(self, step: Step, failed: Outcome | None, error: Exception | None) -> Outcome:
        why = f"{failed.step.ref} is {failed.action}: {failed.reason}" if failed else str(error)
        outcome = Outcome(step, Action.HELD, f"is not deleted ({step.reason}), for {why}", step.uid, error=error)
        self.sink(Finished(outcome))
        return outcome

    async def _attribute(self, deletion: Deletion, live: Manifest) -> None:
        """Writes to an object why it is deleted, unless it says so already. Raises `WriteConflict` when it is another one by now."""
        reason = {self.annotation: deletion.reason} if self.annotation else {}
        annotations = {**reason, **deletion.annotations}
        if annotations.items() <= (live["metadata"].get("annotations") or {}).items():
            return
        ref, resource = deletion.of.ref, await self.cluster.resource(Kind.of(live))
        patch = {"metadata": {"uid": deletion.of.uid, "annotations": annotations}}
        try:
            await self.cluster.patch(resource, ref.namespace, ref.name, patch, manager=self.manager)
        except Invalid as error:
            if is_other_object(error):
                raise WriteConflict(409, "Conflict", str(error)) from None
            raise


def _live(deletion: Deletion, view: View) -> Manifest | None:
    """The object that is meant, if it is there and not being deleted yet."""
    live = view.get(deletion.of.ref)
    return live if live is not None and uid_of(live) == deletion.of.uid and not is_being_deleted(live) else None


def _step(reason: str, live: Manifest, wave: int) -> Step:
    return Step(Ref.of(live), Action.PRUNED, reason, uid=uid_of(live), resource_version=resource_version_of(live), wave=wave)
