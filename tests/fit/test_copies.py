"""How many gangs of one shape the domains hold."""

from __future__ import annotations

from grove_compiler.fit.copies import Copies
from grove_compiler.fit.gang import GangDemand
from grove_compiler.fit.search import Steps

from .clusters import gang, machine, podgroup, problem, racks


def refuted(copies: Copies, number: int, steps: int = 10**6) -> str:
    return copies.refute(copies.problem.gangs[:number], Steps(steps))


def gangs(number: int) -> list[GangDemand]:
    """Gangs of pods of 5 and 3 GPUs, so that a node of 8 holds one of each, in a rack each."""
    return [gang(podgroup(2, gpu=5), podgroup(1, gpu=3), pack="rack", name=f"g{index}") for index in range(number)]


def test_so_many_as_the_domains_hold_are_not_refuted_and_one_more_is() -> None:
    copies = Copies(problem(racks(3, 3, gpu=8), *gangs(4)))
    assert refuted(copies, 3) == ""
    assert refuted(copies, 4) == "all domains of rack together hold 3 such gangs"


def test_more_copies_are_looked_for_when_there_are_more() -> None:
    copies = Copies(problem(racks(1, 9, gpu=8), *gangs(6)))
    assert [bool(refuted(copies, number)) for number in range(1, 7)] == [False, False, False, False, True, True]


def test_one_that_no_domain_holds_is_refuted() -> None:
    copies = Copies(problem(racks(3, 1, gpu=8), *gangs(1)))
    assert refuted(copies, 1) == "no domain holds such a gang"


def test_without_steps_only_totals_tell() -> None:
    """Two nodes of 7 have the 14 GPUs that the pods ask for, but 5 and 3 leave no room for 3 and 3."""
    case = problem(racks(1, 2, gpu=7), gang(podgroup(1, gpu=5), podgroup(3, gpu=3), pack="rack"))
    assert refuted(Copies(case), 1, steps=0) == ""
    assert refuted(Copies(case), 1) == "no domain holds such a gang"


def test_gangs_that_need_no_domain_are_not_judged() -> None:
    assert refuted(Copies(problem(racks(1, 1, gpu=1), gang(podgroup(2, gpu=1)))), 1) == ""


def test_only_gangs_of_the_last_ones_shape_are_counted() -> None:
    others = [gang(podgroup(1, gpu=1), pack="rack") for _ in range(9)]
    case = problem(racks(1, 3, gpu=8), *others, *gangs(1))
    assert Copies(case).refute(case.gangs, Steps(10**6)) == ""


def test_domains_that_are_split_otherwise_are_counted_on_their_own() -> None:
    """Both racks have two nodes of 8 GPUs, but only in one of them two nodes share a block."""
    one = [machine("a", {"rack": "x", "block": "p"}, gpu=8), machine("b", {"rack": "x", "block": "p"}, gpu=8)]
    two = [machine("c", {"rack": "y", "block": "q"}, gpu=8), machine("d", {"rack": "y", "block": "r"}, gpu=8)]
    wide = [gang(podgroup(2, gpu=8, pack="block"), pack="rack") for _ in range(2)]
    assert refuted(Copies(problem([*one, *two], *wide)), 2) == "all domains of rack together hold 1 such gangs"
