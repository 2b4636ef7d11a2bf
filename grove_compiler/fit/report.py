"""Represents the answer of `fit` as values and as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import Any, NamedTuple

from grove_compiler.fit.gang import GangDemand
from grove_compiler.fit.joint import DOES_NOT_FIT, FITS, UNKNOWN, Verdict
from grove_compiler.record import record


class Short(NamedTuple):
    """Represents a resource that alone keeps pods from fitting.

    `asked` is the sum over all pods and `per_pod` the largest request of one; `free` is the sum over the nodes and `per_node` the
    largest amount on one of them. Units are those of `pod_request.amounts`.
    """

    resource: str
    asked: int
    free: int
    per_pod: int
    per_node: int


class Tight(NamedTuple):
    """Represents a scope for which no domain is large enough, with its best domain and how many of the scope's pods that holds."""

    scope: str
    domain: str
    pods: int
    asked: int


@record
class LevelReport:
    """Reports whether a gang fits when only constraints down to this level hold; the level `nodes` has no topology constraint.

    `pods` of the gang's `asked` pods were placed, each scope's in its best domain; when `most`, no placement holds more of them.
    At the first level that fails, `tight` is the scope that lacks the most pods even alone; None when each scope has a domain.
    """

    level: str
    keys: list[str]
    verdict: Verdict
    pods: int
    asked: int
    most: bool
    tight: Tight | None = None


@record
class Extra:
    """Counts pods beyond the minimum: how many were requested, and how many could be placed after every gang's minimum."""

    asked: int = 0
    placed: int = 0


@record
class GangReport:
    """Reports the verdict on one gang beside all gangs before it that fit.

    `alone` is the verdict on it as the only gang. `reason` is empty when it fits. `levels` and `short` explain what does not fit;
    `ruled_out` counts by clique and reason the nodes that its pods keep off, and `remedy` says what alone would let the gang fit.
    `like` names a gang of the same shape whose explanation is this gang's as well. `preferred` counts the preferred constraints and
    those that the placement found keeps. `placement` is by podgroup and node.
    """

    gang: GangDemand
    verdict: Verdict
    reason: str = ""
    alone: Verdict | None = None
    moved: bool = False
    like: str = ""
    levels: list[LevelReport] = field(default_factory=list)
    short: list[Short] = field(default_factory=list)
    ruled_out: dict[str, dict[str, int]] = field(default_factory=dict)
    remedy: str = ""
    extra: Extra = field(default_factory=Extra)
    preferred: tuple[int, int] = (0, 0)
    placement: dict[str, dict[str, int]] = field(default_factory=dict)

    @property
    def failed_level(self) -> LevelReport | None:
        """Returns the outermost level at which the gang is not known to fit."""
        return next((level for level in self.levels if level.verdict != FITS), None)


@record
class SetReport:
    """Counts a set's replicas: all, those whose base gang fits (`started`), and those of which all gangs fit (`whole`)."""

    namespace: str
    name: str
    replicas: int
    started: int
    whole: int


@record
class FitReport:
    """Holds the whole answer. `extra_verdict` is whether all pods beyond the minimum fit, too, once every gang does."""

    gangs: list[GangReport]
    nodes: int
    extra_verdict: Verdict
    steps: int

    @property
    def verdict(self) -> Verdict:
        """Returns the verdict on all gangs together, as `overall` derives it."""
        return overall(gang.verdict for gang in self.gangs)

    @property
    def sets(self) -> list[SetReport]:
        """Returns a report for each set, in the order of its first gang."""
        owners: dict[tuple[str, str], list[GangReport]] = {}
        for report in self.gangs:
            owners.setdefault((report.gang.namespace, report.gang.set_name), []).append(report)
        return [_set_report(*owner, reports) for owner, reports in owners.items()]

    def as_manifest(self) -> dict[str, Any]:
        """Returns the answer as JSON values."""
        return {
            "verdict": self.verdict,
            "beyondMinimum": self.extra_verdict,
            "nodes": self.nodes,
            "steps": self.steps,
            "sets": [_set_manifest(report) for report in self.sets],
            "gangs": [_gang_manifest(report) for report in self.gangs],
        }


def overall(verdicts: Iterable[Verdict]) -> Verdict:
    """Combines verdicts: "does not fit" if one gang provably does not, else "unknown" if one is unknown, else "fits"."""
    result = set(verdicts)
    return DOES_NOT_FIT if DOES_NOT_FIT in result else UNKNOWN if UNKNOWN in result else FITS


def _set_report(namespace: str, name: str, reports: Iterable[GangReport]) -> SetReport:
    replicas: dict[int, list[GangReport]] = {}
    for report in reports:
        replicas.setdefault(report.gang.replica, []).append(report)
    started = sum(all(one.verdict == FITS for one in own if not one.gang.scaled) for own in replicas.values())
    whole = sum(all(one.verdict == FITS for one in own) for own in replicas.values())
    return SetReport(namespace, name, len(replicas), started, whole)


def _set_manifest(report: SetReport) -> dict[str, Any]:
    return {
        "namespace": report.namespace,
        "name": report.name,
        "replicas": report.replicas,
        "replicasWhoseBaseGangFits": report.started,
        "replicasThatFit": report.whole,
    }


def _gang_manifest(report: GangReport) -> dict[str, Any]:
    gang = report.gang
    manifest = {
        "namespace": gang.namespace,
        "name": gang.name,
        "set": gang.set_name,
        "replica": gang.replica,
        "scaled": gang.scaled,
        "pods": gang.pods,
        "verdict": report.verdict,
        "reason": report.reason,
        "alone": report.alone,
        "like": report.like,
        "othersMoved": report.moved,
        "levels": [_level_manifest(level) for level in report.levels],
        "short": [short._asdict() for short in report.short],
        "nodesRuledOut": report.ruled_out,
        "remedy": report.remedy,
        "unchecked": gang.unchecked,
        "assumed": gang.assumed,
        "beyondMinimum": {"asked": report.extra.asked, "placed": report.extra.placed} if report.extra.asked else None,
        "preferred": {"asked": report.preferred[0], "kept": report.preferred[1]} if report.preferred[0] else None,
        "placement": report.placement,
    }
    kept = ("scaled", "replica", "pods")
    return {key: value for key, value in manifest.items() if value or key in kept}


def _level_manifest(level: LevelReport) -> dict[str, Any]:
    manifest = {
        "level": level.level,
        "keys": level.keys,
        "verdict": level.verdict,
        "pods": level.pods,
        "of": level.asked,
        "noMoreFit": level.most,
        "tightest": level.tight._asdict() if level.tight else None,
    }
    return {key: value for key, value in manifest.items() if value is not None and value != []}
