"""Who shares claims, and whom filters may name."""

from __future__ import annotations

from grove_compiler.model.spec.podcliqueset import sharing_levels

from .sets import clique, group, pcs, sharing


def test_levels_that_share_nothing_are_left_out() -> None:
    assert sharing_levels(pcs("s", [clique("a")], [group("g", ["a"])])) == []


def test_the_widest_level_comes_first() -> None:
    set = pcs(
        "s", [clique("a", resourceSharing=sharing("t"))], [group("g", ["a"], resourceSharing=sharing("t"))], resourceSharing=sharing("t")
    )
    assert [level.origin for level in sharing_levels(set)] == ["the set", 'scaling group "g"', 'clique "a"']


def test_the_filters_of_a_set_may_name_all_cliques_and_groups() -> None:
    level = sharing_levels(pcs("s", [clique("a"), clique("b")], [group("g", ["a"])], resourceSharing=sharing("t")))[0]
    assert (list(level.clique_names), list(level.group_names)) == (["a", "b"], ["g"])


def test_the_filters_of_a_group_may_name_its_cliques_only() -> None:
    level = sharing_levels(pcs("s", [clique("a"), clique("b")], [group("g", ["a"], resourceSharing=sharing("t"))]))[0]
    assert (list(level.clique_names), list(level.group_names)) == (["a"], [])


def test_a_level_knows_what_it_shares_in_order() -> None:
    level = sharing_levels(pcs("s", [clique("a", resourceSharing=[*sharing("t"), *sharing("u")])]))[0]
    assert [ref.name for ref in level.refs] == ["t", "u"]
