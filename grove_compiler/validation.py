"""Validates subjects by the rules, and counts the objects that a set would have."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from grove_compiler.decoder import Decoded, InputRules
from grove_compiler.engine.runtime.failure import FAILED, RuleFailure
from grove_compiler.graph.diagnostic import Diagnostic, has_errors
from grove_compiler.known_topologies import Known
from grove_compiler.model.expanded.expansion import Expansion
from grove_compiler.model.expanded.structure import ExpandedSet
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.subjects import Subject


def validate(subject: Subject, program: InputRules, settings: Settings, *, errors_only: bool = False) -> list[Diagnostic]:
    """Runs the validation rules for a subject; returns their findings, with places, and adds them to the subject's."""
    entry = subject.entry
    if entry is None or not entry.is_defaulted:
        return []
    try:
        raw = program.validate(subject.scope, "update" if subject.is_update else "create", subject.kind, errors_only=errors_only)
    except RuleFailure as failure:
        # Where invalid parts were dropped, a rule may fail because of them: the structural findings are enough.
        findings = [] if entry.faults else [failure.diagnostic]
    else:
        failures = [finding for finding in raw if finding.code == FAILED and not entry.faults]  # of rules that warn
        findings = [*failures, *(entry.restore(finding) for finding in raw if finding.code != FAILED)]
        if entry.faults and findings:
            findings = _own_mistakes(findings, subject, entry, program)
        expanded = subject.set if not entry.faults and not has_errors(findings) else None
        if expanded is not None and count_objects(expanded, settings.max_objects) > settings.max_objects:
            findings.append(entry.locate(too_many(settings.max_objects)))
    subject.findings += findings
    return findings


def _own_mistakes(findings: list[Diagnostic], subject: Subject, entry: Decoded, program: InputRules) -> list[Diagnostic]:
    """Returns the findings that do not only follow from the invalid values of the entry (`stand_ins`)."""
    from grove_compiler.stand_ins import StandIns  # only where something is wrong

    others = StandIns(entry)
    for other in others.decoded(program, subject.scope):
        trial = replace(subject.scope["set"], manifest=other.manifest)
        scope, _owner = {**subject.scope, "set": trial}, Expansion(trial, declared=[trial])
        try:
            raw = program.validate(scope, "update" if subject.is_update else "create", subject.kind)
        except RuleFailure:
            return []
        found = {(finding.code, finding.path) for finding in map(other.restore, raw)}
        findings = [finding for finding in findings if (finding.code, finding.path) in found]
    return [finding for finding in findings if not others.may_explain(finding)]


def validate_topologies(
    topologies: Known, scope: dict[str, Any], settings: Settings, program: InputRules, *, errors_only: bool = False
) -> None:
    """Validates topologies, and adds the findings to each; a set that refers to an invalid one is held."""
    for topology, entry in topologies:
        findings = entry.findings if entry else []
        subject = Subject(topology.kind, {"topology": topology, "old": None, **scope}, entry, findings)
        validate(subject, program, settings, errors_only=errors_only)


def count_objects(expanded: ExpandedSet, limit: int) -> int:
    """Counts the Services, PodCliques, scaling groups, gangs and, if they are generated, Pods of a set. Stops above `limit`.

    There are some other objects, so the real number is a little higher. Live replica counts of the snapshot are taken into account.
    """
    total, pods = 2 * expanded.replica_count, int(expanded.settings.pods)  # the headless Service and the base gang
    # A declared count may be in the billions, so each is compared before anything is expanded for it.
    if total > limit:
        return total
    for replica in expanded.replicas:
        total += sum(1 + pods * clique.replicas for clique in replica.cliques)
        for group in replica.scaling_groups:
            total += 1 + group.replicas * len(group.template.cliques) + max(0, group.replicas - group.min_available)
            if total > limit:
                return total
            total += sum(pods * clique.replicas for member in group.members for clique in member.cliques)
        if total > limit:
            return total
    return total


def too_many(limit: int) -> Diagnostic:
    """Returns the diagnostic about a set of more objects than the limit."""
    message = f"would generate more than {limit} objects"
    return Diagnostic(
        "limit/objects", "error", message, "spec.replicas", hint="fewer replicas, or a higher limit (--max-objects)", type="Invalid value"
    )
