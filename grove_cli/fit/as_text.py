"""Prints the result of `grove fit`: a line for each gang, and below it why it does not fit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from grove_cli.terminal import Terminal, visible
from grove_compiler.fit.joint import DOES_NOT_FIT, FITS, UNKNOWN, Verdict
from grove_compiler.fit.report import FitReport, GangReport, LevelReport, SetReport, Short
from kube_objects.quantity import BINARY_SI, DECIMAL_SI, render
from kube_objects.words import counted, listed

COLOURS = {FITS: "32", DOES_NOT_FIT: "31", UNKNOWN: "33"}
MAX_ALIKE = 3
"""The number of consecutive gangs with one verdict that are listed before the others are counted."""
WIDEST_NAME = 60
VERDICT_COLUMN, NAME_COLUMN = 2, 16
NARROW = 60
"""Below this width explanations are indented less."""
IN_BYTES = ("memory", "ephemeral-storage", "hugepages-")
LEVEL_WORDS = {"nodes": "on any nodes", "gang": "gang", "group": "group", "podgroup": "podgroup"}


def report_text(report: FitReport, terminal: Terminal) -> str:
    """Returns the report as text."""
    lines = []
    for owner in report.sets:
        own = [gang for gang in report.gangs if (gang.gang.namespace, gang.gang.set_name) == (owner.namespace, owner.name)]
        lines += [terminal.paint(line, "1") for line in terminal.wrapped(visible(_heading(owner)), hanging=2)]
        lines += [*_gangs(own, terminal), ""]
    return "\n".join([*lines, *_ending(report, terminal)]) + "\n"


def _heading(owner: SetReport) -> str:
    name = f"{owner.namespace}/{owner.name}" if owner.namespace else owner.name
    started = f", {owner.started} at least in {_its(owner.started)} base gang" if owner.started > owner.whole else ""
    return f"PodCliqueSet {name}: {owner.whole} of {counted(owner.replicas, 'replica')} {_fit(owner.whole)}{started}"


def _gangs(reports: Sequence[GangReport], terminal: Terminal) -> Iterator[str]:
    width = min(max((len(report.gang.name) for report in reports), default=0), WIDEST_NAME, terminal.width // 3)
    for (verdict, _), run in groupby(reports, key=lambda report: (report.verdict, report.like or not report.levels)):
        alike = list(run)
        shown = alike if len(alike) <= MAX_ALIKE + 1 else alike[:MAX_ALIKE]
        for report in shown:
            yield from _gang(report, width, terminal)
        if len(shown) < len(alike):
            last = visible(alike[-1].gang.name)
            yield f"  {terminal.paint(verdict.ljust(12), COLOURS[verdict])}  … {counted(len(alike) - len(shown), 'more gang')}, to {last}"


def _gang(report: GangReport, width: int, terminal: Terminal) -> Iterator[str]:
    colour = COLOURS[report.verdict]
    facts = f"{visible(report.gang.name).ljust(width)}  {'; '.join(_facts(report))}"
    first, *rest = terminal.wrapped(facts, NAME_COLUMN, NAME_COLUMN)
    yield f"  {terminal.paint(report.verdict.ljust(12), '1', colour)}  {first}"
    yield from rest
    indent = VERDICT_COLUMN if terminal.wraps and terminal.width < NARROW else NAME_COLUMN
    for sentence in _sentences(report):
        first, *rest = terminal.wrapped(f"- {visible(sentence)}", indent, indent + 2)
        yield f"{' ' * indent}{first}"
        yield from rest


def _facts(report: GangReport) -> Iterator[str]:
    yield counted(report.gang.pods, "pod")
    if report.extra.asked:
        yield f"{report.extra.placed} of {report.extra.asked} beyond the minimum would also fit"
    preferences, satisfied = report.preferred
    if preferences:
        yield f"keeps {satisfied} of {counted(preferences, 'preference')}"
    if report.moved:
        yield "only if others make room for it"


def _sentences(report: GangReport) -> Iterator[str]:
    """Returns why a gang does not fit, from the verdict to the resource."""
    if report.verdict == FITS:
        yield from (f"assumed that {text}" for text in report.gang.assumed)
        return
    if report.like:
        yield f"{report.reason}; as {report.like}"
        return
    if report.remedy:
        yield report.remedy
    yield {FITS: "fits alone, but not together with the gangs before it: ", None: ""}.get(report.alone, "") + report.reason
    failed = report.failed_level
    for level in report.levels:
        yield _level(level) + (" <- fails first" if level is failed and level.verdict == DOES_NOT_FIT else "")
    yield from map(_short, report.short)
    for reasons, cliques in _alike(report.ruled_out.items()):
        counts = ", ".join(f"{counted(count, 'node')} {why}" for why, count in reasons.items())
        yield f"excluded for the pods of {listed(cliques)}: {counts}"


def _alike(ruled_out: Iterable[tuple[str, dict[str, int]]]) -> Iterator[tuple[dict[str, int], list[str]]]:
    """Yields the reasons for which nodes are excluded, each with the cliques concerned."""
    by_reasons: dict[tuple[tuple[str, int], ...], list[str]] = {}
    for clique, reasons in ruled_out:
        by_reasons.setdefault(tuple(reasons.items()), []).append(clique)
    return ((dict(reasons), cliques) for reasons, cliques in by_reasons.items())


def _level(level: LevelReport) -> str:
    where = LEVEL_WORDS[level.level] + (f" in one {', '.join(level.keys)}" if level.keys else "")
    least = "" if level.most else "at least "
    doubt = ", possibly more" if level.verdict == UNKNOWN else ""
    return f"{where}: {least}{level.pods} of {counted(level.asked, 'pod')} {_fit(level.pods)}{_tight(level)}{doubt}"


def _tight(level: LevelReport) -> str:
    tight = level.tight
    if tight is None:
        return ""
    where = f"the best domain, {tight.domain}, holds" if tight.domain else "the nodes hold"
    whose = "" if level.level == "gang" else f" of {tight.scope}"
    return f"; {where} {tight.pods} of {counted(tight.asked, 'pod')}{whose}"


def _short(short: Short) -> str:
    asked, per_pod = _amount(short.resource, short.asked), _amount(short.resource, short.per_pod)
    free, per_node = _amount(short.resource, short.free), _amount(short.resource, short.per_node)
    return f"{short.resource} is insufficient: {asked} requested, {per_pod} per pod; {free} free, at most {per_node} on one node"


def _ending(report: FitReport, terminal: Terminal) -> Iterator[str]:
    count = {verdict: sum(gang.verdict == verdict for gang in report.gangs) for verdict in (FITS, DOES_NOT_FIT, UNKNOWN)}
    total = f"{counted(len(report.gangs), 'gang')} on {counted(report.nodes, 'node')}"
    parts = ", ".join(f"{number} {_plural(verdict, number)}" for verdict, number in count.items() if number)
    text = f"{total}: {parts}" if report.gangs else f"{total}: nothing to place"
    if report.verdict == FITS and any(gang.extra.asked for gang in report.gangs):
        text += f"; all pods beyond the minimum: {_plural(report.extra_verdict, 2)}"
    first, *rest = terminal.wrapped(text)
    yield terminal.paint(first, "1", COLOURS[report.verdict])
    yield from rest


def _plural(verdict: Verdict, number: int) -> str:
    return verdict if number == 1 else {FITS: "fit", DOES_NOT_FIT: "do not fit"}.get(verdict, verdict)


def _fit(number: int) -> str:
    return "fits" if number == 1 else "fit"


def _its(number: int) -> str:
    return "its" if number == 1 else "their"


def _amount(resource: str, number: int) -> str:
    if resource == "cpu":
        return render(number, -3, DECIMAL_SI)
    return render(number, 0, BINARY_SI if resource.startswith(IN_BYTES) else DECIMAL_SI)
