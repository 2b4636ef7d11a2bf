"""The quick way to place a gang: what it prefers, what it undoes, and that it never breaks a rule."""

from __future__ import annotations

import pytest

from grove_compiler.fit.cluster import ClusterNode
from grove_compiler.fit.gang import GangDemand
from grove_compiler.fit.greedy import Greedy
from grove_compiler.fit.room import Room

from .clusters import gang, group, machine, podgroup, problem, racks


def placed(nodes: list[ClusterNode], *gangs: GangDemand) -> list[dict[str, int]] | None:
    """Pods by node for each gang; None when one finds no room."""
    case = problem(nodes, *gangs)
    room = Room(case)
    greedy = Greedy(case, room)
    found = []
    for place in case.gangs:
        mark = room.mark()
        if not greedy.put(place, case.everywhere):
            assert room.mark() == mark, "what cannot be placed leaves nothing behind"
            return None
        spots: dict[str, int] = {}
        for take in room.takes[mark:]:
            name = nodes[take.node].name
            spots[name] = spots.get(name, 0) + take.pods
        found.append(spots)
    return found


def test_the_tightest_node_is_taken() -> None:
    nodes = [machine("large", gpu=8), machine("small", gpu=2), machine("middle", gpu=4)]
    assert placed(nodes, gang(podgroup(1, gpu=2)), gang(podgroup(1, gpu=3))) == [{"small": 1}, {"middle": 1}]


def test_the_tightest_domain_is_taken() -> None:
    nodes = [machine("a", {"rack": "wide"}, gpu=8), machine("b", {"rack": "wide"}, gpu=8), machine("c", {"rack": "narrow"}, gpu=8)]
    assert placed(nodes, gang(podgroup(1, gpu=8), pack="rack")) == [{"c": 1}]


def test_a_domain_that_only_seems_to_have_room_is_left_for_the_next() -> None:
    nodes = [machine("a", {"rack": "split"}, gpu=4), machine("b", {"rack": "split"}, gpu=4), machine("c", {"rack": "whole"}, gpu=9)]
    assert placed(nodes, gang(podgroup(1, gpu=5), podgroup(1, gpu=3), pack="rack")) == [{"c": 2}]


def test_pods_fill_a_node_before_they_begin_another() -> None:
    assert placed(racks(1, 3, gpu=8), gang(podgroup(5, gpu=2))) == [{"node-0-0": 4, "node-0-1": 1}]


def test_groups_that_are_bound_go_before_those_that_are_free() -> None:
    nodes = [machine("a", {"rack": "r"}, gpu=8), machine("b", gpu=8)]
    assert placed(nodes, gang(podgroup(1, gpu=8), group(podgroup(1, gpu=8), pack="rack"))) == [{"a": 1, "b": 1}]


def test_large_groups_go_before_small_ones() -> None:
    assert placed(racks(2, 1, gpu=8), gang(podgroup(2, gpu=2, pack="rack"), podgroup(1, gpu=8, pack="rack"))) is not None


def test_a_group_within_a_gang_stays_in_the_gangs_domain() -> None:
    nodes = racks(4, 1, gpu=8)
    (spots,) = placed(nodes, gang(group(podgroup(1, gpu=8), pack="rack"), group(podgroup(1, gpu=8), pack="rack"), pack="block")) or [{}]
    assert set(spots) in ({"node-0-0", "node-1-0"}, {"node-2-0", "node-3-0"})


@pytest.mark.parametrize(
    "one",
    [
        gang(podgroup(3, gpu=8), pack="rack"),
        gang(podgroup(1, gpu=8), podgroup(2, gpu=8), pack="rack"),
        gang(podgroup(2, gpu=8), group(podgroup(3, gpu=8), pack="rack"), pack="block"),
        gang(podgroup(1, gpu=1), pack="no-such-label"),
    ],
)
def test_what_has_no_room_leaves_nothing_behind(one: GangDemand) -> None:
    assert placed(racks(2, 2, gpu=8), one) is None


def test_a_preference_is_given_up_before_the_place() -> None:
    assert placed(racks(2, 1, gpu=8), gang(podgroup(2, gpu=8), prefer="rack")) == [{"node-0-0": 1, "node-1-0": 1}]


def test_a_preference_across_what_is_required_is_kept_within_it() -> None:
    nodes = [machine(f"n{number}", {"rack": f"r{number // 2}", "color": f"c{number % 2}"}, gpu=8) for number in range(4)]
    (spots,) = placed(nodes, gang(podgroup(1, gpu=8), podgroup(1, gpu=8), pack="rack", prefer="color")) or [{}]
    assert set(spots) in ({"n0", "n1"}, {"n2", "n3"})


def test_pouring_places_what_fits_and_says_how_much() -> None:
    case = problem(racks(1, 2, gpu=8), gang(podgroup(9, gpu=3)))
    room = Room(case)
    (leaf,) = case.gangs[0].leaves
    assert Greedy(case, room).pour(leaf, case.everywhere) == 4
    assert sum(take.pods for take in room.takes) == 4
