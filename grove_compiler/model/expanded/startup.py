"""Computes what a clique waits for before its containers start (shipped semantics §5.1)."""

from __future__ import annotations

from grove_compiler.graph.node import ObjectRef
from grove_compiler.kube.conditions import status_of
from grove_compiler.model import names
from grove_compiler.model.expanded.structure import Clique
from grove_compiler.model.lazy import remembered
from grove_compiler.model.spec.podcliqueset import API_VERSION, PodCliqueSet
from grove_compiler.model.spec.templates import CliqueTemplate
from grove_compiler.record import record

IN_ORDER = "CliqueStartupTypeInOrder"
EXPLICIT = "CliqueStartupTypeExplicit"


@record
class Wait:
    """A clique that starts after another one. `path` is the field that declares it."""

    clique: CliqueTemplate
    other: CliqueTemplate
    path: str


@record
class Dependency:
    """A PodClique that must have `min_available` ready pods first."""

    name: str
    min_available: int


@remembered
def dependencies(clique: Clique) -> list[Dependency]:
    """Returns the PodCliques that a clique waits for, in the order of its template.

    A clique of a scaled gang waits only for cliques of its own scaling-group replica, since that may be added at any time. A clique of the
    base gang does not wait for cliques in other gangs, which its init container does not see.
    """
    is_base = clique.gang_name == clique.replica.name
    return [
        Dependency(name, wait.other.min_available or 0)
        for wait in waits(clique.set, clique.template)
        for name in (_base_names(clique, wait.other) if is_base else _own_names(clique, wait.other))
    ]


@record
class UnmetDependency:
    """A PodClique that has fewer ready pods than the cliques after it wait for."""

    name: str
    ref: ObjectRef
    ready: int
    min_available: int


def unmet_dependencies(clique: Clique) -> list[UnmetDependency]:
    """Returns the dependencies that a clique's pods still wait for, by the statuses of those PodCliques."""
    unmet = []
    for dependency in dependencies(clique):
        ref = clique.set.snapshot.with_uid(ObjectRef(API_VERSION, "PodClique", clique.set.namespace, dependency.name))
        ready = status_of(clique.set.snapshot.live(ref)).get("readyReplicas") or 0
        if ready < dependency.min_available:
            unmet.append(UnmetDependency(dependency.name, ref, ready, dependency.min_available))
    return unmet


def waits(set: PodCliqueSet, clique: CliqueTemplate) -> list[Wait]:
    """Returns which cliques of the set start before this one, as declared. Unknown names are skipped; they have a finding of their own."""
    if set.startup_type == IN_ORDER and clique.index:
        return [Wait(clique, set.cliques[clique.index - 1], "spec.template.cliqueStartupType")]
    if set.startup_type != EXPLICIT:
        return []
    by_name = {other.name: other for other in set.cliques}
    path = f"{clique.path}.spec.startsAfter"
    return [Wait(clique, by_name[name], f"{path}[{index}]") for index, name in enumerate(clique.starts_after) if name in by_name]


def _base_names(clique: Clique, parent: CliqueTemplate) -> list[str]:
    """Returns the parent's PodCliques in the base gang, including those of other replicas of a scaling group."""
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
