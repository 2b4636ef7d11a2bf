"""The one function of this room: nodes and gangs to an answer. Read it from top to bottom to know what happens when."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from grove_compiler.fit.cluster import Cluster
from grove_compiler.fit.gang import Gang
from grove_compiler.fit.joint import FITS, UNKNOWN, Answer, Joint, Verdict
from grove_compiler.fit.levels import Explanation, Pouring
from grove_compiler.fit.problem import Place, Problem
from grove_compiler.fit.report import GangReport, Report, overall
from grove_compiler.fit.room import Take
from grove_compiler.fit.search import Steps

DEFAULT_STEPS = 1_000_000
STEPS_ALONE = 50_000
MOST_EXPLAINED = 10
"""So many shapes of gangs that do not fit are explained; of others only the verdict is told."""


def fit(cluster: Cluster, gangs: Sequence[Gang], steps: int = DEFAULT_STEPS) -> Report:
    """Tells whether every gang can be placed on the cluster under its constraints, all gangs at the same time.

    Gangs are taken in the order given. Each one's verdict is about it and all gangs before it that fit: "fits" when a placement of
    all of them was found, "does not fit" when there is provably none, "unknown" when neither came out within `steps` looks at a
    node, or when pods have constraints that are not checked. Hence the whole fits exactly when each gang does.
    """
    problem = Problem(cluster, gangs)
    joint = Joint(problem, Steps(steps))
    answers = [joint.add(place) for place in problem.gangs]
    reports = [_report(gang, answer) for gang, answer in zip(gangs, answers, strict=True)]
    _doubt(reports)
    _explain(problem, joint, reports, answers)
    _describe(problem, joint, reports)
    extra = _beyond_minimum(problem, joint, reports)
    return Report(reports, len(cluster), extra, joint.steps.used)


def _report(gang: Gang, answer: Answer) -> GangReport:
    return GangReport(gang, answer.verdict, answer.reason, moved=answer.moved)


def _doubt(reports: Sequence[GangReport]) -> None:
    """A gang with constraints that were not checked is not known to fit, nor is what stands beside it."""
    doubtful = ""
    for report in reports:
        if report.verdict == FITS and report.gang.unchecked:
            report.verdict, report.reason = UNKNOWN, f"there is room for it, but not checked: {'; '.join(report.gang.unchecked)}"
            doubtful = doubtful or report.gang.name
        elif report.verdict == FITS and doubtful:
            report.verdict, report.reason = UNKNOWN, f"there is room for it, but beside {doubtful}, which is not known to fit"


def _explain(problem: Problem, joint: Joint, reports: Sequence[GangReport], answers: Sequence[Answer]) -> None:
    """Levels and short resources for gangs without a place: on the empty cluster where they do not fit there, else on what is left."""
    explained: dict[Hashable, str] = {}
    for place, report, answer in zip(problem.gangs, reports, answers, strict=True):
        if answer.verdict == FITS:
            continue
        report.like = explained.get(place.shape, "")
        if report.like or len(explained) >= MOST_EXPLAINED:
            continue
        explained[place.shape] = report.gang.name
        report.alone = Joint(problem, Steps(STEPS_ALONE)).add(place).verdict
        explanation = Explanation(problem, joint.room.free if report.alone == FITS else problem.free, place)
        report.levels, report.short = explanation.levels, explanation.short
        report.objections = _objections(place)


def _objections(place: Place) -> dict[str, int]:
    """Returns why nodes are ruled out for pods of the gang, and how many; for the podgroup for which most are."""
    return max((kind.objections for kind in place.wanted), key=lambda objections: sum(objections.values()), default={})


def _describe(problem: Problem, joint: Joint, reports: Sequence[GangReport]) -> None:
    """Where the pods of each gang stand in the placement found, and which preferences that keeps."""
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
        wishes = [part for part in place.walk() if part.preferred is not None and any(leaf.slot in by_slot for leaf in part.leaves)]
        report.preferred = len(wishes), sum(_keeps(part, by_slot) for part in wishes)


def _keeps(part: Place, by_slot: dict[int, list[Take]]) -> bool:
    assert part.preferred is not None
    homes = {part.preferred.home[take.node] for leaf in part.leaves for take in by_slot.get(leaf.slot, ())}
    return len(homes) == 1 and -1 not in homes


def _beyond_minimum(problem: Problem, joint: Joint, reports: Sequence[GangReport]) -> Verdict:
    """Adds the pods beyond the minimum where the gangs stand; whether all would fit is asked anew when some did not."""
    full = []
    for place, report in zip(problem.gangs, reports, strict=True):
        sizes = {leaf.slot: leaf.scope.replicas for leaf in place.leaves}
        report.extra.asked = sum(sizes.values()) - report.gang.pods
        full.append(problem.resized(place, sizes))
    if len(joint.inside) == len(reports):
        for place, report in zip(problem.gangs, reports, strict=True):
            report.extra.placed = _top_up(problem, joint, place) if report.extra.asked else 0
        if any(report.extra.placed < report.extra.asked for report in reports):
            anew = Joint(problem, Steps(joint.steps.left // 2))
            verdicts: Iterator[Verdict] = (anew.add(place).verdict for place in full)
            worse = next((verdict for verdict in verdicts if verdict != FITS), FITS)
            if worse != FITS:
                return worse
            for report in reports:
                report.extra.placed = report.extra.asked
    return overall(report.verdict for report in reports)


def _top_up(problem: Problem, joint: Joint, place: Place) -> int:
    """Places what more of the gang's pods fit into the domains that it has, and says how many."""
    homes: dict[int, set[int]] = {}
    for take in joint.room.takes:
        homes.setdefault(take.slot, set()).add(take.node)
    more = problem.resized(place, {leaf.slot: leaf.scope.replicas - leaf.count for leaf in place.leaves})
    return Pouring(problem, joint.room, homes).pour(more, problem.everywhere)[0]
