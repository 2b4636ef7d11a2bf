"""Computes the fate of each object that exists or should exist (shipped semantics §3.5 to §3.9, §7.5, §7.7, gotchas 19 and 20).

Both operators restart the same pods in the same order. The upstream one recreates the PodCliques of a scaling group's replica for that, and
changes none otherwise; ours changes them in place, and recreates one only if its declared number of pods has changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Literal

from grove_compiler.gangs.clique import CLIQUE_KIND, CompiledClique, read_clique
from grove_compiler.graph.field_path import render
from grove_compiler.graph.node import Manifest, Node
from grove_compiler.kube.semantic_difference import object_differences, pod_template_differences
from grove_compiler.labels import PART_OF, REPLICA_LABEL
from grove_compiler.model.spec.podcliqueset import PodCliqueSet
from grove_compiler.record import record
from kube_objects.manifest import group_of, labels_of, namespaced_name

What = Literal["made", "changed", "replaced", "deleted", "left"]
Operator = Literal["grove", "shipped"]
ROLLING_RECREATE, ON_DELETE = "RollingRecreate", "OnDelete"
GROUP_KIND = "PodCliqueScalingGroup"

MADE_ONCE = "is created once and never changed"
WITH_ITS_REPLICA = "a replica of a scaling group is deleted as a whole and recreated"
NOT_PATCHED = "a scaling group does not change existing PodCliques; they get this change when they are recreated"
RESIZED = "its number of pods takes effect with the new template, and so it is recreated"
OWN_NUMBER = "existing objects keep their number of replicas: autoscalers and `kubectl scale` own it"
OWN_SIZE = "pods of a scaling group know how many they are: another number counts in replicas that are created or updated"

Part = tuple[str, int]
"""A scaling-group replica: the group's name and the index."""


@record
class Fate:
    """Describes what an edit does to one object. `fields` are the paths that differ.

    *made*: created; *deleted*: deleted; *changed*: patched in place; *replaced*: deleted and recreated; *left*: differs from what the
    new input would make, but is not changed, for the given reason. `kept` are fields that stay unchanged although others change.
    """

    what: What
    node: Node
    fields: list[str] = field(default_factory=list)
    reason: str = ""
    kept: list[str] = field(default_factory=list)

    @property
    def kind(self) -> str:
        return str(self.node.object["kind"])


@record
class Rollout:
    """Tells which pods of a set an edit replaces: `templates` are the cliques whose pod template has changed.

    Templates are compared by meaning, not by hash, as in a cluster: see `kube.semantic_difference`. `sizes` are the cliques whose declared
    number of pods has changed, each with the number before, `groups` the scaling groups whose declared number of replicas has, and `parts`
    the scaling-group replicas whose pods are deleted as a whole. `budgets` are the `maxUnavailable` of cliques, by name.
    """

    strategy: str
    templates: set[str]
    sizes: dict[str, int] = field(default_factory=dict)
    operator: Operator = "grove"
    parts: set[Part] = field(default_factory=set)
    groups: set[str] = field(default_factory=set)
    budgets: dict[str, int] = field(default_factory=dict)

    def at_a_time(self, clique: CompiledClique) -> int:
        """Returns how many pods of a clique, or replicas of its scaling group, the operator replaces at a time."""
        return self.budgets.get(clique.template_name, 1)

    def restarts(self, clique: CompiledClique) -> bool:
        """Reports whether the operator replaces the pods of a PodClique."""
        return self.strategy != ON_DELETE and clique.template_name in self.templates

    def recreates(self, clique: CompiledClique) -> bool:
        """Reports whether the operator recreates a PodClique of a scaling group's replica whose pods it replaces.

        A number of pods that was never declared was set by an autoscaler or by hand, and is kept.
        """
        return self.operator == "shipped" or self.sizes.get(clique.template_name) == clique.pods

    def resizes(self, node: Node) -> bool:
        """Reports whether another number of replicas is declared of a PodClique or scaling group."""
        if node.object["kind"] == CLIQUE_KIND:
            return read_clique(node.object).template_name in self.sizes
        return node.object["kind"] == GROUP_KIND and _group_name(node.object) in self.groups

    def replaces_all(self, clique: CompiledClique) -> bool:
        """Reports whether a PodClique is of a scaling group's replica whose pods are deleted as a whole."""
        return part_of(clique) in self.parts


def rollout(old: Manifest | None, new: Manifest | None, strategy: str, operator: Operator = "grove", nodes: Sequence[Node] = ()) -> Rollout:
    """Returns the rollout of an update from `old` to `new`, two defaulted manifests of a set, under a strategy, by an operator.

    `nodes` are the objects that exist. A scaling-group replica is replaced as a whole with any changed pod template (shipped §7.5).
    """
    before, after = (PodCliqueSet(manifest or {}) for manifest in (old, new))
    templates = {clique.name: clique.hashed_template(before.priority_class) for clique in before.cliques}
    pairs = [
        (clique.name, templates[clique.name], clique.hashed_template(after.priority_class))
        for clique in after.cliques
        if clique.name in templates
    ]
    sizes = {clique.name: clique.replicas for clique in before.cliques}
    resized = {clique.name: sizes[clique.name] for clique in after.cliques if sizes.get(clique.name) not in (None, clique.replicas)}
    roll = Rollout(strategy, {name for name, was, now in pairs if pod_template_differences(was, now)}, resized, operator)
    roll.budgets = {clique.name: (clique.group or clique).max_unavailable or 1 for clique in after.cliques}
    numbers = {group.name: group.replicas for group in before.groups}
    roll.groups = {group.name for group in after.groups if numbers.get(group.name) not in (None, group.replicas)}
    if roll.templates:
        cliques = (read_clique(node.object) for node in nodes if node.object["kind"] == CLIQUE_KIND)
        roll.parts = {part for clique in cliques if (part := part_of(clique)) is not None and roll.restarts(clique)}
    return roll


def fates(before: Mapping[str, Node], after: Mapping[str, Node], desired: Mapping[str, Node], roll: Rollout) -> list[Fate]:
    """Returns the fates of the objects of one set, in apply order; deleted ones come last.

    `after` is compiled given what exists, `desired` as if that had no number of replicas where the edit declares another one.
    """
    result = []
    for key, node in after.items():
        if key not in before:
            fate: Fate | None = Fate("made", node)
        elif is_recreated(before[key], roll):
            fate = Fate("replaced", node, _paths(before[key], node), WITH_ITS_REPLICA if roll.operator == "shipped" else RESIZED)
        else:
            fate = _fate_of_existing(before[key], node, desired.get(key, node), roll)
        if fate is not None:
            result.append(fate)
    return result + [Fate("deleted", node) for key, node in before.items() if key not in after]


def by_id(nodes: Sequence[Node]) -> dict[str, Node]:
    """Returns nodes by API group and id; the version of the group does not matter."""
    return {f"{group_of(str(node.object.get('apiVersion', '')))}/{node.id}": node for node in nodes}


def _group_name(manifest: Manifest) -> str:
    """Returns the name that a scaling group has in the set's template: the object's name without the prefix of its replica."""
    labels = labels_of(manifest)
    return namespaced_name(manifest)[1].removeprefix(f"{labels.get(PART_OF)}-{labels.get(REPLICA_LABEL)}-")


def part_of(clique: CompiledClique) -> Part | None:
    """Returns the scaling-group replica that a PodClique belongs to; None outside of groups."""
    return (clique.group, clique.group_replica) if clique.group else None


def is_recreated(node: Node, roll: Rollout) -> bool:
    """Reports whether an object is a PodClique that is deleted and created again."""
    if node.object["kind"] != CLIQUE_KIND:
        return False
    clique = read_clique(node.object)
    return roll.replaces_all(clique) and roll.recreates(clique)


def _fate_of_existing(before: Node, after: Node, desired: Node, roll: Rollout) -> Fate | None:
    """Returns the fate of an object that remains; None when nothing differs."""
    fields, own = _paths(before, after), _paths(after, desired)
    is_member = after.object["kind"] == CLIQUE_KIND and read_clique(after.object).group
    if not fields:
        return Fate("left", after, own, OWN_SIZE if is_member else OWN_NUMBER) if own else None
    if after.policy.get("create") == "only":
        return Fate("left", after, fields, MADE_ONCE)
    if roll.operator == "shipped" and roll.strategy != ON_DELETE and is_member:
        return Fate("left", after, fields, NOT_PATCHED)
    if after.policy.get("recreate") and not all(path.startswith("metadata.") for path in fields):
        return Fate("replaced", after, fields)
    return Fate("changed", after, fields, kept=own)


def _paths(before: Node, after: Node) -> list[str]:
    return [render(change.path) for change in object_differences(before.object, after.object)]
