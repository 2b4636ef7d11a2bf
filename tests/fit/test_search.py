"""The exhaustive search: its answers, its steps, and the states that it takes for the same."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from grove_compiler.fit.cluster import ClusterNode
from grove_compiler.fit.gang import GangDemand
from grove_compiler.fit.problem import Problem
from grove_compiler.fit.room import Room
from grove_compiler.fit.search import MAX_ITEMS, OutOfSteps, Search, Steps, _spreads
from grove_compiler.fit.symmetry import Symmetry
from tests.suite.rows import rows

from .clusters import gang, machine, podgroup, problem, racks


def search(nodes: list[ClusterNode], gangs: list[GangDemand], steps: int = 10**7) -> Search:
    case = problem(nodes, *gangs)
    return Search(Room(case), case.gangs, Steps(steps))


PUZZLE = [gang(podgroup(2, gpu=5)), gang(podgroup(3, gpu=2))]
"""16 GPUs on two nodes of 8: each holds 5 and 2, and the third pod of 2 finds 1 and 1; on three nodes there is room."""


def test_a_placement_is_found_or_proven_not_to_be_there() -> None:
    assert search(racks(1, 2, gpu=8), PUZZLE).run() is None
    takes = search(racks(1, 3, gpu=8), PUZZLE).run()
    assert takes is not None and sum(take.pods for take in takes) == 5


def test_the_search_leaves_the_room_as_it_was() -> None:
    looking = search(racks(1, 3, gpu=8), PUZZLE)
    looking.run()
    assert looking.room.takes == [] and looking.room.free == looking.problem.free


def test_without_steps_there_is_no_answer() -> None:
    with pytest.raises(OutOfSteps):
        search(racks(1, 2, gpu=8), PUZZLE, steps=3).run()


def test_a_search_that_could_not_end_is_not_begun() -> None:
    with pytest.raises(OutOfSteps):
        search(racks(1, 1), [gang(podgroup(1)) for _ in range(MAX_ITEMS)]).run()


def test_the_longest_search_that_is_begun_does_not_run_out_of_stack() -> None:
    gangs = [gang(podgroup(200)) for _ in range(MAX_ITEMS // 2)]
    takes = search([machine(f"n{number}", pods=1) for number in range(200 * len(gangs))], gangs, 10**9).run()
    assert takes is not None and len(takes) == 200 * len(gangs)


def test_steps_are_shared_out_and_counted() -> None:
    steps = Steps(100)
    share = steps.share()
    share.spend(30)
    steps.take_back(share)
    assert (share.left, steps.left, steps.used) == (20, 70, 30)
    with pytest.raises(OutOfSteps):
        steps.spend(71)
    assert (steps.left, steps.used) == (70, 30)


def test_equal_nodes_are_not_tried_one_after_the_other() -> None:
    """Of 20 equal racks, whichever the first gang takes is as good as another: steps grow with the racks, not with their orders."""
    looking = search(racks(20, 2, gpu=8), [gang(podgroup(2, gpu=5), pack="rack") for _ in range(21)])
    assert looking.run() is None
    assert looking.steps.used <= 21 * 20 * 40 * 2


@rows(
    ("groups", "count", "expected"),
    [
        ([(2, [0, 1])], 2, [{0: 2}, {0: 1, 1: 1}]),
        ([(1, [0]), (1, [1])], 1, [{0: 1}, {1: 1}]),
        ([(3, [0, 1, 2])], 3, [{0: 3}, {0: 2, 1: 1}, {0: 1, 1: 1, 2: 1}]),
        ([(1, [0])], 2, []),
        ([], 1, []),
        ([(2, [0, 1]), (1, [5])], 3, [{0: 2, 1: 1}, {0: 2, 5: 1}, {0: 1, 1: 1, 5: 1}]),
    ],
)
def test_spreads_are_all_ways_but_for_equal_nodes(groups: list[tuple[int, list[int]]], count: int, expected: list[dict[int, int]]) -> None:
    assert [dict(spread) for spread in _spreads(groups, count)] == expected


def test_spreads_over_different_nodes_are_complete() -> None:
    found = Counter(tuple(sorted(spread)) for spread in _spreads([(2, [0]), (1, [1]), (3, [2])], 3))
    ways = [(a, b, c) for a in range(3) for b in range(2) for c in range(4) if a + b + c == 3]
    assert found == Counter(tuple((node, number) for node, number in enumerate(way) if number) for way in ways)


def shuffled(nodes: list[ClusterNode], seed: int) -> list[ClusterNode]:
    """The same cluster with other names: racks of a block, and nodes of a rack, in another order."""
    random = Random(seed)
    blocks: dict[str, dict[str, list[ClusterNode]]] = {}
    for node in nodes:
        blocks.setdefault(node.labels["block"], {}).setdefault(node.labels["rack"], []).append(node)
    order = []
    for block in random.sample(sorted(blocks), len(blocks)):
        for rack in random.sample(sorted(blocks[block]), len(blocks[block])):
            order += random.sample(blocks[block][rack], len(blocks[block][rack]))
    return order


def form(nodes: list[ClusterNode]) -> tuple[Symmetry, object]:
    case: Problem = problem(nodes, gang(podgroup(1, gpu=1, pack="rack"), pack="block"))
    symmetry = Symmetry(case, list(case.families.values()), range(len(nodes)))
    return symmetry, symmetry.form(case.free, [])


def lopsided(first: int, second: int, third: int) -> list[ClusterNode]:
    nodes = racks(4, 2, gpu=8)
    for number, free in zip((0, 3, 5), (first, second, third), strict=True):
        nodes[number].allocatable["nvidia.com/gpu"] = free
    return nodes


@rows("seed", range(20))
def test_a_renamed_state_has_the_same_form(seed: int) -> None:
    nodes = lopsided(1, 2, 3)
    case = problem(nodes, gang(podgroup(1, gpu=1, pack="rack"), pack="block"))
    other = problem(shuffled(nodes, seed), gang(podgroup(1, gpu=1, pack="rack"), pack="block"))
    symmetry = Symmetry(case, list(case.families.values()), range(8))
    order = [nodes.index(node) for node in shuffled(nodes, seed)]
    swapped = [other.free[order.index(number)] for number in range(8)]
    assert swapped == case.free
    # the state in which the renamed nodes have what the original ones had
    renamed = [case.free[order[number]] for number in range(8)]
    assert symmetry.form(renamed, []) == symmetry.form(case.free, [])


@pytest.mark.parametrize("free", [(1, 2, 4), (8, 2, 3), (1, 3, 3)])
def test_a_state_with_other_amounts_has_another_form(free: tuple[int, int, int]) -> None:
    symmetry, usual = form(lopsided(1, 2, 3))
    case = problem(lopsided(*free), gang(podgroup(1, gpu=1, pack="rack"), pack="block"))
    assert symmetry.form(case.free, []) != usual


def test_which_racks_share_a_block_is_part_of_the_form() -> None:
    symmetry, _ = form(racks(4, 1, gpu=8))
    taken, full = (1, 110), (8, 110)
    assert symmetry.form([taken, taken, full, full], []) != symmetry.form([taken, full, taken, full], [])
    assert symmetry.form([taken, taken, full, full], []) == symmetry.form([full, full, taken, taken], [])


def test_a_pinned_domain_is_not_the_same_as_another() -> None:
    symmetry, _ = form(racks(2, 1, gpu=8))
    free = [(1, 110), (8, 110)]
    assert symmetry.form(free, [0b01]) != symmetry.form(free, [0b10])


def test_racks_that_straddle_blocks_are_never_taken_for_each_other() -> None:
    nodes = [machine(f"n{number}", {"block": f"b{number // 2}", "rack": f"r{number % 2}"}, gpu=8) for number in range(4)]
    symmetry, _ = form(nodes)
    taken, full = (1, 110), (8, 110)
    assert symmetry.form([taken, full, full, full], []) != symmetry.form([full, taken, full, full], [])
