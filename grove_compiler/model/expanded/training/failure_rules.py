"""Applies the `failureRules` of a training workload to a failure, as Kubernetes' Job does its podFailurePolicy."""

from __future__ import annotations

from grove_compiler.graph.node import Manifest
from grove_compiler.model.expanded.attempts.pod_end import INIT_CONTAINER
from grove_compiler.model.expanded.structure import Clique

RESTART, FAIL = "Restart", "Fail"


def failure_action(clique: Clique | None, limits: Manifest, report: Manifest) -> str:
    """Returns the action of the first rule of `limits` that matches a clique's failure: Restart (default), Fail or Ignore.

    `report` is the failure in the form of its PodClique's status. Rules only match the cause PodFailed.
    """
    rules = limits.get("failureRules") or [] if report.get("cause") == "PodFailed" else []
    name = clique.template.name if clique is not None else ""
    return next((str(rule.get("action")) for rule in rules if _matches(rule, name, report)), RESTART)


def _matches(rule: Manifest, clique: str, report: Manifest) -> bool:
    container = str(report.get("container") or "").removeprefix(INIT_CONTAINER)
    is_about = rule.get("clique") in (None, clique) and rule.get("container") in (None, container)
    return is_about and report.get("exitCode") in (rule.get("exitCodes") or [])
