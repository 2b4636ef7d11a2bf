"""Generated names that are too long: which, by how much, and what would fit."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.model.checks.name_budget import names_too_long, names_too_long_together
from grove_compiler.model.spec.podcliqueset import PodCliqueSet

from ..shipped import decisions
from .sets import clique, group, pcs, sharing


def grouped(clique_name: str, set_replicas: int = 1, group_replicas: int = 1, pods: int = 1, **fields: Any) -> PodCliqueSet:
    """A set `s…` of 14 characters with a group of 15, so that 16 are left for a clique before the rule of 45 speaks."""
    return pcs("s" * 14, [clique(clique_name, pods)], [group("g" * 15, [clique_name], group_replicas, **fields)], set_replicas)


def test_names_within_the_shipped_limit_fit_while_indices_are_short() -> None:
    assert names_too_long(grouped("c" * 16, set_replicas=1000, group_replicas=1000, pods=1000)) == []


def test_long_indices_make_a_hostname_too_long_that_the_shipped_rule_accepts() -> None:
    found = names_too_long(grouped("c" * 16, set_replicas=100_000, group_replicas=100_000, pods=100_000))
    assert [(name.length, name.limit, name.fits, name.path) for name in found] == [(65, 63, 14, "spec.template.cliques[0].name")]


def test_the_name_is_spelt_with_the_last_index_of_each_kind() -> None:
    found = names_too_long(grouped("c" * 16, set_replicas=100_000, group_replicas=100_000, pods=100_000))[0]
    assert found.what == f'the hostname "{"s" * 14}-99999-{"g" * 15}-99999-{"c" * 16}-99999"'


def test_the_replicas_that_an_autoscaler_may_add_count() -> None:
    set = grouped("c" * 16, set_replicas=100_000, pods=100_000, scaleConfig={"maxReplicas": 100_000})
    assert [name.length for name in names_too_long(set)] == [65]


def test_a_clique_with_a_name_that_fits_exactly_is_fine() -> None:
    assert names_too_long(grouped("c" * 14, set_replicas=100_000, group_replicas=100_000, pods=100_000)) == []


def test_names_that_break_the_shipped_rule_are_left_to_it() -> None:
    assert names_too_long(grouped("c" * 60)) == []


CLAIMS = {
    "of the set for all": (pcs("s", [clique("c")], resourceSharing=sharing("t" * 60)), 66, 57),
    "of the set for each replica": (pcs("s", [clique("c")], resourceSharing=sharing("t" * 60, "PerReplica"), replicas=11), 65, 58),
    "of a group": (pcs("s", [clique("c")], [group("g", ["c"], resourceSharing=sharing("t" * 60))]), 70, 53),
    "of a clique": (pcs("s", [clique("c", resourceSharing=sharing("t" * 60))]), 70, 53),
    "of a clique in a group": (pcs("s", [clique("c", resourceSharing=sharing("t" * 60))], [group("g", ["c"])]), 74, 49),
}


@pytest.mark.parametrize(("set", "length", "fits"), CLAIMS.values(), ids=CLAIMS.keys())
def test_a_claim_needs_a_name_that_a_pod_may_use_for_it(set: PodCliqueSet, length: int, fits: int) -> None:
    assert [(name.length, name.limit, name.fits) for name in names_too_long(set)] == [(length, 63, fits)]


@pytest.mark.parametrize(("set", "length", "fits"), CLAIMS.values(), ids=CLAIMS.keys())
def test_a_template_name_of_the_length_that_fits_is_accepted(set: PodCliqueSet, length: int, fits: int) -> None:
    text = set.manifest
    for holder in (text["spec"]["template"], *text["spec"]["template"]["cliques"], *text["spec"]["template"]["podCliqueScalingGroups"]):
        for entry in holder.get("resourceSharing", []):
            entry["name"] = "t" * fits
    shortened = PodCliqueSet(text, decisions=decisions())
    assert names_too_long(shortened) == []


def test_a_long_name_says_what_it_is() -> None:
    set = pcs("s", [clique("c", resourceSharing=sharing("t" * 60))])
    assert names_too_long(set)[0].what == f'the claim\'s name in pods, "s-0-c-all-{"t" * 60}"'


TOGETHER = {
    "a set and a clique that share 45 characters": (pcs("s" * 20, [clique("c" * 25)]), []),
    "a set and a clique with one too many": (
        pcs("s" * 20, [clique("c" * 26)]),
        [("spec.template.cliques[0].name", 25), ("metadata.name", 19)],
    ),
    "a clique in a group": (
        pcs("s" * 20, [clique("a"), clique("c" * 16)], [group("g" * 10, ["a", "c" * 16])]),
        [
            ("spec.template.podCliqueScalingGroups[0].cliqueNames[1].name", 15),
            ("spec.template.podCliqueScalingGroups[0].name", 9),
            ("metadata.name", 19),
        ],
    ),
    "the worst clique decides for its group and its set": (
        pcs("s" * 20, [clique("c" * 30), clique("d" * 26)]),
        [("spec.template.cliques[0].name", 25), ("spec.template.cliques[1].name", 25), ("metadata.name", 15)],
    ),
    "no room at all": (pcs("s" * 50, [clique("c")]), [("spec.template.cliques[0].name", -5), ("metadata.name", 44)]),
}


@pytest.mark.parametrize(("set", "expected"), TOGETHER.values(), ids=TOGETHER.keys())
def test_every_name_that_could_be_shortened_is_told_with_what_would_fit(set: PodCliqueSet, expected: list[tuple[str, int]]) -> None:
    assert [(name.path, name.fits) for name in names_too_long_together(set)] == expected


@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 60))
def test_what_fits_is_the_longest_that_is_accepted(of_set: int, of_clique: int, of_group: int) -> None:
    def lengths(of_clique: int) -> PodCliqueSet:
        groups = [group("g" * of_group, ["c" * of_clique])] if of_group else []
        return pcs("s" * of_set, [clique("c" * of_clique)], groups)

    for name in names_too_long_together(lengths(of_clique))[:1]:
        if name.fits > 0:
            assert names_too_long_together(lengths(name.fits)) == []
        assert names_too_long_together(lengths(max(name.fits, 0) + 1)) != []
