"""Finds objects of one set that would get the same name (shipped semantics §14.3, §14.4)."""

from __future__ import annotations

from collections.abc import Iterator

from grove_compiler.model.checks.name_patterns import NamePattern, Segment, patterns_of
from grove_compiler.model.expanded.context import SetInContext
from grove_compiler.model.spec.podcliqueset import PodCliqueSet
from grove_compiler.record import record

LONGEST_INDEX = 10
"""The number of digits of the largest int32, the type of Kubernetes' counts."""


@record
class NameCollision:
    """Two entries of a manifest whose objects of one kind would share a name. `name` is one such name."""

    kind: str
    name: str
    first: NamePattern
    second: NamePattern


def name_collisions(set: PodCliqueSet) -> list[NameCollision]:
    """Returns every pair of entries whose objects would share a name within the set. Takes linear time if there is none.

    Claims of ComputeDomains share a name only when the domains do, so only the domains are reported.
    """
    by_outline: dict[tuple[str, ...], list[NamePattern]] = {}
    collisions = []
    for pattern in patterns_of(set):
        others = by_outline.setdefault(_outline(pattern), [])
        for other in others:
            name = common_name(other.segments, pattern.segments)
            if name and not (pattern.is_of_domain and other.is_of_domain):
                collisions.append(NameCollision(pattern.kind, name, other, pattern))
        others.append(pattern)
    return collisions


@record
class SetCollision:
    """An entry of a manifest one of whose objects would have the name of an object of another `set`; `name` is one such name."""

    kind: str
    name: str
    own: NamePattern
    set: str


def collisions_with_sets(set: SetInContext) -> list[SetCollision]:
    """Returns the entries whose objects would share a name with those of another set of the namespace, in whatever replica of the two.

    Only the names of sets of which one begins with the other's can collide, as `a` with a clique `0-c` and `a-0` with a clique `c`. The
    operator is told of none: it finds a name taken, and of two such sets the older one may go on.
    """
    if set.settings.is_operator or not set.snapshot:
        return []
    live = set.snapshot.labelled("grove.io", "PodCliqueSet", namespace=set.namespace)
    others = [PodCliqueSet(manifest, set.namespace) for manifest in live if _is_prefix(set.name, manifest["metadata"]["name"])]
    return [collision for other in others for collision in _between(set, other)]


def _is_prefix(one: str, other: str) -> bool:
    return one.startswith(f"{other}-") or other.startswith(f"{one}-")


def _between(set: PodCliqueSet, other: PodCliqueSet) -> Iterator[SetCollision]:
    theirs: dict[tuple[str, ...], list[NamePattern]] = {}
    for pattern in patterns_of(other):
        theirs.setdefault(_outline(pattern), []).append(pattern)
    for own in patterns_of(set):
        names = (common_name(own.segments, pattern.segments) for pattern in theirs.get(_outline(own), []))
        if name := next(filter(None, names), ""):
            yield SetCollision(own.kind, name, own, other.name)


def common_name(left: tuple[Segment, ...], right: tuple[Segment, ...]) -> str:
    """Returns a name that both patterns can produce, with the lowest indices; empty when there is none."""
    if len(left) != len(right):
        return ""
    segments = [_common(one, other) for one, other in zip(left, right, strict=True)]
    return "" if any(segment is None for segment in segments) else "-".join(segment or "" for segment in segments)


def _common(left: Segment, right: Segment) -> str | None:
    if isinstance(left, int):
        return _word_of_index(right, left)
    return _word_of_index(left, right) if isinstance(right, int) else left if left == right else None


def _word_of_index(word: Segment, count: int) -> str | None:
    """Returns the word that an index with `count` values can equal; None when it cannot. Two indices share at least 0."""
    if isinstance(word, int):
        return "0"
    return word if _is_index(word) and int(word) < count else None


def _is_index(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) <= LONGEST_INDEX and (word[0] != "0" or word == "0")


def _outline(pattern: NamePattern) -> tuple[str, ...]:
    """Returns a key that is equal for all patterns that may share a name: the kind, and all words that are not indices."""
    return (pattern.kind, *("#" if isinstance(segment, int) or _is_index(segment) else segment for segment in pattern.segments))
