"""Finds objects of one set that would get the same name (shipped semantics §14.3, §14.4)."""

from __future__ import annotations

from collections.abc import Iterator

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.definitions import DEFINITIONS
from grove_compiler.kube.structure import check_and_prune
from grove_compiler.model.checks.name_patterns import NamePattern, Segment, patterns_of
from grove_compiler.model.expanded.context import SetInContext
from grove_compiler.model.spec.podcliqueset import PodCliqueSet
from grove_compiler.record import record

SET_SCHEMA = {"ref": "grove.io/v1alpha1.PodCliqueSet"}
Shape = tuple[int, ...]
"""The positions of a pattern's words; at the others it has indices."""
Numbered = tuple[int, NamePattern]
MAX_INDEX_LENGTH = 10
"""The number of digits of the largest int32, the type of Kubernetes' counts."""


@record
class NameCollision:
    """Two entries of a manifest whose objects of one kind would share a name. `name` is one such name."""

    kind: str
    name: str
    first: NamePattern
    second: NamePattern


def name_collisions(pcs: PodCliqueSet) -> list[NameCollision]:
    """Returns every pair of entries whose objects would share a name within the set. Takes linear time if there is none.

    Claims of ComputeDomains share a name only when the domains do, so only the domains are reported.
    """
    index, collisions = _PatternIndex(), []
    for pattern in patterns_of(pcs):
        for other, name in index.sharing(pattern):
            if not (pattern.is_of_domain and other.is_of_domain):
                collisions.append(NameCollision(pattern.kind, name, other, pattern))
        index.add(pattern)
    return collisions


@record
class SetCollision:
    """An entry of a manifest one of whose objects would have the name of an object of another `set`; `name` is one such name."""

    kind: str
    name: str
    own: NamePattern
    set: str


def collisions_with_sets(pcs: SetInContext) -> list[SetCollision]:
    """Returns the entries whose objects would share a name with those of another set of the namespace, in whatever replica of the two.

    Only the names of sets of which one begins with the other's can collide, as `a` with a clique `0-c` and `a-0` with a clique `c`. The
    operator is told of none: it finds a name taken, and of two such sets the older one may go on.
    """
    if pcs.settings.is_operator or not pcs.snapshot:
        return []
    others = map(_pruned, pcs.snapshot.sets_named_like(pcs.name, pcs.namespace))
    return [collision for other in others for collision in _between(pcs, PodCliqueSet(other, pcs.namespace, pcs.decisions))]


def _pruned(manifest: Manifest) -> Manifest:
    """Returns a set without what no server with our definitions would have stored."""
    _, pruned = check_and_prune(manifest, SET_SCHEMA, DEFINITIONS)
    return pruned if isinstance(pruned, dict) else {}


def _between(pcs: PodCliqueSet, other: PodCliqueSet) -> Iterator[SetCollision]:
    theirs = _PatternIndex()
    for pattern in patterns_of(other):
        theirs.add(pattern)
    for own in patterns_of(pcs):
        for _, name in theirs.sharing(own):
            yield SetCollision(own.kind, name, own, other.name)
            break


class _PatternIndex:
    """Finds the patterns that share a name with another one, without looking at all others.

    Where both patterns have words, these are equal. So the patterns with words at the same positions are indexed by those that a pattern
    of other positions has as well: there are a handful of such shapes, and thousands of patterns.
    """

    def __init__(self) -> None:
        self._shapes: dict[tuple[str, ...], dict[Shape, list[Numbered]]] = {}
        self._by_words: dict[tuple[str, ...], dict[tuple[Shape, Shape], dict[tuple[Segment, ...], list[Numbered]]]] = {}
        self._count = 0

    def add(self, pattern: NamePattern) -> None:
        """Adds a pattern, which `sharing` finds from now on."""
        outline, shape = _outline(pattern), _shape(pattern)
        numbered = self._count, pattern
        self._count += 1
        self._shapes.setdefault(outline, {}).setdefault(shape, []).append(numbered)
        for (own, positions), index in self._by_words.get(outline, {}).items():
            if own == shape:
                index.setdefault(_words_at(pattern, positions), []).append(numbered)

    def sharing(self, pattern: NamePattern) -> Iterator[tuple[NamePattern, str]]:
        """Yields the patterns that share a name with this one, with such a name, in the order in which they were added."""
        outline, shape = _outline(pattern), _shape(pattern)
        found: list[Numbered] = []
        for other in self._shapes.get(outline, {}):
            positions = tuple(sorted({*shape} & {*other}))
            found += self._indexed(outline, other, positions).get(_words_at(pattern, positions), [])
        for _, one in sorted(found, key=lambda numbered: numbered[0]):
            if name := common_name(one.segments, pattern.segments):
                yield one, name

    def _indexed(self, outline: tuple[str, ...], shape: Shape, positions: Shape) -> dict[tuple[Segment, ...], list[Numbered]]:
        indexes = self._by_words.setdefault(outline, {})
        if (shape, positions) not in indexes:
            index = indexes[shape, positions] = {}
            for numbered in self._shapes[outline][shape]:
                index.setdefault(_words_at(numbered[1], positions), []).append(numbered)
        return indexes[shape, positions]


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
    return word.isascii() and word.isdigit() and len(word) <= MAX_INDEX_LENGTH and (word[0] != "0" or word == "0")


def _shape(pattern: NamePattern) -> Shape:
    return tuple(position for position, segment in enumerate(pattern.segments) if isinstance(segment, str))


def _words_at(pattern: NamePattern, positions: Shape) -> tuple[Segment, ...]:
    return tuple(pattern.segments[position] for position in positions)


def _outline(pattern: NamePattern) -> tuple[str, ...]:
    """Returns a key that is equal for all patterns that may share a name: the kind, and all words that are not indices."""
    return (pattern.kind, *("#" if isinstance(segment, int) or _is_index(segment) else segment for segment in pattern.segments))
