"""Computes what an edit of sets makes their operator do: the difference between what they become now and what they became."""

from __future__ import annotations

from itertools import islice

from applier.outcome import Action, FieldChange, Step
from applier.plan.reasons import what_differs
from applier.ref import Manifest, Ref
from grove_compiler.graph.graph import CompiledGraph
from grove_compiler.kube.semantic_difference import ANYTHING, differences

MAX_CHANGES = 100
"""Changed fields that are told of one object."""


def effects(before: CompiledGraph, after: CompiledGraph) -> list[Step]:
    """Returns a step for each object that is created, configured or deleted, in apply order; those that are deleted come last.

    Both graphs are compiled from what exists, so that only what the edit changes differs: not what another release would write.
    """
    old, new = _by_ref(before), _by_ref(after)
    steps = [Step(ref, Action.CREATED) for ref in new if ref not in old]
    for ref, manifest in new.items():
        if ref in old and (changes := _changes(old[ref], manifest)):
            steps.append(Step(ref, Action.CONFIGURED, what_differs(changes), changes))
    order = {ref: number for number, ref in enumerate(new)}
    return [*sorted(steps, key=lambda step: order[step.ref]), *(Step(ref, Action.PRUNED) for ref in reversed(old) if ref not in new)]


def _by_ref(graph: CompiledGraph) -> dict[Ref, Manifest]:
    return {Ref.of(node.object): node.object for node in graph.nodes if not node.policy.get("operator")}


def _changes(old: Manifest, new: Manifest) -> list[FieldChange]:
    return [FieldChange(change.path, change.before, change.after) for change in islice(differences(old, new, ANYTHING), MAX_CHANGES)]
