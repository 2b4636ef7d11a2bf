"""Computes what a clique waits for before its containers start (shipped semantics §5.1)."""

from __future__ import annotations

from itertools import chain

from grove_compiler.model.expanded.attempts.clique_attempt import gone_succeeded_pods
from grove_compiler.model.expanded.structure import Clique, Replica
from grove_compiler.model.lazy import memoized
from grove_compiler.model.spec.podcliqueset import PodCliqueSet
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
class AwaitedClique:
    """The PodClique of that name, of which a new pod waits for so many ready pods."""

    name: str
    pods: int


def awaited_cliques(clique: Clique) -> list[AwaitedClique]:
    """Returns what new pods of a clique wait for: no cliques that are scaled to zero, and no ranks that have succeeded and are gone."""
    awaited = (AwaitedClique(one.name, one.expected_pods - gone_succeeded_pods(one)) for one in dependencies(clique))
    return [one for one in awaited if one.pods > 0]


@memoized
def dependencies(clique: Clique) -> list[Clique]:
    """Returns the PodCliques that a clique waits for, in the order of its template.

    A clique of a scaled gang waits only for cliques of its own scaling-group replica, since that may be added at any time. A clique of the
    base gang does not wait for cliques in other gangs, which its init container does not see.
    """
    find = _in_base_gang if clique.gang_name == clique.replica.name else _in_own_member
    return [parent for wait in waits(clique.set, clique.template) for parent in find(clique, wait.other)]


def waits(pcs: PodCliqueSet, clique: CliqueTemplate) -> list[Wait]:
    """Returns which cliques of the set start before this one, as declared. Unknown names are skipped; they have a finding of their own."""
    if pcs.startup_type == IN_ORDER and clique.index:
        return [Wait(clique, pcs.cliques[clique.index - 1], "spec.template.cliqueStartupType")]
    if pcs.startup_type != EXPLICIT:
        return []
    by_name = pcs.cliques_by_name
    path = f"{clique.path}.spec.startsAfter"
    return [Wait(clique, by_name[name], f"{path}[{index}]") for index, name in enumerate(clique.starts_after) if name in by_name]


def _in_base_gang(clique: Clique, template: CliqueTemplate) -> list[Clique]:
    """Returns the PodCliques of a template in the base gang, including those of other replicas of a scaling group."""
    found = _base_gang_by_template(clique.replica).get(template.name, [])
    return [each for each in found if each.member is None or each.member.group.template is template.group]


@memoized
def _base_gang_by_template(replica: Replica) -> dict[str, list[Clique]]:
    """Indexes the PodCliques of a replica's base gang by the names of their templates."""
    members = [member.cliques for group in replica.scaling_groups for member in group.base_members]
    by_name: dict[str, list[Clique]] = {}
    for each in chain(replica.cliques, *members):
        by_name.setdefault(each.declared.name, []).append(each)
    return by_name


def _in_own_member(clique: Clique, template: CliqueTemplate) -> list[Clique]:
    """Returns the PodClique of a template in the same replica of a scaling group."""
    cliques = clique.member.cliques if clique.member is not None else []
    return [each for each in cliques if each.declared.name == template.name]
