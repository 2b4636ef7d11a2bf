"""Returns what objects of a key should exist and which do exist: for the loop, which writes the difference, and for a dry run."""

from __future__ import annotations

from applier.desired import Gone, Graph, Hold
from applier.errors import REFUSALS, NotSynced
from applier.loop import View
from applier.ref import Manifest, Ref, uid_of
from grove_compiler.decoder import SET_KIND
from grove_compiler.step import Key
from grove_operator.controller.evaluator import Evaluator
from grove_operator.controller.membership import TOPOLOGY_KINDS, MemberIndex, replicas_of, topology_members
from grove_operator.controller.ownership import is_of_set, is_orphaning, is_owned_by
from grove_operator.worker_thread import WorkerThread
from kube_objects.manifest import is_terminating

REFUSED = Gone()
"""For a terminating namespace: the server creates nothing in it (the shipped operator tried 1,471 times). What exists goes once
our finalizers are removed."""


class DesiredState:
    """Evaluates keys and records the objects that each of them desires.

    `with_namespaces` is false for an operator of a single namespace, which may not be allowed to read Namespaces.
    """

    def __init__(self, evaluate: Evaluator, membership: MemberIndex, *, with_namespaces: bool) -> None:
        self._evaluate, self._membership, self._with_namespaces = evaluate, membership, with_namespaces

    async def desired(self, view: View, key: Key, thread: WorkerThread | None = None) -> Graph | Gone | Hold:
        """Returns the desired state of a key. Raises `NotSynced` when the view cannot answer. Without a thread it never waits."""
        if self._is_terminating(view, key.namespace):
            return REFUSED
        desired = await self._evaluate(view, key, thread)
        if isinstance(desired, Graph):
            self._membership.claim(key, ((ref, each.manifest) for ref, each in desired.objects.items()))
        elif isinstance(desired, Gone):
            self._membership.forget(key)
        return desired

    def members(self, view: View, key: Key) -> list[Manifest]:
        """Returns the objects that exist because of a key; those that it does not desire are pruned.

        A set that is being deleted desires nothing, even while a finalizer retains it, so that none of its keys has to be evaluated first.
        Of a set that is gone the garbage collector deletes what it owned; what somebody has orphaned, or only labelled, stays.
        """
        if key.kind in TOPOLOGY_KINDS:
            return topology_members(view, key)
        pcs = view.peek(Ref("grove.io", SET_KIND, key.namespace, key.name))
        if pcs is None:
            return [one for one in self._membership.of(view, key, 0) if is_terminating(one)]  # they may have finalizers of ours
        if self._is_terminating(view, key.namespace):
            return self._owned(view, key, pcs, 0)
        if not is_terminating(pcs):
            return self._owned(view, key, pcs, replicas_of(pcs))
        # A set that the shipped operator has reconciled has its finalizer, which nobody else would remove.
        itself = [pcs] if key.replica is None else []
        return itself if is_orphaning(pcs) else [*self._owned(view, key, pcs, 0), *itself]

    def _owned(self, view: View, key: Key, pcs: Manifest, replicas: int) -> list[Manifest]:
        """Returns the objects of a set, and those of an earlier set of its name that go: they have finalizers of ours."""
        members = self._membership.of(view, key, replicas)
        orphaning = [uid_of(one) for one in members if is_orphaning(one)]  # parts that go without what they own
        return [
            one
            for one in members
            if is_terminating(one) or (is_of_set(view, one, pcs) and not any(is_owned_by(one, uid) for uid in orphaning))
        ]

    def _is_terminating(self, view: View, namespace: str) -> bool:
        if not self._with_namespaces or not namespace:
            return False
        try:
            live = view.get(Ref("", "Namespace", "", namespace))
        except NotSynced as error:
            if not isinstance(error.cause, REFUSALS):
                raise
            return False  # creations in a terminating namespace are then rejected, and reported
        return live is not None and is_terminating(live)
