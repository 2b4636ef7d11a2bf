"""Validates a change of replicas through a scale subresource by the rules on updates of the set."""

from __future__ import annotations

from typing import Any

from grove_compiler.decoder import SET_KIND
from grove_compiler.engine.runtime.program import Program
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.field_path import render, replace
from grove_compiler.graph.node import Manifest
from grove_compiler.model.checks.scale_target import declared_replicas_path
from grove_compiler.model.decisions import DecisionRules
from grove_compiler.model.expanded.structure import ExpandedSet
from grove_compiler.model.inputs.configuration import Configuration
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.spec.podcliqueset import PodCliqueSet
from grove_compiler.record import record


@record
class Scaling:
    """A request to change the number of replicas of a PodCliqueSet, a PodCliqueScalingGroup or a PodClique."""

    kind: str
    name: str
    replicas: int


def judge_scaling(scaling: Scaling, owner: Manifest, program: Program, config: Configuration | None = None) -> list[Diagnostic]:
    """Returns the findings of the rules when `scaling` is treated as an update of that number in `owner`, the object's set.

    Only rules that compare with the old set run, and only their errors about this one field count: bounds such as `minAvailable` are left
    to autoscalers. So the number that the set declares is always valid, even if the object has another one by now. Findings are about
    `spec.replicas` of the scaled object. An object that is not part of the set has no findings.
    """
    scope: dict[str, Any] = {"settings": Settings(), "config": config or Configuration()}
    before, decisions = program.default(SET_KIND, owner, scope), DecisionRules(program.decisions)
    path = declared_replicas_path(PodCliqueSet(before), scaling.kind, scaling.name)
    if path is None:
        return []
    scope["set"] = ExpandedSet(replace(before, path, scaling.replicas), decisions=decisions, config=scope["config"])
    scope["old"] = PodCliqueSet(before, decisions=decisions)
    raw = program.validate(scope, "update", errors_only=True)
    findings = [finding for finding in raw if finding.code in program.about_updates and finding.path == render(path)]
    return [_of_child(finding, scaling, scope["old"]) for finding in findings]


def _of_child(finding: Diagnostic, scaling: Scaling, owner: PodCliqueSet) -> Diagnostic:
    """Converts a finding about the set to one about the scaled object; returns it."""
    if scaling.kind != SET_KIND:
        finding.message += f" ({finding.path} of the PodCliqueSet {owner.namespace}/{owner.name})"
    finding.path, finding.at = "spec.replicas", ""
    return finding
