"""Recognizes states of a search that differ only by the names of nodes and domains, so that one of them need not be visited."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from grove_compiler.fit.problem import Family, Problem, Vector

Tree = list[Any]
"""A tree of domains in domains; the innermost lists hold node numbers."""


class Symmetry:
    """Holds the nodes as a tree of nested domains, in which siblings of one form are interchangeable.

    Families that do not nest tell nodes apart by name instead: fewer states are then seen to be the same, never too many.
    """

    def __init__(self, problem: Problem, families: Sequence[Family], nodes: Sequence[int]) -> None:
        """`nodes` are those that can change at all."""
        chain, rest = _chain(families)
        kinds: dict[Hashable, int] = {}
        self._nodes = nodes
        self._kind = {node: kinds.setdefault(_kind(problem, rest, node), len(kinds)) for node in nodes}
        self._parent = {node: tuple(family.home[node] for family in chain) for node in nodes}
        self._tree = _nest(nodes, self._parent, len(chain))
        self._depth = len(chain)
        self._leaves: dict[Hashable, int] = {}
        self._forms: dict[Hashable, int] = {}

    def form(self, free: Sequence[Vector], pins: Sequence[int]) -> int:
        """Returns a key that is equal for states which a renaming of nodes and domains turns into each other.

        The masks in `pins` keep their meaning.
        """
        numbers, leaves = self._leaves, {}
        for node in self._nodes:
            pinned = tuple([mask >> node & 1 for mask in pins])
            leaves[node] = numbers.setdefault((self._kind[node], pinned, free[node]), len(numbers))
        return self._number(self._tree, leaves, self._depth)

    def like(self, node: int, free: Vector) -> Hashable:
        """Returns a key that is equal for interchangeable nodes: of one innermost domain and one kind, with the same free vector."""
        return self._parent[node], self._kind[node], free

    def _number(self, tree: Tree, leaves: Mapping[int, int], depth: int) -> int:
        """Returns the number of a form, the same whenever that form is seen again."""
        if depth:
            form: Hashable = (depth, *sorted([(outside, self._number(part, leaves, depth - 1)) for outside, part in tree]))
        else:
            form = (0, *sorted([leaves[node] for node in tree]))
        return self._forms.setdefault(form, len(self._forms))


def _kind(problem: Problem, rest: Sequence[Family], node: int) -> Hashable:
    return problem.node_kinds[node], tuple(family.home[node] for family in rest)


def _chain(families: Sequence[Family]) -> tuple[list[Family], list[Family]]:
    """Splits the families into a chain, of which each is finer than the one before it, and the others."""
    chain: list[Family] = []
    rest: list[Family] = []
    for family in sorted(families, key=lambda family: len(family.masks)):
        (chain if not chain or _refines(family, chain[-1]) else rest).append(family)
    return chain, rest


def _refines(fine: Family, coarse: Family) -> bool:
    """Reports whether each domain lies in one domain of the coarser family, or wholly outside all of them."""
    homes: dict[int, int] = {}
    return all(homes.setdefault(inner, outer) == outer for inner, outer in zip(fine.home, coarse.home, strict=True) if inner >= 0)


def _nest(nodes: Sequence[int], parent: Mapping[int, tuple[int, ...]], depth: int, level: int = 0) -> Tree:
    if level == depth:
        return list(nodes)
    parts: dict[int, list[int]] = {}
    for node in nodes:
        parts.setdefault(parent[node][level], []).append(node)
    return [(domain < 0, _nest(part, parent, depth, level + 1)) for domain, part in parts.items()]
