"""What an update does to a set's constraints (shipped §6.2; GREP-244, Rules 1 and 3)."""

from __future__ import annotations

from dataclasses import dataclass

from grove_compiler.model.spec.constraints import Constraint
from grove_compiler.model.spec.declared import PodCliqueSet


@dataclass(slots=True, eq=False)
class PlacementChange:
    """A constraint that an update adds, removes or changes. `what` says it in words."""

    path: str
    what: str


def placement_changes(new: PodCliqueSet, old: PodCliqueSet) -> list[PlacementChange]:
    """Every forbidden change. Moving a domain from `packDomain` to `pack.required` is none, nor is naming such an old one's topology."""
    pairs = [("spec.template.topologyConstraint", new.placement.constraint, old.placement.constraint)]
    pairs += _pairs({group.name: group.path for group in new.groups}, new.placement.group_constraints, old.placement.group_constraints)
    pairs += _pairs(
        {clique.name: clique.path for clique in new.cliques}, new.placement.clique_constraints, old.placement.clique_constraints
    )
    return [change for path, now, former in pairs if (change := _change(path, now, former))]


def _pairs(
    paths: dict[str, str], new: dict[str, Constraint], old: dict[str, Constraint]
) -> list[tuple[str, Constraint | None, Constraint | None]]:
    return [(f"{path}.topologyConstraint", new.get(name), old.get(name)) for name, path in paths.items()]


def _change(path: str, new: Constraint | None, old: Constraint | None) -> PlacementChange | None:
    if new is None or old is None:
        return None if new is old else PlacementChange(path, "added" if old is None else "removed")
    for field, now, former in (("required", new.required, old.required), ("preferred", new.preferred, old.preferred)):
        if now != former:
            return PlacementChange(path, f"changed: its {field} domain was {former or 'not set'}")
    repairs_old = old.topology_name is None and not old.uses_pack
    if new.topology_name != old.topology_name and not repairs_old:
        return PlacementChange(f"{path}.topologyName", f"changed: it was {old.topology_name or 'not set'}")
    return None
