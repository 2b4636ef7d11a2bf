"""Compares what an operator makes of an edit with what there was before it."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from applier.ref import Manifest, Ref
from grove_compiler.graph.graph import CompiledGraph

if TYPE_CHECKING:
    from applier.outcome import Step

MAX_CHANGES = 100
"""Changed fields that are told of one object in the effects of an edit."""


def effects_of(before: CompiledGraph, after: CompiledGraph) -> list[Step]:
    """Returns a step for each object that is created, configured or deleted, in apply order; those that are deleted come last.

    Both graphs are compiled from what exists, so that only what the edit changes differs: not what another release would write.
    """
    from applier.outcome import Action, FieldChange, Step
    from applier.plan.reasons import what_differs
    from grove_compiler.kube.semantic_difference import ANYTHING, differences  # brings many tables

    old, new = _by_ref(before), _by_ref(after)
    steps = [Step(ref, Action.CREATED) for ref in new if ref not in old]
    for ref, manifest in new.items():
        found = islice(differences(old[ref], manifest, ANYTHING), MAX_CHANGES) if ref in old else ()
        if changes := [FieldChange(change.path, change.before, change.after) for change in found]:
            steps.append(Step(ref, Action.CONFIGURED, what_differs(changes), changes))
    order = {ref: number for number, ref in enumerate(new)}
    return [*sorted(steps, key=lambda step: order[step.ref]), *(Step(ref, Action.PRUNED) for ref in reversed(old) if ref not in new)]


def _by_ref(graph: CompiledGraph) -> dict[Ref, Manifest]:
    return {Ref.of(node.object): node.object for node in graph.nodes if not node.policy.get("operator")}
