"""Finds the errors that a set has run with: they no longer hold it, and can be repaired (grove #767; decisions §10).

Another operator ran what ours would reject, or an earlier release of ours, and held for it, the set could not even replace a pod. What it
came with is recorded in an annotation of its newest ControllerRevision: an error that an edit adds later holds the set as ever.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from grove_compiler.engine.runtime.failure import FAILED
from grove_compiler.engine.runtime.program import Program
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.model.expanded.structure import AcceptedFinding, ExpandedSet

ErrorKey = tuple[str, str]
"""Names an error by its rule and its place. A path that is reported is upstream's where that has one, and may name a list as a whole."""


def errors_in(findings: Iterable[Diagnostic]) -> set[ErrorKey]:
    """Returns the keys of the errors among findings."""
    return {_key(finding) for finding in findings if finding.severity == "error"}


def _key(finding: Diagnostic) -> ErrorKey:
    return finding.code, finding.at or finding.path


def accept(findings: list[Diagnostic], former: Collection[ErrorKey], about_updates: Collection[str]) -> list[Diagnostic]:
    """Returns the findings about an update, with the errors as warnings that the old object had as well, its `former` ones.

    So is a change of what could not change (a finding of a rule `about_updates`) that repairs one of them.
    """
    present = errors_in(findings)
    repaired = [path for code, path in former if (code, path) not in present]

    def is_accepted(finding: Diagnostic) -> bool:
        is_repair = finding.code in about_updates and any(_overlap(_key(finding)[1], path) for path in repaired)
        return finding.severity == "error" and (is_repair or _key(finding) in former)

    return [replace(finding, severity="warning") if is_accepted(finding) else finding for finding in findings]


def accept_recorded(findings: list[Diagnostic], pcs: ExpandedSet, program: Program) -> list[Diagnostic]:
    """Returns the findings about a live set, with the errors as warnings that it has run with, and notes those in the set.

    Rules that are only about new sets have nothing to say about one that has a revision, as admission has not asked them about its edits.
    What the API server rejects as well (`hold_updates`) is no such error: its pods would not run, and it holds updates alone.
    """
    if pcs.revisions:
        findings = [finding for finding in findings if finding.code not in program.about_creations]
    errors = _may_have_run(findings, program)
    if not pcs.revisions:
        former = errors if pcs.ran_elsewhere else frozenset()
    else:
        new = _new_here(errors, program)
        former = _by_place(pcs.revisions[-1].accepted_findings, findings) | (new if new and pcs.has_run else frozenset())
    if not former:
        return findings
    accepted = accept(findings, former, program.about_updates)
    messages = {_key(one): one.message for one in accepted}
    has_repairs = any(one is not finding and one.code in program.about_updates for one, finding in zip(accepted, findings, strict=True))
    pcs.accepted_findings = [
        AcceptedFinding(code, path, messages.get((code, path), ""))
        for code, path in sorted(former)
        if (code, path) in errors or has_repairs  # as long as the revision records what was repaired
    ]
    return accepted


def _may_have_run(findings: list[Diagnostic], program: Program) -> frozenset[ErrorKey]:
    """Returns the errors with which pods can run. That a rule fails says nothing about the set, and what the rule would say is unknown."""
    return frozenset((code, path) for code, path in errors_in(findings) if code != FAILED and code not in program.hold_updates)


def _new_here(errors: frozenset[ErrorKey], program: Program) -> frozenset[ErrorKey]:
    """Returns the errors that, in a set that has run as it is, only this release, or this configuration, has found.

    A generation does not tell of labels and annotations, and that something has changed is told by the rules about updates.
    """
    return frozenset((code, path) for code, path in errors if code not in program.hold_always and not path.startswith("metadata"))


def _by_place(recorded: Iterable[ErrorKey], findings: Iterable[Diagnostic]) -> frozenset[ErrorKey]:
    """Returns recorded keys with places instead of the paths that an earlier version recorded."""
    places: dict[ErrorKey, set[ErrorKey]] = {}
    for finding in findings:
        places.setdefault((finding.code, finding.path), set()).add(_key(finding))
    return frozenset(key for one in recorded for key in places.get(one, {one}))


def _overlap(one: str, other: str) -> bool:
    """Reports whether one of two field paths is, or is inside, the other."""
    short, long = sorted((one, other), key=len)
    return long.startswith(short) and long[len(short) : len(short) + 1] in ("", ".", "[")
