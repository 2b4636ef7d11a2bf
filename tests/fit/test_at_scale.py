"""Clusters too large for brute force: cases whose answer is known from how they were made, and laws that hold for any case."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from grove_compiler.fit.cluster import ClusterNode
from grove_compiler.fit.fit import fit
from grove_compiler.fit.gang import ConstraintScope, GangDemand
from tests.suite.rows import rows

from .clusters import gang, group, key, machine, podgroup, racks
from .random_cases import small_case
from .test_against_brute_force import broken

SEEDS = range(40)
seeds = rows("seed", SEEDS)


def planted(seed: int, blocks: int = 3, spare: int = 0) -> tuple[list[ClusterNode], list[GangDemand]]:
    """A cluster, and gangs that were cut out of it: each uses up all GPUs of one block, rack by rack, but for `spare` of them."""
    random = Random(seed)
    nodes, gangs = [], []
    for block in range(blocks):
        groups = []
        for rack in range(random.randint(1, 3)):
            loads = [random.randint(1, 8) for _ in range(random.randint(1, 4))]
            labels = {"block": f"b{block}", "rack": f"b{block}-r{rack}"}
            nodes += [machine(f"n{block}-{rack}-{place}", labels, gpu=load) for place, load in enumerate(loads)]
            pods = [podgroup(1, gpu=part, name=f"p{block}-{rack}-{place}-{part}-{random.random()}") for place, part in cut(loads, random)]
            groups.append(group(*pods, pack="rack"))
        gangs.append(gang(*groups, pack="block", name=f"gang-{block}"))
    for number in range(spare):
        nodes.append(machine(f"spare-{number}", {"block": "b0", "rack": "b0-r0"}, gpu=1))
    random.shuffle(nodes)
    random.shuffle(gangs)
    return nodes, gangs


def cut(loads: list[int], random: Random) -> list[tuple[int, int]]:
    """Each load in one to three pieces that add up to it."""
    pieces = []
    for place, load in enumerate(loads):
        while load:
            piece = random.randint((load + 1) // 2, load)
            pieces.append((place, piece))
            load -= piece
    return pieces


@seeds
def test_gangs_that_were_cut_out_of_the_cluster_are_never_said_not_to_fit(seed: int) -> None:
    nodes, gangs = planted(seed)
    report = fit(nodes, gangs, steps=200_000)
    assert "does not fit" not in {one.verdict for one in report.gangs}
    assert broken(nodes, report.gangs) == []


@seeds
def test_one_pod_more_than_the_gpus_is_never_said_to_fit(seed: int) -> None:
    nodes, gangs = planted(seed)
    report = fit(nodes, [*gangs, gang(podgroup(1, gpu=1), name="more")], steps=50_000)
    assert report.verdict != "fits"


def test_most_of_the_planted_cases_are_decided() -> None:
    decided = sum(fit(*planted(seed), steps=200_000).verdict == "fits" for seed in SEEDS)
    assert decided >= len(SEEDS) * 3 // 4


@seeds
def test_the_order_of_gangs_does_not_change_the_whole(seed: int) -> None:
    nodes, gangs = small_case(seed)
    assert fit(nodes, gangs).verdict == fit(nodes, gangs[::-1]).verdict


@seeds
def test_the_order_of_nodes_does_not_change_the_whole(seed: int) -> None:
    nodes, gangs = small_case(seed)
    assert fit(nodes, gangs).verdict == fit(Random(seed).sample(nodes, len(nodes)), gangs).verdict


@seeds
def test_one_more_node_never_leaves_less_room(seed: int) -> None:
    nodes, gangs = small_case(seed)
    more = [*nodes, machine("more", {"rack": "r0", "block": "b0"}, gpu=4, cpu=4)]
    assert fit(nodes, gangs).verdict == "does not fit" or fit(more, gangs).verdict == "fits"


def freed(scope: ConstraintScope) -> ConstraintScope:
    """The scope with nothing required."""
    return replace(scope, required=None, preferred=None, scopes=[freed(inner) for inner in scope.scopes])


@seeds
def test_without_constraints_there_is_never_less_room(seed: int) -> None:
    nodes, gangs = small_case(seed)
    free = [replace(one, scope=freed(one.scope)) for one in gangs]
    assert fit(nodes, gangs).verdict == "does not fit" or fit(nodes, free).verdict == "fits"


@seeds
def test_what_is_only_preferred_does_not_change_the_whole(seed: int) -> None:
    nodes, gangs = small_case(seed)
    before = fit(nodes, gangs).verdict
    for one in gangs:
        for scope in one.scope.walk():
            scope.preferred = key("rack")
    assert fit(nodes, gangs).verdict == before


@pytest.mark.parametrize(
    ("asked", "fits"),
    [(250, 250), (251, 250), (400, 250)],
)
def test_equal_gangs_are_counted_exactly_however_many_there_are(asked: int, fits: int) -> None:
    """250 racks of 8 nodes: a gang takes 7 of them, and what is left of a rack is of no use."""
    gangs = [gang(podgroup(7, gpu=8), pack="rack", name=f"g{number}") for number in range(asked)]
    report = fit(racks(250, 8, gpu=8), gangs)
    assert [one.verdict for one in report.gangs] == ["fits"] * fits + ["does not fit"] * (asked - fits)
    assert report.steps == 0


def test_a_full_cluster_of_ragged_pieces_is_decided_by_its_pieces() -> None:
    """Nodes of 8 and pods of 5 and 3: 500 of each fill 500 nodes to the last GPU; one pod more is one too many."""
    gangs = [gang(podgroup(50, gpu=size), name=f"g{size}-{number}") for number in range(10) for size in (5, 3)]
    assert fit(racks(125, 4, gpu=8), gangs).verdict == "fits"
    assert fit(racks(125, 4, gpu=8), [*gangs, gang(podgroup(1, gpu=1), name="more")]).gangs[-1].verdict == "does not fit"
