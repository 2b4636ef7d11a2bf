"""A cluster in memory, and runs on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from applier.desired import Desired, Graph
from applier.execute.concurrency import Concurrency
from applier.execute.executor import execute
from applier.execute.options import ExecuteOptions, Timeouts
from applier.outcome import Action, Outcome, Step
from applier.plan import Intent, Plan, plan
from applier.ref import Manifest, Ref
from applier.testing.memory import MemoryCluster
from applier.testing.memory.faults import MemoryRequest

from ..free_schemas import FreeSchemas

ME = "me"
SHORT = Timeouts(first=0.001, longest=0.002, gone=0.05, established=0.05, passing=0.05)


class Lab:
    """Plans from what the cluster holds, without asking it, and carries the plan out on it."""

    def __init__(self, **options: Any) -> None:
        self.cluster = MemoryCluster(namespaces=("shop",), schemas=FreeSchemas(), **options)
        self.outcomes: dict[Ref, Outcome] = {}
        self.events: list[Any] = []

    def get(self, ref: Ref) -> Manifest | None:
        """The cluster as a `Live`."""
        return self.cluster.find(ref)

    def plan(self, *objects: Desired, **options: Any) -> Plan:
        """What is to be done."""
        schemas: Any = FreeSchemas()
        return plan(Graph(objects), self, schemas, Intent(ME, **options))

    def steps(self, *objects: Desired, **options: Any) -> dict[str, Step]:
        """What is to be done, by name."""
        return {step.ref.name: step for step in self.plan(*objects, **options).steps}

    async def apply(self, *objects: Desired, force: tuple[str, ...] = (), take_over: tuple[str, ...] | None = None, **options: Any) -> str:
        """What became of each object, as text: `a=created b=held`."""
        more = {} if take_over is None else {"take_over": take_over}
        return await self.execute_step(self.plan(*objects, force=force, **more), *objects, **options)

    async def execute_step(self, plan: Plan, *objects: Desired, **options: Any) -> str:
        """The same for a plan that was made before."""
        given: dict[str, Any] = {"timeouts": SHORT, "concurrency": Concurrency(), "sink": self.events.append, **options}
        self.cluster.forget_requests()
        outcomes = await execute(plan, Graph(objects), self.cluster, ExecuteOptions(**given))
        self.outcomes = {outcome.step.ref: outcome for outcome in outcomes}
        return said(outcomes)

    def meanwhile(self, verb: str, intervention: Callable[[], object]) -> None:
        """Does something right before the next request of a verb, once."""
        done: list[MemoryRequest] = []

        async def before(request: MemoryRequest) -> None:
            if request.verb == verb and not done:
                done.append(request)
                intervention()

        self.cluster.before = before

    def reason(self, ref: Ref) -> str:
        """Why the last run did with an object what it did."""
        return self.outcomes[ref].reason

    def requests(self) -> str:
        """The requests of the last run, in order: `apply a, get b`."""
        return ", ".join(f"{request.verb} {request.name}" for request in self.cluster.log)

    def live(self, ref: Ref) -> Manifest:
        """An object that is there."""
        found = self.cluster.find(ref)
        assert found is not None, f"{ref} is not there"
        return found


def said(outcomes: Iterable[Outcome]) -> str:
    return " ".join(f"{outcome.step.ref.name}={outcome.action.value}" for outcome in outcomes)


def actions(outcomes: Iterable[Outcome]) -> set[Action]:
    return {outcome.action for outcome in outcomes}
