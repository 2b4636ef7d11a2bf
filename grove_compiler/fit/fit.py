"""Places gangs on nodes and reports the verdicts. Read `fit` from top to bottom to learn the order of the steps."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from grove_compiler.fit.cluster import Cluster
from grove_compiler.fit.gang import GangDemand
from grove_compiler.fit.joint import DOES_NOT_FIT, FITS, UNKNOWN, GangVerdict, Joint, Verdict
from grove_compiler.fit.levels import Explanation, Pouring
from grove_compiler.fit.problem import PlaceDemand, Problem
from grove_compiler.fit.remedy import find_remedy
from grove_compiler.fit.report import FitReport, GangReport, overall
from grove_compiler.fit.room import Take
from grove_compiler.fit.search import Steps

Placed = tuple[PlaceDemand, GangReport]
"""A gang as a placement problem, and its verdict in the report."""

DEFAULT_STEPS = 1_000_000
STEPS_ALONE = 50_000
NOT_FITTING: dict[Verdict, str] = {DOES_NOT_FIT: "does not fit", UNKNOWN: "is not known to fit"}
MAX_EXPLAINED = 10
"""At most this many shapes of gangs that do not fit are explained; others get the verdict alone, since explaining is slow."""


def fit(cluster: Cluster, gangs: Sequence[GangDemand], steps: int = DEFAULT_STEPS) -> FitReport:
    """Reports whether every gang can be placed on the cluster under its constraints, all gangs at the same time.

    Gangs are taken in the order given. Each one's verdict is about it and all gangs before it that fit: "fits" when a placement of
    all of them exists, "does not fit" when there is provably none, "unknown" when neither was proven within `steps` node visits, or
    when pods have constraints that are not checked. Hence the whole fits exactly when each gang does.
    """
    problem = Problem(cluster, gangs)
    joint = Joint(problem, Steps(steps))
    reports: list[GangReport] = []
    placed: list[Placed] = []
    unplaced: list[Placed] = []
    for gang, place in zip(gangs, problem.gangs, strict=True):
        blocked = _blocked_by_base(gang, reports)
        answer = blocked or joint.add(place)
        reports.append(GangReport(gang, answer.verdict, answer.reason, moved=answer.moved))
        if blocked is None:
            (placed if answer.verdict == FITS else unplaced).append((place, reports[-1]))
    _downgrade_unchecked(reports)
    _explain(problem, joint, unplaced)
    _describe(problem, joint, reports)
    extra = _beyond_minimum(problem, joint, placed)
    return FitReport(reports, len(cluster), overall([extra, *(report.verdict for report in reports)]), joint.steps.used)


def _blocked_by_base(gang: GangDemand, reports: Sequence[GangReport]) -> GangVerdict | None:
    """Returns the verdict on a gang whose base gang has no place: its pods stay gated, so it takes no room from others (shipped §7.7)."""
    place = gang.namespace, gang.base
    base = next((report for report in reports if gang.base and (report.gang.namespace, report.gang.name) == place), None)
    if base is None or base.verdict == FITS:
        return None
    return GangVerdict(base.verdict, f"waits for its base gang {gang.base}, which {NOT_FITTING[base.verdict]}")


def _downgrade_unchecked(reports: Sequence[GangReport]) -> None:
    """Turns "fits" into "unknown" for gangs with constraints that were not checked, and for all later gangs."""
    unchecked = ""
    for report in reports:
        if report.verdict == FITS and report.gang.unchecked:
            report.verdict, report.reason = UNKNOWN, f"there is room for it, but not checked: {'; '.join(report.gang.unchecked)}"
            unchecked = unchecked or report.gang.name
        elif report.verdict == FITS and unchecked:
            report.verdict, report.reason = UNKNOWN, f"there is room for it, but {unchecked}, placed before it, is not known to fit"


def _explain(problem: Problem, joint: Joint, unplaced: Sequence[Placed]) -> None:
    """Adds levels and short resources to gangs without a place: of the empty cluster if they do not fit there, else of what is left."""
    explained: dict[Hashable, str] = {}
    for place, report in unplaced:
        report.like = explained.get(place.shape, "")
        if report.like or len(explained) >= MAX_EXPLAINED:
            continue
        explained[place.shape] = report.gang.name
        report.alone = Joint(problem, Steps(STEPS_ALONE)).add(place).verdict
        explanation = Explanation(problem, joint.room.free if report.alone == FITS else problem.free, place)
        report.levels, report.short = explanation.levels, explanation.short
        objections = {leaf.scope.name: leaf.type.objections for leaf in place.leaves if leaf.count and leaf.type.objections}
        report.ruled_out = {name: {str(objection): nodes for objection, nodes in counts.items()} for name, counts in objections.items()}
        report.remedy = find_remedy(problem.cluster, report.gang, objections)


def _describe(problem: Problem, joint: Joint, reports: Sequence[GangReport]) -> None:
    """Adds to each verdict the nodes of the gang's pods in the placement, and how many preferred constraints it satisfies."""
    by_slot: dict[int, list[Take]] = {}
    for take in joint.room.takes:
        by_slot.setdefault(take.slot, []).append(take)
    for place, report in zip(problem.gangs, reports, strict=True):
        for leaf in place.leaves:
            on: dict[str, int] = {}
            for take in by_slot.get(leaf.slot, ()):
                name = problem.cluster[take.node].name
                on[name] = on.get(name, 0) + take.pods
            if on:
                report.placement[leaf.scope.name] = on
        preferring = [part for part in place.walk() if part.preferred is not None and any(leaf.slot in by_slot for leaf in part.leaves)]
        report.preferred = len(preferring), sum(_keeps(part, by_slot) for part in preferring)


def _keeps(part: PlaceDemand, by_slot: dict[int, list[Take]]) -> bool:
    assert part.preferred is not None
    homes = {part.preferred.home[take.node] for leaf in part.leaves for take in by_slot.get(leaf.slot, ())}
    return len(homes) == 1 and -1 not in homes


def _beyond_minimum(problem: Problem, joint: Joint, placed: Sequence[Placed]) -> Verdict:
    """Places the pods beyond the minimum beside the gangs; if some do not fit there, decides again for all pods at once."""
    full = []
    for place, report in placed:
        sizes = {leaf.slot: leaf.scope.replicas for leaf in place.leaves}
        report.extra.asked = sum(sizes.values()) - report.gang.pods
        report.extra.placed = _top_up(problem, joint, place) if report.extra.asked else 0
        full.append(problem.resized(place, sizes))
    if all(report.extra.placed == report.extra.asked for _, report in placed):
        return FITS
    retried = Joint(problem, Steps(joint.steps.left // 2))
    verdicts: Iterator[Verdict] = (retried.add(place).verdict for place in full)
    verdict = next((verdict for verdict in verdicts if verdict != FITS), FITS)
    for _, report in placed:
        report.extra.placed = report.extra.asked if verdict == FITS else report.extra.placed
    return verdict


def _top_up(problem: Problem, joint: Joint, place: PlaceDemand) -> int:
    """Places as many of the gang's further pods as fit into the domains that it has; returns their number."""
    homes: dict[int, set[int]] = {}
    for take in joint.room.takes:
        homes.setdefault(take.slot, set()).add(take.node)
    more = problem.resized(place, {leaf.slot: leaf.scope.replicas - leaf.count for leaf in place.leaves})
    return Pouring(problem, joint.room, homes).pour(more, problem.everywhere)[0]
