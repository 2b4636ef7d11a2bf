"""What all steps of one run share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from applier.cluster import Cluster, find
from applier.decision import Schemas, Type
from applier.desired import Graph
from applier.events import Sink, nowhere
from applier.execute.concurrency import Concurrency
from applier.execute.patience import Patience, Stop
from applier.outcome import Action, Outcome
from applier.plan import Plan
from applier.plan.order import defined_kinds
from applier.ref import GroupKind, Kind, Manifest, Ref

T = TypeVar("T")
AfterWrite = Callable[[Manifest], None]


@dataclass(slots=True, eq=False)
class Run:
    """One carrying out of a plan.

    `outcomes` and `uids` grow as objects are settled. `exact` sends the resource versions that the plan was decided on along, so that
    nothing is written over what has changed since. `causes` holds, for what waits, the first cause of its waiting.
    """

    plan: Plan
    graph: Graph
    cluster: Cluster
    limit: Concurrency
    sink: Sink = nowhere
    dry_run: bool = False
    exact: bool = False
    after_write: AfterWrite | None = None
    patience: Patience = field(default_factory=Patience)
    stop: Stop = field(default_factory=Stop)
    outcomes: dict[Ref, Outcome] = field(default_factory=dict)
    uids: dict[Ref, str] = field(default_factory=dict)
    causes: dict[Ref, Ref] = field(default_factory=dict)
    schemas: dict[Kind, Type | None] = field(default_factory=dict)
    defined: dict[GroupKind, Ref] = field(init=False)

    def __post_init__(self) -> None:
        self.defined = defined_kinds(self.graph)

    @property
    def manager(self) -> str:
        """The field manager under which everything is written."""
        return self.plan.intent.manager

    async def ask(self, call: Callable[[], Awaitable[T]]) -> T:
        """Makes one request within the limit."""
        return await self.limit.run(call)

    async def read(self, ref: Ref, kind: Kind) -> Manifest | None:
        """The object as it is now; None when there is none."""
        resource = await self.cluster.resource(kind)
        return await self.ask(lambda: find(self.cluster, resource, ref.namespace, ref.name))

    async def schema(self, kind: Kind) -> Type | None:
        """The schema of a kind; of one that came with the graph, as soon as it is served."""
        found = self.plan.schemas.get(kind) or self.schemas.get(kind)
        if found is None and kind not in self.schemas:
            fresh: Schemas = await self.cluster.schemas([kind])
            found = self.schemas[kind] = fresh.get(kind)
        return found

    def learn(self, manifest: Manifest) -> None:
        """Hands on what the server has just answered."""
        if self.after_write is not None:
            self.after_write(manifest)

    def is_new(self, ref: Ref) -> bool:
        """Says whether an object was made in this run."""
        outcome = self.outcomes.get(ref)
        return outcome is not None and outcome.action in (Action.CREATED, Action.RECREATED)
