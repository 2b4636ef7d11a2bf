"""Finding what an entry was before an update."""

from __future__ import annotations

import pytest

from grove_compiler.model.checks.update import old_clique, old_group

from .sets import clique, group, pcs

OLD = pcs("s", [clique("a", 1), clique("b", 2)], [group("g", ["a"], 1), group("h", ["b"], 2)])


@pytest.mark.parametrize(
    ("names", "replicas"),
    [(["a", "b"], [1, 2]), (["b", "a"], [2, 1]), (["x", "a"], [None, 1]), (["x", "y", "b"], [None, None, 2])],
    ids=["in their places", "in other places", "one new", "more than before"],
)
def test_a_clique_is_found_by_its_name_wherever_it_stands(names: list[str], replicas: list[int | None]) -> None:
    cliques = pcs("s", [clique(name) for name in names]).cliques
    found = [old_clique(OLD, clique) for clique in cliques]
    assert [before and before.replicas for before in found] == replicas


@pytest.mark.parametrize(("names", "replicas"), [(["g", "h"], [1, 2]), (["h", "g"], [2, 1]), (["x"], [None])])
def test_a_scaling_group_is_found_by_its_name_wherever_it_stands(names: list[str], replicas: list[int | None]) -> None:
    groups = pcs("s", [clique("a")], [group(name, ["a"]) for name in names]).groups
    found = [old_group(OLD, group) for group in groups]
    assert [before and before.replicas for before in found] == replicas
