"""What a clique waits for before its containers start (shipped semantics §5.1)."""

from __future__ import annotations

from dataclasses import dataclass

from grove_compiler.model import names
from grove_compiler.model.expanded.structure import Clique
from grove_compiler.model.lazy import remembered
from grove_compiler.model.spec.templates import CliqueTemplate

IN_ORDER = "CliqueStartupTypeInOrder"
EXPLICIT = "CliqueStartupTypeExplicit"


@dataclass(slots=True, eq=False)
class Dependency:
    """A PodClique that must have `min_available` ready pods first."""

    name: str
    min_available: int


@remembered
def dependencies(clique: Clique) -> list[Dependency]:
    """Returns what a clique waits for, in the order of its template.

    A clique outside the base gang waits only for cliques of its own replica of the scaling group, for that one may come at any time.
    A clique of the base gang does not wait for what is in other gangs, which its init container does not see.
    """
    return [
        Dependency(name, parent.min_available or 0)
        for parent in _parents(clique)
        for name in (_base_names(clique, parent) if clique.gang_name == clique.replica.name else _own_names(clique, parent))
    ]


def _parents(clique: Clique) -> list[CliqueTemplate]:
    templates, template = clique.set.cliques, clique.template
    if clique.set.startup_type == IN_ORDER:
        return [templates[template.index - 1]] if template.index else []
    if clique.set.startup_type == EXPLICIT:
        named = {other.name: other for other in templates}
        return [named[name] for name in template.starts_after if name in named]
    return []


def _base_names(clique: Clique, parent: CliqueTemplate) -> list[str]:
    """The parent's PodCliques in the base gang: all of them, also those of other replicas of a scaling group."""
    if parent.group is None:
        return [names.part_of(clique.replica.name, parent.name)]
    if clique.set.mnnvl.gang_per_replica(parent.group):
        return []
    group = names.part_of(clique.replica.name, parent.group.name)
    indices = range(parent.group.min_available or 1)
    return [names.part_of(names.part_of(group, index), parent.name) for index in indices]


def _own_names(clique: Clique, parent: CliqueTemplate) -> list[str]:
    member = clique.member
    if member is None or parent.group is not member.group.template:
        return []
    return [names.part_of(member.name, parent.name)]
