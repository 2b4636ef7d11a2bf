"""Computes what an edit of sets makes their operator do: the difference between what they become now and what they became."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from applier.outcome import ABSENT, Action, FieldChange, Step
from applier.plan.reasons import what_differs
from applier.ref import Manifest, Ref
from grove_compiler.graph.graph import Graph

MOST_CHANGES = 100
"""Changed fields that are told of one object."""


def effects(before: Graph, after: Graph) -> list[Step]:
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


def _by_ref(graph: Graph) -> dict[Ref, Manifest]:
    return {Ref.of(node.object): node.object for node in graph.nodes if not node.policy.get("operator")}


def _changes(old: Manifest, new: Manifest) -> list[FieldChange]:
    found = []
    for change in _differing(old, new, ()):
        found.append(change)
        if len(found) == MOST_CHANGES:
            break
    return found


def _differing(old: Any, new: Any, path: tuple[Any, ...]) -> Iterator[FieldChange]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in {**old, **new}:
            yield from _differing(old.get(key, ABSENT), new.get(key, ABSENT), (*path, key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from _differing(one, other, (*path, index))
    elif type(old) is not type(new) or old != new:
        yield FieldChange(path, old, new)
