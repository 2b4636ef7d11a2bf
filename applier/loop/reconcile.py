"""One key brought to where its graph says: planned from the cache, written where something differs, pruned of what is left over."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

from applier.cache import Wanted
from applier.cluster import Cluster
from applier.decision import Schemas
from applier.desired import Graph
from applier.events import Sink, nowhere
from applier.execute.executor import execute
from applier.execute.options import AfterWrite, ExecuteOptions
from applier.loop.view import View
from applier.outcome import UNDONE, Action, Outcome, Step
from applier.plan import Intent, plan
from applier.prune.deletion import Deletion
from applier.prune.teardown import teardown
from applier.ref import Kind, Manifest, Ref, is_being_deleted, resource_version_of, uid_of

K = TypeVar("K", bound=Hashable)
Members = Callable[[View, K], Iterable[Manifest]]


class Reconciler(Generic[K]):
    """Plans, executes and prunes. Where nothing differs it makes no request.

    `members` gives the objects that exist because of a key, for instance those that its primary object owns: what of them the graph
    no longer holds is deleted, once the whole graph is applied, and only if it still carries the same UID and is a member still by
    `is_member`. Without `members` nothing is ever deleted. `namespace` limits what is watched.
    """

    def __init__(
        self,
        cluster: Cluster,
        *,
        manager: str,
        after_write: AfterWrite,
        force: tuple[str, ...] = (),
        members: Members[K] | None = None,
        namespace: str = "",
        sink: Sink = nowhere,
    ) -> None:
        self.cluster, self.manager, self.after_write, self.force = cluster, manager, after_write, force
        self.members, self.namespace, self.sink = members, namespace, sink
        self._schemas: dict[frozenset[Kind], Schemas] = {}

    async def __call__(self, key: K, graph: Graph, view: View) -> list[Outcome]:
        """What became of each object that was not as the graph says; empty when all was. Raises `ClusterError` when nothing can be read."""
        kinds = frozenset(Kind.of(desired.manifest) for desired in graph.objects.values())
        await view.watch(Wanted(kind, self.namespace) for kind in kinds)
        schemas = self._schemas.get(kinds)
        if schemas is None:
            schemas = self._schemas[kinds] = await self.cluster.schemas(kinds)
        planned = plan(graph, view, schemas, Intent(self.manager, self.force), unserved=view.unserved())
        outcomes: list[Outcome] = []
        if planned.changed():
            outcomes = await execute(planned, graph, self.cluster, ExecuteOptions(sink=self.sink, after_write=self.after_write))
        undone = [outcome for outcome in outcomes if outcome.action in UNDONE]
        if undone or any(step.unsure for step in planned.steps):
            self._schemas.pop(kinds, None)  # a definition may have changed
        left_over = self._left_over(key, graph, view)
        return outcomes if undone or not left_over else outcomes + await self._prune(left_over)

    def _left_over(self, key: K, graph: Graph, view: View) -> dict[Ref, Manifest]:
        if self.members is None:
            return {}
        found = {Ref.of(manifest): manifest for manifest in self.members(view, key)}
        return {ref: one for ref, one in found.items() if ref not in graph.objects and not is_being_deleted(one)}

    async def _prune(self, left_over: dict[Ref, Manifest]) -> list[Outcome]:
        order = teardown(left_over.values())
        steps = [
            Step(
                ref,
                Action.PRUNED,
                "no longer wanted",
                uid=uid_of(left_over[ref]),
                resource_version=resource_version_of(left_over[ref]),
                wave=wave,
            )
            for wave, refs in enumerate(order.waves)
            for ref in refs
        ]
        return await Deletion(self.cluster, sink=self.sink).run(steps, left_over, order)
