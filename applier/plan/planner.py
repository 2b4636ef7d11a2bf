"""From a graph and what is live to what is to be done: one step for each object, in the order of writing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from applier.cluster import Live
from applier.decision import Schemas
from applier.decision.managers import CLIENT_SIDE
from applier.desired import Graph
from applier.outcome import QUIET, Action, Step
from applier.plan.order import defined_kinds, order
from applier.plan.steps import Intent, KnownLive, step_for
from applier.ref import Kind, Manifest, Ref


@dataclass(slots=True, eq=False)
class Plan:
    """What is to be done.

    `steps` are in the order of writing, each with its wave. `needs` says which objects of the graph each waits for, and goes without
    when one of them fails; `follows` says which come before it only because Kubernetes wants them there first. `found` holds the live
    objects and `schemas` the schemas that the steps were decided on, for whoever carries them out.
    """

    steps: list[Step]
    intent: Intent
    needs: dict[Ref, list[Ref]] = field(default_factory=dict)
    follows: dict[Ref, list[Ref]] = field(default_factory=dict)
    found: dict[Ref, Manifest] = field(default_factory=dict)
    schemas: Schemas = field(default_factory=Schemas)

    def counts(self) -> Counter[Action]:
        """How many objects end as what."""
        return Counter(step.action for step in self.steps)

    def changed(self) -> list[Step]:
        """The steps that are more than a look: everything but unchanged and yielded."""
        return [step for step in self.steps if step.action not in QUIET]

    def waves(self) -> list[list[Step]]:
        """Steps by wave, in order; waves in which nothing is to be done included."""
        waves: list[list[Step]] = [[] for _ in range(1 + max((step.wave for step in self.steps), default=-1))]
        for step in self.steps:
            waves[step.wave].append(step)
        return waves


def plan(
    graph: Graph,
    live: Live,
    schemas: Schemas,
    *,
    manager: str,
    force: tuple[str, ...] = (),
    take_over: tuple[str, ...] = CLIENT_SIDE,
    prunable: Sequence[Step] = (),
    unserved: Collection[Kind] = (),
) -> Plan:
    """What is to be done to make the cluster equal to the graph. Pure, and linear in objects and edges. Raises `Cycle`.

    `force`: managers whose fields may be taken, `*` for all. `take_over`: managers whose ownership becomes ours, so that fields that
    we give up later go away. `prunable`: steps for objects that are no longer wanted, already in the order of their deletion; they
    come after all waves. `unserved`: kinds that the server is known not to serve.
    """
    waves, needs, follows = order(graph)
    intent = Intent(manager, force, take_over)
    known = KnownLive(live, defined_kinds(graph), unserved)
    planned = Plan([], intent, needs, follows, known.seen, schemas)
    for wave, refs in enumerate(waves):
        for ref in refs:
            desired = graph.objects[ref]
            step = step_for(desired, known, schemas.get(Kind.of(desired.manifest)), intent)
            step.wave = wave
            known.note(step)
            planned.steps.append(step)
    for step in prunable:
        step.wave += len(waves)
        planned.steps.append(step)
    return planned
