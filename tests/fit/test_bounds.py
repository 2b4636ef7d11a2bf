"""Proofs that things do not fit, each against its own small brute force."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_compiler.fit.bounds import Bounds, Item, overflows, usable
from grove_compiler.fit.gang import GangDemand
from tests.suite.effort import runs
from tests.suite.rows import rows

from .clusters import gang, machine, podgroup, problem, racks

ITEMS = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 2)), min_size=1, max_size=3)
BINS = st.lists(st.tuples(st.integers(0, 12), st.just(1)), max_size=3)


def sums(items: list[Item]) -> set[int]:
    """All sums of things, by trying."""
    choices = [range(count + 1) for _, count in items]
    return {sum(number * size for number, (size, _) in zip(chosen, items, strict=True)) for chosen in product(*choices)}


def can_pack(items: list[Item], bins: list[Item]) -> bool:
    """Whether things fit into bins, by trying."""
    single = [size for size, count in items for _ in range(count)]
    free = [size for size, _ in bins]
    for spots in product(range(len(free)), repeat=len(single)):
        left = list(free)
        for size, spot in zip(single, spots, strict=True):
            left[spot] -= size
        if all(room >= 0 for room in left):
            return True
    return False


@given(ITEMS, st.integers(0, 40))
def test_what_is_usable_is_never_less_than_the_largest_sum(items: list[Item], free: int) -> None:
    assert usable(items)(free) >= max(number for number in sums(items) if number <= free)


@pytest.mark.parametrize(("free", "expected"), [(3, 0), (8, 5), (11, 10), (99, 15)])
def test_of_things_of_one_size_as_many_are_usable_as_go_in(free: int, expected: int) -> None:
    assert usable([(5, 3)])(free) == expected


@settings(max_examples=runs(300))
@given(ITEMS, BINS)
def test_what_overflows_cannot_be_packed(items: list[Item], bins: list[Item]) -> None:
    if overflows(items, bins):
        assert not can_pack(items, bins)


@rows(
    ("items", "bins", "expected"),
    [
        ([(4, 4)], [(6, 1)] * 3, True),  # 16 of 18, but a bin of 6 holds one
        ([(5, 3), (1, 3)], [(9, 1)] * 2, True),  # three that are more than half of a bin
        ([(4, 3)], [(6, 1)] * 3, False),
        ([(3, 4)], [(6, 1)] * 2, False),
        ([(1, 1)], [], True),
        ([(1, 1)], [(0, 5)], True),
        ([], [], False),
    ],
)
def test_pieces_matter_as_well_as_totals(items: list[Item], bins: list[Item], expected: bool) -> None:
    assert overflows(items, bins) is expected


def refuted(nodes: int, *gangs: GangDemand) -> str:
    case = problem(racks(4, nodes, gpu=8), *gangs)
    *inside, last = case.gangs
    return Bounds(case).refute(inside, last)


@rows(
    ("gangs", "words"),
    [
        ([gang(podgroup(3, gpu=8), pack="rack")], "no domain of rack has room for all its pods"),
        ([gang(podgroup(1), podgroup(2, gpu=5, pack="host"))], "no domain of kubernetes.io/hostname has room for all pods of a podgroup"),
        ([gang(podgroup(9, gpu=5))], "no set of nodes has room for all its pods"),
        ([gang(podgroup(1, gpu=9))], "no set of nodes has room for all its pods"),
        ([gang(podgroup(5, gpu=5)), gang(podgroup(4, gpu=5))], "all nodes together hold fewer than 9 pods of one kind"),
        (
            [gang(podgroup(5, gpu=5)), gang(podgroup(4, gpu=6))],
            "the pods request more nvidia.com/gpu than the nodes have in usable portions",
        ),
        (
            [gang(podgroup(3, gpu=3), pack="rack") for _ in range(5)],
            "the domains of rack have too little nvidia.com/gpu in usable portions",
        ),
    ],
)
def test_each_bound_has_its_words(gangs: list[GangDemand], words: str) -> None:
    assert refuted(2, *gangs) == words


def test_what_fits_is_not_refuted() -> None:
    assert refuted(2, *(gang(podgroup(2, gpu=8), pack="rack") for _ in range(4))) == ""


def test_a_label_that_no_node_has_leaves_no_domain() -> None:
    case = problem([machine("a", gpu=8)], gang(podgroup(1), pack="rack"))
    assert Bounds(case).refute([], case.gangs[0]) == "no domain of rack has room for all its pods"


def test_nodes_that_pods_may_not_run_on_hold_none() -> None:
    selector = {"nodeSelector": {"rack": "rack-0"}}
    assert refuted(1, gang(podgroup(1, gpu=8, spec=selector)), gang(podgroup(1, gpu=4, spec=selector))).startswith("the pods request more")
