"""Computes one reconcile step: from what exists and the time, everything that should exist for one key.

A key is a set, one replica of a set, or a topology. A step is `compile` for a running cluster: the same subjects and the same rules, for
the part that the key is about. It never turns an error into an empty graph (see `StepResult`, `StepGone`, `StepHold`; design §6).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import field
from itertools import chain
from typing import Any, NamedTuple

from grove_compiler.accepted_findings import accept_recorded
from grove_compiler.compile import run_rules
from grove_compiler.decoder import SET_KIND
from grove_compiler.engine.runtime.failure import FAILED, RuleFailure
from grove_compiler.engine.runtime.program import Part
from grove_compiler.engine.runtime.results import Event, ObjectWait, RequestedDeletion, StatusCondition, StatusPatch
from grove_compiler.graph.diagnostic import Diagnostic, has_errors
from grove_compiler.graph.graph import CompiledGraph
from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.known_topologies import Known
from grove_compiler.kube.conditions import status_of
from grove_compiler.model.checks.scale_target import foreign_autoscalers
from grove_compiler.model.decisions import DecisionRules
from grove_compiler.model.expanded.deferred_statuses import deferred_statuses
from grove_compiler.model.expanded.expansion import Expansion
from grove_compiler.model.expanded.last_valid_spec import as_it_was, before_the_edit
from grove_compiler.model.expanded.live_pods import live_pods
from grove_compiler.model.expanded.recorded_templates import revisions_of
from grove_compiler.model.expanded.revisions import runs_unrecorded
from grove_compiler.model.expanded.structure import ExpandedSet, Replica
from grove_compiler.model.expanded.tally import use_cached_tally
from grove_compiler.model.expanded.training.job import backing_off, time_is_up
from grove_compiler.model.inputs.snapshot import ObjectReader, Snapshot
from grove_compiler.model.spec.podcliqueset import PodCliqueSet, share_templates
from grove_compiler.record import record
from grove_compiler.step_context import Generation, StepContext
from grove_compiler.subjects import Subject, live_sets
from grove_compiler.unknown import Unknown
from grove_compiler.validation import validate
from kube_objects.manifest import is_terminating

__all__ = ["GROUP", "Key", "StepContext", "StepGone", "StepHold", "StepResult", "step"]

GROUP = "grove.io"
POD_TEMPLATE = re.compile(r"spec\.template\.cliques\[(\d+)\]")


class Key(NamedTuple):
    """Names what a step is about. `replica` is the index of one replica of a set; None is the set itself, without its replicas."""

    kind: str
    namespace: str
    name: str
    replica: int | None = None

    @property
    def whole(self) -> Key:
        """The key of the set that a replica belongs to; any other key itself."""
        return self._replace(replica=None)

    def __str__(self) -> str:
        name = f"{self.kind}/{self.namespace}/{self.name}" if self.namespace else f"{self.kind}/{self.name}"
        return name if self.replica is None else f"{name}[{self.replica}]"


@record
class StepResult:
    """Everything that should exist for a key. `graph` is complete: what the key owns and is not in it may be pruned.

    `statuses` and `conditions` are written before `deletions`, which follow from them, are carried out (design §6). `events` are recorded
    once, by their names. `requeue_at` is when to requeue the key even if nothing changes, in seconds since the epoch; None for never.
    `replicas` is the number of replica keys of the set; 0 for a topology. `waits` computes what objects wait for on demand, since few
    callers need it. `deferred_statuses` and `deferred_conditions` are not written yet, since pods are just being started. `hold` tells
    that the set's present spec is wrong: everything is as its last valid one wants it, and nothing that `graph` lacks may be pruned.
    """

    graph: CompiledGraph
    conditions: list[StatusCondition] = field(default_factory=list)
    statuses: list[StatusPatch] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    deletions: list[RequestedDeletion] = field(default_factory=list)
    requeue_at: float | None = None
    findings: list[Diagnostic] = field(default_factory=list)
    generation_hash: str = ""
    replicas: int = 0
    waits: Callable[[], list[ObjectWait]] = list
    deferred_statuses: list[StatusPatch] = field(default_factory=list)
    deferred_conditions: list[StatusCondition] = field(default_factory=list)
    hold: StepHold | None = None

    def write_deferred(self, of: ObjectRef) -> None:
        """Moves what was deferred of the status of an object to what is written, if anything was."""
        self.statuses += [status for status in self.deferred_statuses if status.of == of]
        self.conditions += [condition for condition in self.deferred_conditions if condition.of == of]
        self.deferred_statuses = [status for status in self.deferred_statuses if status.of != of]
        self.deferred_conditions = [condition for condition in self.deferred_conditions if condition.of != of]


class StepGone(NamedTuple):
    """Tells that the key does not exist, so that everything it owned may be pruned. `reason` is one sentence."""

    reason: str


class StepHold(NamedTuple):
    """Tells that something is wrong, so that everything stays as it is. `reason` is one sentence; `findings` have the places.

    It is `unforeseen` where neither an input nor a rule is known to be wrong: an exception in the program itself.
    """

    reason: str
    findings: Sequence[Diagnostic] = ()
    unforeseen: bool = False

    @property
    def is_fault(self) -> bool:
        """Whether the program or a rule failed, so that the inputs of the step are worth keeping for its author."""
        return self.unforeseen or any(finding.code == FAILED for finding in self.findings)


def step(view: ObjectReader, key: Key, now: float, context: StepContext) -> StepResult | StepGone | StepHold:
    """Returns what should exist for a key, given what exists and the time in seconds since the epoch.

    Pure except for the caches of `context`. Nothing is raised: any failure, even in the model or in a user's rule, is a `StepHold`. So is a
    question that `view` cannot answer (a kind that is not synced): unknown does not mean absent.
    """
    if has_errors(context.findings):
        return StepHold("the operator's configuration has errors", context.findings)
    try:
        return _step_of_set(view, key, now, context) if key.kind == SET_KIND else _step_of_topology(view, key, now, context)
    except RuleFailure as failure:
        return StepHold(failure.diagnostic.message, [failure.diagnostic])
    except Unknown as error:
        return StepHold(str(error))
    except Exception as error:  # a bug of ours or of a view must never prune an object
        return StepHold(f"{type(error).__name__}: {error}", unforeseen=True)


def _step_of_set(view: ObjectReader, key: Key, now: float, context: StepContext) -> StepResult | StepGone | StepHold:
    manifest = view.get(GROUP, SET_KIND, key.namespace, key.name)
    if manifest is None or is_terminating(manifest):
        return StepGone("the set does not exist" if manifest is None else "the set is being deleted")
    snapshot = Snapshot((), view)
    generation = context.generation(manifest, snapshot)
    if generation is None:
        return StepHold(f"{manifest.get('apiVersion')} is not a version of a {SET_KIND} that this program knows")
    topologies = context.topologies(snapshot)
    if has_errors(generation.entry.findings):
        subject = Subject(SET_KIND, {}, generation.entry, generation.entry.findings)
        outcome: StepResult | StepGone | StepHold = StepHold(subject.hold, subject.findings)
    else:
        subject = _subject_of_set(manifest, generation, snapshot, topologies, now, context)
        outcome = _step_of_part(subject, key.replica, now, context)
    if isinstance(outcome, StepHold) and has_errors(subject.findings):
        former = _former_subject(manifest, generation, snapshot, topologies, now, context)
        return outcome if former is None else _as_before(outcome, former, key.replica, now, context)
    return outcome


def _subject_of_set(
    manifest: Manifest,
    generation: Generation,
    snapshot: Snapshot,
    topologies: Known,
    now: float,
    context: StepContext,
    *,
    is_former: bool = False,
) -> Subject:
    """Returns a set with what its rules read and the errors that are found in it."""
    pcs = _expanded_set(manifest, generation, snapshot, topologies, now, context)
    if is_former:
        # It was valid, so errors in it are those of newer rules; its status tells of the edit that is held.
        pcs.is_last_valid = pcs.has_run = True
    scope = {**context.scope, "set": pcs, "old": generation.declared, "now": now, "config": pcs.config}
    owners = [Expansion(pcs, *(topology for topology, _ in topologies)), generation.expansion]
    subject = Subject(SET_KIND, scope, generation.entry, owners=owners)
    found = [*_validation_findings(subject, generation, topologies, context), *_changes(manifest, subject, generation, context)]
    subject.findings = [*generation.entry.findings, *accept_recorded(found, pcs, context.program)]
    pcs.is_valid = not has_errors(subject.findings)
    for topology, entry in topologies:
        if topology is pcs.topology and entry is not None:
            subject.needs.append(context.validated_topology(topology, entry, snapshot))
    return subject


def _former_subject(
    manifest: Manifest, generation: Generation, snapshot: Snapshot, topologies: Known, now: float, context: StepContext
) -> Subject | None:
    """Returns a set that has errors as it last was without them; None where nobody knows, or it would be held as well."""
    newest = next(reversed(revisions_of(snapshot, ObjectRef.of(manifest))), None)
    if newest is None or (before := as_it_was(manifest, newest)) is None:
        return None
    if (former := context.former_generation(generation, before, newest)) is None:
        return None
    subject = _subject_of_set(before, former, snapshot, topologies, now, context, is_former=True)
    pcs: ExpandedSet = subject.scope["set"]
    # Where somebody has deleted the newest revision, another one is an update: back to what the set ran before. Where a process ended
    # before it could record the one that the status names, nothing runs of that.
    in_status = status_of(manifest).get("currentGenerationHash")
    is_followed = in_status == newest.generation_hash or (in_status and not runs_unrecorded(pcs))
    return subject if is_followed and pcs.generation_hash == newest.generation_hash and not subject.hold else None


def _as_before(hold: StepHold, former: Subject, replica: int | None, now: float, context: StepContext) -> StepResult | StepHold:
    """Returns what a set that is held needs meanwhile: pods that are lost are lost for the edit, and for nothing else (decisions §10).

    Replicas that its last valid spec does not declare stay as they are.
    """
    if replica is not None and replica >= former.scope["set"].replica_count:
        return hold
    outcome = _step_of_part(former, replica, now, context)
    if not isinstance(outcome, StepResult):
        return hold
    outcome.hold = hold
    return outcome


def _expanded_set(
    manifest: Manifest, generation: Generation, snapshot: Snapshot, topologies: Known, now: float, context: StepContext
) -> ExpandedSet:
    """Expands a set, with everything that its cached generation knows already."""
    # A generation's spec is fixed, but the set's status and metadata change under it, and decisions depend on them.
    current = {**generation.entry.manifest, "metadata": manifest["metadata"], "status": manifest.get("status") or {}}
    peers = [topology for topology, _ in topologies if not topology.is_replaced]
    settings, decisions = context.settings, DecisionRules(context.program.decisions)
    pcs = ExpandedSet(current, settings.namespace, decisions, context.config, settings, snapshot, peers)
    if pcs.revisions:
        pcs.config = context.config.with_default_scheduler(pcs.revisions[-1].default_scheduler)
    share_templates(pcs, generation.declared)
    pcs.is_out_of_time, pcs.backing_off = time_is_up(pcs, now), backing_off(pcs, now)
    use_cached_tally(pcs, generation.tally)
    pcs.template_hashes = pcs.inherited_hashes or generation.effective_hashes(pcs.revisions)
    return pcs


def _validation_findings(subject: Subject, generation: Generation, topologies: Known, context: StepContext) -> list[Diagnostic]:
    """Returns the errors of validation, cached for a generation until a topology, or an external autoscaler of a training set, changes.

    Rules that read anything else of the cluster only warn. They are not run: a warning holds nothing, and nor may what it would read.
    """
    pcs: ExpandedSet = subject.scope["set"]
    autoscalers = foreign_autoscalers(pcs) if pcs.is_training else []
    manifests = [topology.manifest for topology, _ in topologies if not topology.is_replaced]
    if generation.findings is None or (generation.topologies, generation.autoscalers) != (manifests, autoscalers):
        generation.findings = validate(subject, context.program, context.settings, errors_only=True)
        generation.topologies, generation.autoscalers = manifests, autoscalers
    return generation.findings


def _changes(manifest: Manifest, subject: Subject, generation: Generation, context: StepContext) -> list[Diagnostic]:
    """Returns what the rules on `update` have against the set as it was recorded: admission can be off or bypassed (decisions §10)."""
    if generation.changes is None:
        pcs: ExpandedSet = subject.scope["set"]
        before = before_the_edit(manifest, pcs.revisions)
        entry = None if before is None else context.decode(before)
        generation.changes = []
        if entry is not None:
            old = PodCliqueSet(entry.manifest, context.settings.namespace, DecisionRules(context.program.decisions))
            update = Subject(SET_KIND, {**subject.scope, "old": old}, generation.entry, is_update=True)
            found = validate(update, context.program, context.settings, errors_only=True)
            generation.changes = [one for one in found if one.code in context.program.about_updates]
    return generation.changes


def _step_of_part(subject: Subject, replica: int | None, now: float, context: StepContext) -> StepResult | StepGone | StepHold:
    """Returns the step of one replica of a set, or of the set without its replicas."""
    all_findings, pcs = subject.findings, subject.scope["set"]
    subject.findings = [*_holding_findings(all_findings, pcs, context.program.hold_updates)]
    # No rule makes anything for a replica that the set does not declare, so the replica is gone without running one: a user's rule that
    # fails elsewhere does not block scaling in. Errors of the set itself, such as invalid replicas, do hold.
    if replica is not None and replica >= pcs.replica_count and not subject.hold:
        return StepGone(f"the set has {pcs.replica_count} replicas")
    outcome = _run(subject, "rest" if replica is None else replica, now, context)
    if isinstance(outcome, StepHold) and len(all_findings) > len(subject.findings):
        # The rule failed because of an invalid template, and the findings about that explain it better than the rule's failure.
        subject.findings = all_findings
        return StepHold(subject.hold, all_findings)
    return outcome


def _holding_findings(findings: list[Diagnostic], pcs: ExpandedSet, hold_updates: Collection[str]) -> Iterator[Diagnostic]:
    """Yields the findings that hold a set. Those of rules that `hold_updates` repeat the API server's validation, and are left to it.

    They do hold a set with pods of another template: an update would delete those pods for new ones that the API server rejects. So does
    one that is known to have been valid, also where all these pods are lost at once: others of that template come instead of none.
    """
    for finding in findings:
        clique = POD_TEMPLATE.match(finding.at or finding.path) if finding.code in hold_updates else None
        if clique is None or _was_valid_otherwise(pcs, int(clique[1])) or _has_pods_of_another_template(pcs, int(clique[1])):
            yield finding


def _was_valid_otherwise(pcs: ExpandedSet, clique: int) -> bool:
    newest = next(reversed(pcs.revisions), None)
    is_known = newest is not None and newest.last_valid_spec and newest.hashes.get(pcs.cliques[clique].name)
    return bool(is_known) and is_known != pcs.template_hashes[0][clique]


def _has_pods_of_another_template(pcs: ExpandedSet, clique: int) -> bool:
    name = pcs.cliques[clique].name
    cliques = (clique for replica in pcs.replicas for clique in replica.all_cliques if clique.template.name == name)
    return any(not pod.has_current_template for clique in cliques for pod in live_pods(clique))


def _step_of_topology(view: ObjectReader, key: Key, now: float, context: StepContext) -> StepResult | StepGone | StepHold:
    snapshot = Snapshot((), view)
    topologies = context.topologies(snapshot)
    matching = [(topology, entry) for topology, entry in topologies if (topology.kind, topology.name) == (key.kind, key.name)]
    if not matching:
        return StepGone("the topology does not exist")
    topology, entry = matching[0]
    topology.find_sets = lambda: live_sets(snapshot)
    if entry is not None:
        entry = context.validated_topology(topology, entry, snapshot)
    # What is being deleted need not be valid: held, it would keep its finalizer for ever.
    findings = entry.findings if entry and not topology.is_terminating else []
    subject = Subject(key.kind, {"topology": topology, "old": None, "now": now, **context.scope}, entry, findings)
    subject.owners = [Expansion(*(known for known, _ in topologies))]
    return _run(subject, "all", now, context)


def _run(subject: Subject, part: Part, now: float, context: StepContext) -> StepResult | StepHold:
    """Runs all rules for a subject, or for a part of it."""
    program, limit = context.program, context.settings.max_objects
    result = run_rules(subject, 0, program, limit, limit, part)
    if result.hold:
        return StepHold(result.hold, result.findings)
    arguments = subject.scope, subject.kind, part

    def waits() -> list[ObjectWait]:
        return program.waits(subject.scope, subject.kind, part)  # keeps the subject, and so its set, as long as the result

    conditions, statuses = result.conditions, program.statuses(*arguments)
    deferred = deferred_statuses(chain(conditions, statuses), _replicas(subject, part), now)
    return StepResult(
        CompiledGraph(result.nodes, context.apply_order),
        conditions=[condition for condition in conditions if condition.of not in deferred],
        statuses=[status for status in statuses if status.of not in deferred],
        events=program.events(*arguments),
        deletions=program.deletions(*arguments),
        requeue_at=program.requeue_at(*arguments),
        findings=result.findings,
        generation_hash=result.generation_hash,
        replicas=subject.set.replica_count if subject.set is not None else 0,
        waits=waits,
        deferred_statuses=[status for status in statuses if status.of in deferred],
        deferred_conditions=[condition for condition in conditions if condition.of in deferred],
    )


def _replicas(subject: Subject, part: Any) -> Sequence[Replica]:
    """Returns the replicas of the set that a part of it is about; none for a topology."""
    return [subject.set.replicas[part]] if subject.set is not None and part != "rest" else ()
