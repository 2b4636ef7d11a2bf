"""Nodes and gangs in numbers."""

from __future__ import annotations

from typing import Any

import pytest

from grove_compiler.fit.gang import DomainKey
from grove_compiler.fit.problem import Family
from grove_compiler.fit.room import Room, bits

from .clusters import GPU, gang, group, key, machine, pod, podgroup, problem, racks


def test_a_family_has_one_mask_a_domain_and_knows_each_nodes_home() -> None:
    family = Family(DomainKey(("rack",), ("rack",)), [*racks(2, 2), machine("stray")])
    assert (family.names, family.masks, family.home) == (["rack-0", "rack-1"], [0b00011, 0b01100], [0, 0, 1, 1, -1])


def test_domains_of_a_topology_are_told_apart_by_all_labels_above() -> None:
    nodes = [machine("a", {"block": "b0", "rack": "r"}), machine("b", {"block": "b1", "rack": "r"}), machine("c", {"rack": "r"})]
    alone, within = Family(DomainKey(("rack",), ("rack",)), nodes), Family(DomainKey(("block", "rack"), ("block", "rack")), nodes)
    assert (alone.masks, within.masks, within.home) == ([0b111], [0b01, 0b10], [0, 1, -1])


def test_a_node_outside_the_topology_is_in_none_of_its_domains() -> None:
    """KAI leaves out nodes that lack any label of the topology, be it a lower one."""
    assert Family(DomainKey(("rack",), ("rack", "missing")), racks(1, 1)).home == [-1]


def test_pods_that_ask_for_the_same_are_of_one_type() -> None:
    case = problem(racks(1, 1, gpu=8), gang(podgroup(1, gpu=1), podgroup(5, gpu=1), podgroup(1, gpu=2)))
    assert [leaf.type.number for leaf in case.gangs[0].leaves if leaf.type] == [0, 0, 1]


def test_pods_with_another_selector_are_of_another_type() -> None:
    case = problem(racks(1, 1), gang(podgroup(1), podgroup(1, spec={"nodeSelector": {"rack": "rack-0"}})))
    assert len(case.types) == 2


def test_only_resources_that_somebody_asks_for_count() -> None:
    case = problem(racks(1, 1, gpu=8, cpu=4, memory="1Gi"), gang(podgroup(1, gpu=1)))
    assert (case.resources, case.free) == ([GPU, "pods"], [(8, 110)])


def test_a_gang_demands_the_sum_of_its_pods() -> None:
    case = problem(racks(1, 1), gang(group(podgroup(2, gpu=3), podgroup(1, gpu=1)), podgroup(4)))
    root = case.gangs[0]
    assert (root.demand, root.places[0].demand) == ((7, 7), (7, 3))


def test_shapes_are_equal_whatever_the_order_and_the_names() -> None:
    one = gang(podgroup(1, gpu=1), podgroup(2, pack="rack", name="x"), pack="block")
    two = gang(podgroup(2, pack="rack", name="y"), podgroup(1, gpu=1), pack="block", name="other")
    three = gang(podgroup(2, pack="host"), podgroup(1, gpu=1), pack="block")
    first, second, third = problem(racks(1, 1), one, two, three).gangs
    assert first.shape == second.shape != third.shape


def test_a_resized_place_has_other_counts_and_only_constraints_of_the_given_levels() -> None:
    case = problem(racks(1, 1), gang(group(podgroup(1, pack="host"), pack="rack"), pack="block"))
    copy = case.resized(case.gangs[0], {0: 5}, ("gang", "podgroup"))
    kept = [place.required.key.name if place.required else "" for place in copy.walk()]
    assert (kept, copy.demand, case.gangs[0].demand) == (["block", "", "kubernetes.io/hostname"], (5,), (1,))


def port(number: int, address: str = "") -> dict[str, Any]:
    host = {"hostIP": address} if address else {}
    return {"containers": [{"ports": [{"containerPort": number, "hostPort": number, **host}]}]}


@pytest.mark.parametrize(
    ("first", "second", "room"),
    [
        (port(80), port(80), False),
        (port(80), port(81), True),
        (port(80), port(80, "10.0.0.1"), False),
        (port(80, "10.0.0.1"), port(80, "10.0.0.2"), True),
        (port(80, "10.0.0.1"), port(80, "10.0.0.1"), False),
    ],
)
def test_pods_that_want_one_port_of_a_host_cannot_share_it(first: dict[str, Any], second: dict[str, Any], room: bool) -> None:
    case = problem(racks(1, 1), gang(podgroup(1, spec=first), podgroup(1, spec=second)))
    one, two = (leaf.type for leaf in case.gangs[0].leaves)
    assert one and two
    state = Room(case)
    state.take(0, one, 0, 1)
    assert state.holds(two, 1, 1) is room


def test_a_port_that_a_running_pod_has_is_taken() -> None:
    (node,) = racks(1, 1)
    node.ports = {("0.0.0.0", "TCP", 80)}
    case = problem([node], gang(podgroup(1, spec=port(80))))
    assert not Room(case).holds(case.types[0], 1, 1)


def test_objections_are_counted_over_nodes() -> None:
    case = problem(racks(2, 2), gang(podgroup(1, spec={"nodeSelector": {"rack": "rack-0"}})))
    assert (case.types[0].eligible, {str(one): nodes for one, nodes in case.types[0].objections.items()}) == (
        0b0011,
        {"without the label rack=rack-0": 2},
    )


def test_placing_pods_takes_what_they_ask_for_and_undoing_gives_it_back() -> None:
    case = problem(racks(2, 2, gpu=8), gang(podgroup(1, pack="rack", gpu=3)))
    room, kind = Room(case), case.types[0]
    family = case.families[key("rack")]  # type: ignore[index]  # a key, since the label is not empty
    before = (list(room.free), dict(room.states), list(room.totals[family]))
    mark = room.mark()
    room.take(0, kind, 1, 2)
    assert (room.free[1], room.totals[family]) == ((2, 108), [(10, 218), (16, 220)])
    assert room.states == {(8, 110): 0b1101, (2, 108): 0b0010}
    room.undo(mark)
    assert (room.free, room.states, room.totals[family]) == before


def test_a_problem_with_other_amounts_free_begins_with_those_and_leaves_the_first_as_it_was() -> None:
    case = problem(racks(1, 2, gpu=8), gang(podgroup(1, pack="rack", gpu=3)))
    family = case.families[key("rack")]  # type: ignore[index]  # a key, since the label is not empty
    fuller = Room(case.with_free([(1, 100), (8, 110)]))
    assert (fuller.states, fuller.totals[family]) == ({(1, 100): 0b01, (8, 110): 0b10}, [(9, 210)])
    assert (Room(case).states, Room(case).totals[family]) == ({(8, 110): 0b11}, [(16, 220)])


def test_placing_in_one_room_changes_no_other_room() -> None:
    case = problem(racks(1, 2, gpu=8), gang(podgroup(1, pack="rack", gpu=3)))
    family = case.families[key("rack")]  # type: ignore[index]  # a key, since the label is not empty
    one, other = Room(case), Room(case)
    one.take(0, case.types[0], 0, 1)
    assert (other.free, other.states, other.totals[family]) == ([(8, 110), (8, 110)], {(8, 110): 0b11}, [(16, 220)])


@pytest.mark.parametrize("mask", [0, 1, 0b1010, (1 << 200) | 1])
def test_the_bits_of_a_mask_are_node_numbers(mask: int) -> None:
    assert sum(1 << bit for bit in bits(mask)) == mask


def test_states_are_the_same_whichever_way_they_are_found() -> None:
    case = problem(racks(4, 2, gpu=8), gang(podgroup(1, gpu=1)))
    room = Room(case)
    room.take(0, case.types[0], 3, 1)
    few = room.states_in(0b1010)
    many = {free: mask & 0b1010 for free, mask in room.states_in(case.everywhere).items() if mask & 0b1010}
    assert few == many == {(8, 110): 0b0010, (7, 109): 0b1000}


def test_a_pod_spec_is_read_once_for_all_gangs_that_share_it() -> None:
    spec = pod(gpu=1)
    gangs = [gang(podgroup(1)) for _ in range(3)]
    for one in gangs:
        one.scope.podgroups[0].pod_spec = spec
    assert len(problem(racks(1, 1), *gangs).types) == 1
