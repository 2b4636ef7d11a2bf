"""What becomes of each object that exists or should exist (shipped semantics §3.5 to §3.9, §7.5, §7.7, gotchas 19 and 20)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from grove_compiler.gangs.clique import GROUP_REPLICA, TEMPLATE_HASH, labels_of
from grove_compiler.graph.field_path import render
from grove_compiler.graph.node import Node
from grove_compiler.impact.change import Change, changes

What = Literal["made", "changed", "replaced", "deleted", "left"]
SCALING_GROUP = "PodCliqueScalingGroup"
ON_DELETE = "OnDelete"

MADE_ONCE = "is made once and never changed"
WITH_ITS_REPLICA = "a replica of a scaling group is deleted as a whole and made again"
NOT_PATCHED = "a scaling group does not change a PodClique that exists; it has this once it is made again"
OWN_NUMBER = "what exists keeps its number of replicas: autoscalers and `kubectl scale` own it"


@dataclass(slots=True, eq=False)
class Fate:
    """One object that an edit touches. `fields` are the paths that differ.

    *made* and *deleted* are plain; *changed* is patched in place; *replaced* is deleted and made again; *left* differs from what
    the new input would make and stays as it is, for the reason given. `kept` are fields that stay although all else is changed.
    """

    what: What
    node: Node
    fields: list[str] = field(default_factory=list)
    reason: str = ""
    kept: list[str] = field(default_factory=list)

    @property
    def kind(self) -> str:
        return str(self.node.object["kind"])


def fates(before: Sequence[Node], after: Sequence[Node], wanted: Mapping[str, Node], strategy: str) -> list[Fate]:
    """Returns what becomes of the objects of one set, in apply order; what is deleted comes last.

    `after` is compiled given what exists, `wanted` as if nothing did.
    """
    there = {id_of(node): node for node in before}
    here = {id_of(node): node for node in after}
    rolled = rolled_parts(there, here, strategy)
    result = []
    for key, node in here.items():
        if key not in there:
            fate: Fate | None = Fate("made", node)
        elif part_of(node) in rolled:
            fate = Fate("replaced", node, [render(change.path) for change in changes(there[key].object, node.object)], WITH_ITS_REPLICA)
        else:
            fate = _kept_fate(there[key], node, wanted.get(key, node), strategy)
        if fate is not None:
            result.append(fate)
    return result + [Fate("deleted", node) for key, node in there.items() if key not in here]


def id_of(node: Node) -> str:
    """Returns an object's id with its API group: another version is the same object."""
    return f"{str(node.object.get('apiVersion', '')).rpartition('/')[0]}/{node.id}"


def hash_of(node: Node) -> str:
    """Returns the hash of a PodClique's pod template; empty for other objects."""
    return str(labels_of(node.object).get(TEMPLATE_HASH, ""))


def is_member(node: Node) -> bool:
    """Tells whether it is a PodClique of a scaling group."""
    return node.object["kind"] == "PodClique" and node.owner is not None and node.owner.kind == SCALING_GROUP


def part_of(node: Node) -> tuple[str, str] | None:
    """Returns the replica of a scaling group that a PodClique belongs to: the group's id and the index."""
    return (node.owner.id, str(labels_of(node.object).get(GROUP_REPLICA, ""))) if is_member(node) and node.owner is not None else None


def rolled_parts(before: Mapping[str, Node], after: Mapping[str, Node], strategy: str) -> set[tuple[str, str] | None]:
    """Returns the replicas of scaling groups that are deleted as a whole and made again: those of which any pod template changed (§7.5)."""
    return {part_of(node) for key, node in after.items() if key in before and is_member(node) and is_rolled(before[key], node, strategy)}


def is_rolled(before: Node, after: Node, strategy: str) -> bool:
    """Tells whether the pods of a PodClique are replaced by themselves, one after the other."""
    return strategy != ON_DELETE and hash_of(before) != hash_of(after)


def _kept_fate(before: Node, after: Node, wanted: Node, strategy: str) -> Fate | None:
    """Returns what becomes of an object that stays."""
    result = list(changes(before.object, after.object))
    if not result:
        own = [render(change.path) for change in changes(after.object, wanted.object)]
        return Fate("left", after, own, OWN_NUMBER) if own else None
    fields = [render(change.path) for change in result]
    if after.policy.get("create") == "only":
        return Fate("left", after, fields, MADE_ONCE)
    if is_member(after) and strategy != ON_DELETE:
        return Fate("left", after, fields, NOT_PATCHED)
    if after.policy.get("recreate") and _reaches_beyond_metadata(result):
        return Fate("replaced", after, fields)
    return Fate("changed", after, fields, kept=[render(change.path) for change in changes(after.object, wanted.object)])


def _reaches_beyond_metadata(result: Sequence[Change]) -> bool:
    return any(change.path[:1] != ("metadata",) for change in result)
