"""Builds patterns of generated names: words and indices with dashes between them (shipped semantics §2.1).

One pattern covers the names of a template in all replicas, so that the names of a set can be checked before it is expanded, in time that
is independent of the number of replicas.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from grove_compiler.model.spec.mnnvl import ANNOTATIONS, CLIQUE, GROUP, SCALING_GROUP_REPLICA, Membership
from grove_compiler.model.spec.podcliqueset import PodCliqueSet
from grove_compiler.model.spec.sharing import ALL_REPLICAS, SharingRef
from grove_compiler.model.spec.templates import AutoScaling, CliqueTemplate, ScalingGroupTemplate
from grove_compiler.record import record

Segment = str | int
"""A word without a dash, or the number of values of an index: 3 stands for the words 0, 1 and 2."""

POD_CLIQUE = "PodClique"
AUTOSCALER = "HorizontalPodAutoscaler"
CLAIM = "ResourceClaim"
DOMAIN = "ComputeDomain"

_Named = TypeVar("_Named", CliqueTemplate, ScalingGroupTemplate, SharingRef)


@record
class NamePattern:
    """The pattern of the names of all objects of one kind that come from one entry of the manifest.

    `own` is the name of that entry and `path` its field; `origin` is what messages call the entry. `clique` and `group` are the names of
    the clique and the scaling group that it belongs to, empty for none. `is_of_domain` marks claims of ComputeDomains, which have a
    different, short name within pods.
    """

    kind: str
    segments: tuple[Segment, ...]
    own: str
    path: str
    origin: str
    clique: str = ""
    group: str = ""
    is_of_domain: bool = False

    def longest(self, index: int | None = None) -> str:
        """Returns the longest name, with the last value of each index; `index` appends another index with that many values."""
        segments = self.segments if index is None else (*self.segments, index)
        return "-".join(segment if isinstance(segment, str) else str(segment - 1) for segment in segments)


def patterns_of(pcs: PodCliqueSet) -> list[NamePattern]:
    """Returns the patterns of all PodCliques, autoscalers, claims and ComputeDomains of a set, outermost first.

    Duplicate and empty names in a list have findings of their own: only the first entry of each name counts.
    """
    top: tuple[Segment, ...] = (*words(pcs.name), index_count(pcs.replica_count))
    patterns = _claims(pcs.resource_sharing, words(pcs.name), index_count(pcs.replica_count), "the set")
    for group in _first_of_each(pcs.groups):
        patterns += _of_group(group, top)
    for clique in _first_of_each(pcs.cliques):
        if clique.group is None:
            patterns += _of_clique(clique, (*top, *words(clique.name)), "")
    return patterns + _domains(pcs, top) if pcs.mnnvl.is_mentioned else patterns


def words(name: str) -> tuple[Segment, ...]:
    """Splits a name into the words between its dashes."""
    return tuple(name.split("-"))


def index_count(replicas: int | None, autoscaling: AutoScaling | None = None) -> int:
    """Returns how many replicas there may be at once, at least one, including those that an autoscaler may add."""
    return max(replicas or 1, (autoscaling.max_replicas or 1) if autoscaling else 1, 1)


def pods_of(clique: CliqueTemplate) -> int:
    """Returns how many pods a clique may have at once."""
    return index_count(clique.replicas, clique.autoscaling)


def _of_group(group: ScalingGroupTemplate, top: tuple[Segment, ...]) -> list[NamePattern]:
    name = (*top, *words(group.name))
    count = index_count(group.replicas, group.autoscaling)
    origin = f'scaling group "{group.name}"'
    patterns = _claims(group.resource_sharing, name, count, origin, group=group.name)
    if group.autoscaling:
        scaling = f"the scaleConfig of {origin}"
        patterns.append(NamePattern(AUTOSCALER, name, group.name, f"{group.path}.name", scaling, group=group.name))
    for clique in _first_of_each(group.cliques):
        patterns += _of_clique(clique, (*name, count, *words(clique.name)), group.name)
    return patterns


def _of_clique(clique: CliqueTemplate, name: tuple[Segment, ...], group: str) -> list[NamePattern]:
    origin = f'clique "{clique.name}"' + (f' of scaling group "{group}"' if group else "")
    path = f"{clique.path}.name"
    patterns = [NamePattern(POD_CLIQUE, name, clique.name, path, origin, clique.name, group)]
    if clique.autoscaling and not group:
        patterns.append(NamePattern(AUTOSCALER, name, clique.name, path, f"the autoScalingConfig of {origin}", clique.name))
    return patterns + _claims(clique.resource_sharing, name, pods_of(clique), origin, clique.name, group)


def _claims(
    refs: list[SharingRef], owner: tuple[Segment, ...], count: int, origin: str, clique: str = "", group: str = ""
) -> list[NamePattern]:
    """Returns the patterns of the shared claims of an owner that has `count` replicas."""
    patterns = []
    for ref in _first_of_each(refs):
        middle: Segment = "all" if ref.scope == ALL_REPLICAS else count
        segments = (*owner, middle, *words(ref.name))
        what = f'resourceSharing "{ref.name}" of {origin}'
        patterns.append(NamePattern(CLAIM, segments, ref.name, f"{ref.path}.name", what, clique, group))
    return patterns


def _domains(pcs: PodCliqueSet, top: tuple[Segment, ...]) -> list[NamePattern]:
    """Returns the patterns of the ComputeDomains that cliques join, each once, and of the claims that pods share."""
    by_domain: dict[tuple[bool, str, tuple[Segment, ...]], list[NamePattern]] = {}
    for clique in _first_of_each(pcs.cliques):
        membership = pcs.mnnvl.membership(clique)
        if membership is not None:
            pattern = _domain(pcs, clique, membership, top)
            patterns = [pattern]
            if membership.mnnvl_mode == ANNOTATIONS:
                claim = (*pattern.segments[:-1], "mnnvl", "claim")
                patterns.append(NamePattern(CLAIM, claim, pattern.own, pattern.path, pattern.origin, is_of_domain=True))
            by_domain.setdefault((membership.mnnvl_mode == GROUP, membership.scope, pattern.segments), patterns)
    return [pattern for patterns in by_domain.values() for pattern in patterns]


def _domain(pcs: PodCliqueSet, clique: CliqueTemplate, membership: Membership, top: tuple[Segment, ...]) -> NamePattern:
    if membership.mnnvl_mode == GROUP:
        return NamePattern(DOMAIN, (*top, *words(membership.group)), membership.group, membership.place, f'group "{membership.group}"')
    group = clique.group
    member = (*top, *words(group.name), index_count(group.replicas, group.autoscaling)) if group else top
    if membership.scope == SCALING_GROUP_REPLICA and group:
        return NamePattern(DOMAIN, (*member, "cd"), group.name, f"{group.path}.name", f'the domain of scaling group "{group.name}"')
    if membership.scope == CLIQUE:
        return NamePattern(
            DOMAIN, (*member, *words(clique.name), "cd"), clique.name, f"{clique.path}.name", f'the domain of clique "{clique.name}"'
        )
    return NamePattern(DOMAIN, (*top, "cd"), pcs.name, "metadata.name", "the domain of each replica")


def _first_of_each(entries: Iterable[_Named]) -> Iterator[_Named]:
    seen = {""}
    for entry in entries:
        if entry.name not in seen:
            seen.add(entry.name)
            yield entry
