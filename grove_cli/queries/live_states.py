"""Tells how ready live objects are, and their facts, by the rules of Grove's kinds and by what is beside them.

Most schedulers report of a gang nothing but `Pending`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from applier.errors import ApplierError
from applier.readiness import Readiness, ReadinessRule, State, readiness
from applier.readiness.state import ready
from applier.ref import Manifest
from grove_cli.queries.facts import facts, metrics_failure
from grove_compiler.engine.runtime.program import Program
from grove_compiler.kube.conditions import condition_of, is_true, status_of
from grove_compiler.labels import GANG_LABEL, GROUP_LABEL
from grove_compiler.model.decisions import DecisionRules
from grove_compiler.model.expanded.readiness import READY_KINDS, ReadinessDecisions
from grove_compiler.model.inputs.snapshot import is_finished
from kube_objects.manifest import by_label, is_terminating, namespaced_name
from kube_objects.words import counted

ReadinessCheck = Callable[[Manifest], Readiness]
"""Returns the readiness of a live object."""


def readiness_rules(program: Program) -> tuple[ReadinessRule, ...]:
    """Returns the rule `ready_when` for Grove's kinds as rules of the applier. Raises `ApplierError` for invalid ones."""
    decide = DecisionRules(program.decisions).of(ReadinessDecisions).ready_when
    return tuple(_rule(kind, group, decide(kind)) for kind, group in READY_KINDS.items())


def _rule(kind: str, group: str, expected: list[Manifest]) -> ReadinessRule:
    # The rule of a user may return values that are not maps, which `ReadinessRule.read` reports.
    by_verdict: dict[str | None, list[Any]] = {}
    for each in expected:
        is_end = isinstance(each, dict) and "then" in each
        entry = {key: value for key, value in each.items() if key != "then"} if is_end else each
        by_verdict.setdefault(str(each["then"]) if is_end else None, []).append(entry)
    needed, done, failed = (by_verdict.pop(verdict, []) for verdict in (None, State.READY, State.FAILED))
    if by_verdict or not all("condition" in each for each in failed):
        raise ApplierError(f"`then` of the readiness of {kind} is {State.READY}, or {State.FAILED} for a condition")
    conditions = [each for each in needed if isinstance(each, dict) and "condition" in each]
    fields = [each for each in needed if each not in conditions]
    rule = {"group": group, "kind": kind, "fields": fields, "conditions": _by_type(conditions), "failed": _by_type(failed), "done": done}
    return ReadinessRule.read(rule)


def _by_type(conditions: Iterable[Manifest]) -> dict[str, str]:
    return {str(each["condition"]): str(each.get("status", "True")) for each in conditions}


def readiness_check(program: Program) -> ReadinessCheck:
    """Returns a check of Grove's kinds by the rules of a program, and of all others as the applier does."""
    return partial(readiness, rules=readiness_rules(program))


GANG, GROUP, AUTOSCALER = "PodGang", "PodCliqueScalingGroup", "HorizontalPodAutoscaler"


class LiveStates:
    """Holds objects that are shown together.

    A gang is ready once all its pods are, an autoscaler once it has its metrics, and a scaling group also once all its cliques have
    succeeded: upstream gives it no condition for that.
    """

    def __init__(self, check: ReadinessCheck, objects: Iterable[Manifest]) -> None:
        self._check = check
        by_kind = {"Pod": list[Manifest](), "PodClique": list[Manifest]()}
        for manifest in objects:
            if not is_terminating(manifest):
                by_kind.get(str(manifest.get("kind")), []).append(manifest)
        self._pods, self._cliques = by_label(by_kind["Pod"], GANG_LABEL), by_label(by_kind["PodClique"], GROUP_LABEL)

    def readiness(self, manifest: Manifest) -> Readiness:
        """Returns how ready an object is."""
        readiness = self._check(manifest)
        if manifest.get("kind") == GROUP and self._has_succeeded(manifest):
            return ready()
        if readiness.state is not State.READY:
            return readiness
        if manifest.get("kind") == GANG and (lacking := [pod for pod in self._of(manifest) if not _is_done(pod)]):
            return Readiness(State.IN_PROGRESS, _count(len(lacking), "not ready"))
        if manifest.get("kind") == AUTOSCALER and (reason := metrics_failure(status_of(manifest))):
            return Readiness(State.IN_PROGRESS, reason)
        return readiness

    def facts(self, manifest: Manifest) -> list[str]:
        """Returns the facts of an object."""
        pods = self._of(manifest) if manifest.get("kind") == GANG else []
        if not pods:
            return facts(manifest)
        unplaced = sum(condition_of(pod, "PodScheduled").get("reason") == "Unschedulable" for pod in pods)
        counts = [f"{sum(map(_is_done, pods))} of {_count(len(pods), 'ready')}", *([f"{unplaced} unschedulable"] if unplaced else [])]
        return [*counts, *(fact for fact in facts(manifest) if fact != "Pending")]

    def _of(self, gang: Manifest) -> list[Manifest]:
        return self._pods[namespaced_name(gang)]

    def _has_succeeded(self, group: Manifest) -> bool:
        cliques = self._cliques[namespaced_name(group)]
        return bool(cliques) and all(is_true(clique, "Succeeded") for clique in cliques)


def _is_done(pod: Manifest) -> bool:
    return is_true(pod, "Ready") or is_finished(pod)


def _count(number: int, what: str) -> str:
    return f"{counted(number, 'pod')} {what}"
