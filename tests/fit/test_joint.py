"""Gangs placed one after the other, all at once."""

from __future__ import annotations

from grove_compiler.fit.cluster import ClusterNode
from grove_compiler.fit.gang import GangDemand
from grove_compiler.fit.joint import DOES_NOT_FIT, FITS, UNKNOWN, GangVerdict, Joint
from grove_compiler.fit.search import Steps

from .clusters import gang, machine, podgroup, problem, racks


def answers(nodes: list[ClusterNode], *gangs: GangDemand, steps: int = 10**6) -> list[GangVerdict]:
    case = problem(nodes, *gangs)
    joint = Joint(case, Steps(steps))
    return [joint.add(place) for place in case.gangs]


def test_a_gang_that_fits_is_in_and_one_that_does_not_is_not() -> None:
    case = problem(racks(1, 1, gpu=8), gang(podgroup(1, gpu=9)), gang(podgroup(1, gpu=8)))
    joint = Joint(case, Steps(100))
    assert [joint.add(place).verdict for place in case.gangs] == [DOES_NOT_FIT, FITS]
    assert joint.admitted == [case.gangs[1]]
    assert [take.slot for take in joint.room.takes] == [1]


def test_placing_the_large_ones_first_may_make_room() -> None:
    """Two pods of 3 fill a node of 6, so that 4 and 4 have only one node of 6 left."""
    found = answers(racks(1, 2, gpu=7), *(gang(podgroup(1, gpu=size)) for size in (3, 3, 4, 4)))
    assert [answer.verdict for answer in found] == [FITS] * 4
    assert any(answer.moved for answer in found)


SEARCHED = [gang(podgroup(1, gpu=size), name=f"g{size}") for size in (4, 4, 3, 3, 2)]
"""Two nodes of 8: the large ones first leave 1 and 1 for the 2, if 4 and 3 share a node; 4 and 4 leave the other for 3, 3 and 2."""


def test_what_no_order_finds_the_search_does() -> None:
    nodes = [machine("a", {"fast": "yes"}, gpu=8), machine("b", gpu=8)]
    assert [answer.verdict for answer in answers(nodes, *SEARCHED)] == [FITS] * 5


def test_a_shape_that_did_not_fit_is_not_looked_at_again() -> None:
    hopeless = [gang(podgroup(2, gpu=5), pack="rack", name=f"g{number}") for number in range(50)]
    case = problem(racks(1, 2, gpu=8), *hopeless)
    joint = Joint(case, Steps(10**6))
    first, second, third = (joint.add(place) for place in case.gangs[:3])
    assert (first.verdict, second.verdict) == (FITS, DOES_NOT_FIT)
    assert third is second


def test_without_steps_the_answer_is_unknown_and_says_so() -> None:
    sizes = (50, 35, 34, 33, 32, 16)  # 200 in all, on two nodes of 100: 50 + 34 + 16 and 35 + 33 + 32
    gangs = [gang(podgroup(1, gpu=size), name=f"g{size}") for size in sizes]
    nodes = racks(1, 2, gpu=100)
    assert [answer.verdict for answer in answers(nodes, *gangs)] == [FITS] * 6
    cut = answers(nodes, *gangs, steps=0)
    assert cut[-1] == GangVerdict(UNKNOWN, "not proven within 0 steps")


def test_the_reason_is_the_first_proof() -> None:
    assert answers(racks(1, 1, gpu=8), gang(podgroup(1, gpu=9)))[0].reason == "no set of nodes has room for all its pods"
    crossed = [gang(podgroup(1, gpu=gpu, cpu=cpu), name=f"{gpu}-{cpu}") for gpu, cpu in ((1, 2), (2, 1), (1, 1))]
    assert answers(racks(1, 2, gpu=2, cpu=2), *crossed)[-1] == GangVerdict(DOES_NOT_FIT, "every placement was tried")


def test_moving_others_keeps_everybody_placed() -> None:
    nodes = [machine("a", {"fast": "yes"}, gpu=4), machine("b", gpu=5)]
    case = problem(nodes, gang(podgroup(1, gpu=4)), gang(podgroup(1, gpu=4, spec={"nodeSelector": {"fast": "yes"}})))
    joint = Joint(case, Steps(1000))
    assert [joint.add(place).verdict for place in case.gangs] == [FITS, FITS]
    assert sorted((take.slot, take.node) for take in joint.room.takes) == [(0, 1), (1, 0)]
