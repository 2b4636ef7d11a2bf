"""Verdicts, search and bounds against placement by trying everything, on thousands of small random clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest

from grove_compiler.fit.bounds import Bounds
from grove_compiler.fit.cluster import ClusterNode
from grove_compiler.fit.copies import Copies
from grove_compiler.fit.fit import fit
from grove_compiler.fit.gang import ConstraintScope, GangDemand
from grove_compiler.fit.problem import Problem
from grove_compiler.fit.report import FitReport, GangReport
from grove_compiler.fit.room import Room
from grove_compiler.fit.search import Search, Steps
from tests.suite.effort import runs

from .brute_force import BruteForce
from .random_cases import small_case

USUAL = 1500
SEEDS = range(runs(USUAL))
BATCH = 250
BATCHES = [range(start, start + BATCH) for start in SEEDS[::BATCH]]
AMPLE = 10**8
pytestmark = pytest.mark.xdist_group("fit against brute force")
"""In one process: the tests share what is cached below."""


@cache
def fitted(seed: int) -> FitReport:
    """What we say of a case."""
    return fit(*small_case(seed))


@cache
def oracle(seed: int) -> BruteForce:
    """What brute force says of a case."""
    return BruteForce(*small_case(seed))


def all_fit(seed: int) -> bool:
    """Whether all gangs of a case fit at once."""
    return oracle(seed).all_fit(range(len(oracle(seed).gangs)))


batches = pytest.mark.parametrize("seeds", BATCHES, ids=lambda seeds: f"{seeds.start}-{seeds.stop}")


@batches
def test_the_verdict_on_each_gang_is_that_of_brute_force(seeds: range) -> None:
    wrong = []
    for seed in seeds:
        found = [report.verdict for report in fitted(seed).gangs]
        expected = ["fits" if fits else "does not fit" for fits in oracle(seed).verdicts()]
        if found != expected:
            wrong.append((seed, found, expected))
    assert wrong == []


@batches
def test_the_whole_fits_exactly_when_brute_force_places_all_gangs_at_once(seeds: range) -> None:
    wrong = []
    for seed in seeds:
        found = fitted(seed).verdict == "fits"
        if found != all_fit(seed):
            wrong.append(seed)
    assert wrong == []


@batches
def test_an_answer_cut_short_is_unknown_or_right(seeds: range) -> None:
    """Each verdict is checked for what it claims: about the gang and those before it that were said to fit."""
    wrong = []
    for seed in seeds:
        nodes, gangs = small_case(seed)
        inside = list[int]()
        for number, report in enumerate(fit(nodes, gangs, steps=seed % 40).gangs):
            if report.verdict != "unknown" and (report.verdict == "fits") != oracle(seed).all_fit([*inside, number]):
                wrong.append((seed, number))
            if report.verdict == "fits":
                inside.append(number)
    assert wrong == []


@batches
def test_pods_beyond_the_minimum_all_fit_exactly_when_brute_force_places_all_of_them(seeds: range) -> None:
    wrong = []
    for seed in seeds:
        nodes, gangs = small_case(seed)
        report = fitted(seed)
        if (report.extra_verdict == "fits") != BruteForce(nodes, [whole(one) for one in gangs]).all_fit(range(len(gangs))):
            wrong.append(seed)
        assert all(one.extra.placed <= one.extra.asked for one in report.gangs)
    assert wrong == []


def whole(one: GangDemand) -> GangDemand:
    """The gang with every replica of its cliques in its minimum."""
    return replace(one, scope=_whole(one.scope))


def _whole(scope: ConstraintScope) -> ConstraintScope:
    return replace(scope, minimum=scope.replicas, scopes=[_whole(inner) for inner in scope.scopes])


@batches
def test_the_search_alone_finds_a_placement_exactly_when_there_is_one(seeds: range) -> None:
    """Without the quick ways and the bounds, which answer most of the cases before the search is asked."""
    wrong = []
    for seed in seeds:
        nodes, gangs = small_case(seed)
        problem = Problem(nodes, gangs)
        found = Search(Room(problem), problem.gangs, Steps(AMPLE)).run() is not None
        if found != all_fit(seed):
            wrong.append(seed)
    assert wrong == []


@batches
def test_no_bound_refutes_what_can_be_placed(seeds: range) -> None:
    wrong = []
    for seed in seeds:
        nodes, gangs = small_case(seed)
        if all_fit(seed):
            problem = Problem(nodes, gangs)
            *inside, last = problem.gangs
            if Bounds(problem).refute(inside, last) or Copies(problem).refute(problem.gangs, Steps(AMPLE)):
                wrong.append(seed)
    assert wrong == []


@batches
def test_the_placement_of_what_fits_keeps_every_constraint(seeds: range) -> None:
    for seed in seeds:
        assert broken(small_case(seed)[0], fitted(seed).gangs) == [], seed


def test_the_cases_are_of_many_sorts() -> None:
    """So that the tests above test something."""
    sorts: dict[tuple[str, bool, str], int] = {}
    for seed in SEEDS[::2]:
        for report in fitted(seed).gangs:
            reason = report.reason.replace("kubernetes.io/hostname", "host").split(" have ")[0]
            sort = (report.verdict, report.moved, reason)
            sorts[sort] = sorts.get(sort, 0) + 1
    of_usual = len(SEEDS) / USUAL
    assert sorts["fits", False, ""] > 500 * of_usual
    assert sorts["fits", True, ""] >= 5 * of_usual, "gangs for which others had to move"
    assert sorts["does not fit", False, "every placement was tried"] >= 10 * of_usual
    assert sum(number for (_, _, reason), number in sorts.items() if "domains of" in reason) >= 10 * of_usual
    assert {verdict for verdict, _, _ in sorts} == {"fits", "does not fit"}


def broken(nodes: Sequence[ClusterNode], reports: Sequence[GangReport]) -> list[str]:
    """What is wrong with the placements of gangs, looked at one rule after the other."""
    by_name = {node.name: node for node in nodes}
    used: dict[tuple[str, str], int] = {}
    found = []
    for report in reports:
        if report.verdict != "fits":
            found += [f"{report.gang.name} has no place and is placed"] if report.placement else []
            continue
        for scope in report.gang.scope.walk():
            spots = {name for part in scope.podgroups for name in report.placement.get(part.name, {})}
            found += _scattered(scope, [by_name[name] for name in spots])
        for part in report.gang.scope.podgroups:
            placed = report.placement.get(part.name, {})
            found += [f"{part.name} has {sum(placed.values())} pods"] if sum(placed.values()) != part.minimum else []
            for name, count in placed.items():
                for resource, number in part.pod_spec["containers"][0]["resources"]["requests"].items():
                    used[name, resource] = used.get((name, resource), 0) + count * number * (1000 if resource == "cpu" else 1)
    found += [f"{key} is overfull" for key, number in used.items() if number > by_name[key[0]].free(key[1])]
    return found


def _scattered(scope: ConstraintScope, nodes: Sequence[ClusterNode]) -> list[str]:
    if scope.required is None or not nodes:
        return []
    values = {tuple(node.labels.get(label) for label in scope.required.labels) for node in nodes}
    return [] if len(values) == 1 and None not in next(iter(values)) else [f"{scope.name} is in {values}"]
