"""Compares a set with its previous state: its cliques and groups by name, their templates, its constraints, its MNNVL annotations."""

from __future__ import annotations

from grove_compiler.graph.field_path import FieldPath, render
from grove_compiler.model.spec.constraints import Constraint
from grove_compiler.model.spec.mnnvl_layers import Layer, MnnvlAnnotation
from grove_compiler.model.spec.podcliqueset import PodCliqueSet
from grove_compiler.model.spec.templates import CliqueTemplate, ScalingGroupTemplate
from grove_compiler.record import record


@record
class PlacementChange:
    """A constraint `of` a set, a group or a clique that an update adds, removes or changes; `what` says how, in upstream's words."""

    path: str
    of: str
    what: str


@record
class MnnvlChange:
    """An MNNVL annotation that an update `added`, `removed` or `changed` (`what`); its value and `old` are empty for an absent one."""

    what: str
    annotation: MnnvlAnnotation
    old: str


def old_clique(old: PodCliqueSet, clique: CliqueTemplate) -> CliqueTemplate | None:
    """Returns the clique of this name in the old set; none when it is new. A clique keeps its identity by its name."""
    return old.cliques_by_name.get(clique.name)


def old_group(old: PodCliqueSet, group: ScalingGroupTemplate) -> ScalingGroupTemplate | None:
    """Returns the scaling group of this name in the old set; none when it is new."""
    return old.groups_by_name.get(group.name)


def topology_changed(pcs: PodCliqueSet, old: PodCliqueSet | None) -> bool:
    """Reports whether the set is new, or refers to another topology than before."""
    return old is None or old.placement.choice != pcs.placement.choice


def placement_changes(pcs: PodCliqueSet, old: PodCliqueSet) -> list[PlacementChange]:
    """Returns every forbidden change of a constraint (GREP-244, Rules 1 and 3).

    Moving a domain from `packDomain` to `pack.required` is allowed, and so is naming the topology of such an old constraint.
    """
    pairs = [("spec.template", pcs.placement.constraint, old.placement.constraint)]
    pairs += [(group.path, group.constraint, _constraint(old_group(old, group))) for group in pcs.groups]
    pairs += [(clique.path, clique.constraint, _constraint(old_clique(old, clique))) for clique in pcs.cliques]
    changes = (_placement_change(f"{path}.topologyConstraint", new, before) for path, new, before in pairs)
    return [change for change in changes if change]


def mnnvl_changes(pcs: PodCliqueSet, old: PodCliqueSet) -> list[MnnvlChange]:
    """Returns every change of an MNNVL annotation on what both have: the set, and groups and cliques of the same name."""
    if not pcs.mnnvl.is_mentioned and not old.mnnvl.is_mentioned:
        return []
    before = {_key(layer): layer for layer in reversed(old.mnnvl.layers)}
    return [change for layer in pcs.mnnvl.layers if _key(layer) in before for change in _mnnvl_changes(layer, before[_key(layer)])]


def _constraint(template: CliqueTemplate | ScalingGroupTemplate | None) -> Constraint | None:
    return template.constraint if template is not None else None


def _placement_change(path: str, new: Constraint | None, old: Constraint | None) -> PlacementChange | None:
    if new is None:
        return PlacementChange(path, old.of, "cannot be removed after creation") if old else None
    if old is None:
        return PlacementChange(path, new.of, "cannot be added after creation")
    if (new.required, new.preferred) != (old.required, old.preferred):
        return PlacementChange(path, new.of, f"cannot be changed from {_domains(old)} to {_domains(new)}")
    repairs_old = not old.topology_name and not old.uses_pack
    if new.topology_name != old.topology_name and not repairs_old:
        what = f"topologyName cannot be changed from '{old.topology_name}' to '{new.topology_name}'"
        return PlacementChange(f"{path}.topologyName", new.of, what)
    return None


def _domains(constraint: Constraint) -> str:
    return f'required="{constraint.required}" preferred="{constraint.preferred}"'


def _key(layer: Layer) -> tuple[str, str]:
    """Identifies a layer across both sets by kind and name; the set's layer matches whatever its name is."""
    return layer.kind, layer.name if layer.kind != "set" else ""


def _mnnvl_changes(new: Layer, old: Layer) -> list[MnnvlChange]:
    before = {annotation.key: annotation.value for annotation in old.mnnvl_annotations}
    now = {annotation.key: annotation.value for annotation in new.mnnvl_annotations}
    changes = [("removed", key) for key in before if key not in now]
    changes += [("changed" if key in before else "added", key) for key in now if now[key] != before.get(key)]
    return [MnnvlChange(what, MnnvlAnnotation(new, key, now.get(key, "")), before.get(key, "")) for what, key in changes]


MAX_CHANGES = 100


def changed_template_fields(clique: CliqueTemplate, old: CliqueTemplate) -> list[str]:
    """Returns the changed fields as paths in the set, in the order of the template; `1000m` for `1` is no change.

    The set's priorityClassName, which is part of the template too, has a check of its own. A list whose length changes counts as one
    field. Returns at most `MAX_CHANGES` paths.
    """
    new, previous = clique.hashed_template(""), old.hashed_template("")  # both without the priority class
    if new == previous:
        return []
    from grove_compiler.kube.semantic_difference import pod_template_differences  # lazily: it loads many tables

    return [_in_set(clique, change.path) for change in pod_template_differences(previous, new)[:MAX_CHANGES]]


def _in_set(clique: CliqueTemplate, path: FieldPath) -> str:
    """Converts a path in the hashed template to one in the set."""
    inner = render(path[1:])
    if path[0] == "metadata":
        return f"{clique.path}.{inner}"
    joint = "" if not inner or inner.startswith("[") else "."
    return f"{clique.path}.spec.podSpec{joint}{inner}"
