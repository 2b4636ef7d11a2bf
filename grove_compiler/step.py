"""Computes one reconcile step: from what exists and the time, everything that should exist for one key.

A key is a set, one replica of a set, or a topology. A step is `compile` for a running cluster: the same subjects and the same rules, for
the part that the key is about. It never turns an error into an empty graph (see `Step`, `Gone`, `Hold`; design §6).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from typing import Any, NamedTuple

from grove_compiler.compile import expand as run_rules
from grove_compiler.compile import waits_of
from grove_compiler.decoder import CONFIGURATION_KIND, SET_KIND, Decoded, Decoder
from grove_compiler.engine.runtime.failure import FAILED, RuleFailure
from grove_compiler.engine.runtime.program import Program
from grove_compiler.engine.runtime.results import Condition, Deletion, Event, StatusPatch, Wait
from grove_compiler.graph.diagnostic import Diagnostic, has_errors
from grove_compiler.graph.graph import Graph
from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.known_topologies import Known, decode_existing, existing_manifests, known_topologies
from grove_compiler.model.checks.scale_target import ForeignAutoscaler, live_foreign_autoscalers
from grove_compiler.model.decisions import DecisionRules
from grove_compiler.model.expanded.live_pods import live_pods
from grove_compiler.model.expanded.recorded_templates import Hashes, Revision, effective_hashes
from grove_compiler.model.expanded.structure import ExpandedSet
from grove_compiler.model.expanded.tally import KeptTally, keep_tally
from grove_compiler.model.expanded.topology import KAI_API_VERSION
from grove_compiler.model.expanded.training.job import backing_off, time_is_up
from grove_compiler.model.expanded.whole_statuses import without_waiting
from grove_compiler.model.inputs.configuration import Configuration
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import Objects, Snapshot, Unknown, is_terminating
from grove_compiler.model.spec.podcliqueset import PodCliqueSet, share_templates
from grove_compiler.record import record
from grove_compiler.source.document import Document
from grove_compiler.subjects import Subject, expand, judge_topologies, live_sets, validate

GROUP = "grove.io"
POD_RULES = "pod/"
"""The prefix of the rules that repeat the API server's validation of pods (`rules/validation/pod`)."""
POD_TEMPLATE = re.compile(r"spec\.template\.cliques\[(\d+)\]")
MOST_GENERATIONS = 10_000
"""The number of sets whose last generation is cached. One takes 6 KB besides its manifest (measured); a dropped one is recomputed."""


class Key(NamedTuple):
    """Names what a step is about. `replica` is the index of one replica of a set; None is the set itself, without its replicas."""

    kind: str
    namespace: str
    name: str
    replica: int | None = None

    def __str__(self) -> str:
        name = f"{self.kind}/{self.namespace}/{self.name}" if self.namespace else f"{self.kind}/{self.name}"
        return name if self.replica is None else f"{name}[{self.replica}]"


@record
class Step:
    """Everything that should exist for a key. `graph` is complete: what the key owns and is not in it may be pruned.

    `statuses` and `conditions` are written before `deletions`, which follow from them, are carried out (design §6). `events` are recorded
    once, by their names. `look_again` is when to requeue the key even if nothing changes, in seconds since the epoch. `replicas` is the
    number of replica keys of the set; 0 for a topology. `waits` computes what objects wait for on demand, since few callers need it.
    """

    graph: Graph
    conditions: list[Condition] = field(default_factory=list)
    statuses: list[StatusPatch] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    deletions: list[Deletion] = field(default_factory=list)
    look_again: float | None = None
    findings: list[Diagnostic] = field(default_factory=list)
    generation_hash: str = ""
    replicas: int = 0
    waits: Callable[[], list[Wait]] = list


class Gone(NamedTuple):
    """Tells that the key does not exist, so that everything it owned may be pruned. `reason` is one sentence."""

    reason: str


class Hold(NamedTuple):
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


@record
class Generation:
    """Caches what depends on a set's spec alone, and so is computed once for each generation.

    `declaration` identifies it: besides the generation it holds labels and annotations, which do not raise `metadata.generation`.
    `findings` are those of validation, given `topologies` and `autoscalers`; None before the first. `hashes` are those of the pod
    templates, given the UIDs of the `recorded` revisions. `tally` is the kept tally of its replicas.
    """

    declaration: tuple[Any, ...]
    entry: Decoded
    declared: PodCliqueSet
    topologies: list[Manifest] = field(default_factory=list)
    autoscalers: list[ForeignAutoscaler] = field(default_factory=list)
    findings: list[Diagnostic] | None = None
    recorded: list[str] | None = None
    hashes: Hashes = ([], "")
    tally: KeptTally = field(default_factory=KeptTally)

    def effective_hashes(self, revisions: Sequence[Revision]) -> Hashes:
        """Returns the hashes of its templates, given the recorded ones. Compared once, since a revision is immutable under its UID."""
        recorded = [revision.uid for revision in revisions]
        if self.recorded != recorded:
            self.recorded = recorded
            declared = self.declared
            self.hashes = effective_hashes(declared.cliques, declared.priority_class, revisions, lambda: declared.computed_hashes)
        return self.hashes


class Context:
    """Holds what the steps of one process share: the program, the settings, the operator's configuration, and caches.

    The caches (of generations, and of validated topologies) only save time: a step gives the same result with empty ones. `findings` are
    those of the configuration; with an error in it every step holds.
    """

    def __init__(self, program: Program, settings: Settings, config: Document | None = None) -> None:
        self.program, self.settings = program, settings
        self.waits = waits_of(program)
        self.document = config
        self.scope: dict[str, Any] = {"settings": settings}
        decoder = Decoder(program, self.scope)
        decoder.take([config] if config else [])
        entry = next(iter(decoder.of_kind(CONFIGURATION_KIND)), None)
        self.config: Configuration = Configuration(entry.manifest if entry else {})
        self.scope["config"] = self.config
        if entry is not None:
            decoder.findings += validate(
                Subject(CONFIGURATION_KIND, {"old": None, "topologies": [], **self.scope}, entry), program, settings
            )
        self.findings = decoder.findings
        self.topologies: list[Decoded] = []
        self.topologies_rest_on: list[Manifest | None] | None = None
        self._generations: dict[str, Generation] = {}

    def take_over(self, other: Context) -> None:
        """Replaces the content of this context by another one's, for everybody who holds it: its rules apply from the next step on."""
        self.__dict__.update(other.__dict__)

    def decode(self, manifest: Manifest) -> Decoded | None:
        """Decodes an object of the cluster; None when its kind is unknown."""
        decoder = Decoder(self.program, self.scope)
        decoder.take([Document(manifest)])
        return next(iter(decoder.decoded), None)

    def remembered(self, manifest: Manifest) -> Generation | None:
        """Returns the cached generation of a set; None when there is none for this spec."""
        known = self._generations.get(manifest["metadata"].get("uid") or "")
        return known if known is not None and known.declaration == _declaration(manifest) else None

    def generation(self, manifest: Manifest) -> Generation | None:
        """Returns the generation of a set, cached or computed; None when the set cannot be decoded."""
        known = self.remembered(manifest)
        if known is not None:
            return known
        entry = self.decode(manifest)
        if entry is None:
            return None
        declared = PodCliqueSet(entry.manifest, self.settings.namespace, DecisionRules(self.program.decisions))
        generation = Generation(_declaration(manifest), entry, declared)
        uid = manifest["metadata"].get("uid") or ""
        if uid and manifest["metadata"].get("generation"):
            self._generations.pop(uid, None)
            self._generations[uid] = generation
            if len(self._generations) > MOST_GENERATIONS:
                del self._generations[next(iter(self._generations))]  # the oldest
        return generation


def _declaration(manifest: Manifest) -> tuple[Any, ...]:
    metadata = manifest["metadata"]
    return metadata.get("generation"), metadata.get("labels"), metadata.get("annotations")


def step(view: Objects, key: Key, now: float, context: Context) -> Step | Gone | Hold:
    """Returns what should exist for a key, given what exists and the time in seconds since the epoch.

    Pure except for the caches of `context`. Nothing is raised: any failure, even in the model or in a user's rule, is a `Hold`. So is a
    question that `view` cannot answer (a kind that is not synced): unknown does not mean absent.
    """
    if has_errors(context.findings):
        return Hold("the operator's configuration has errors", context.findings)
    try:
        return _of_set(view, key, now, context) if key.kind == SET_KIND else _of_topology(view, key, now, context)
    except RuleFailure as failure:
        return Hold(failure.diagnostic.message, [failure.diagnostic])
    except Unknown as error:
        return Hold(str(error))
    except Exception as error:  # a bug of ours or of a view must never prune an object
        return Hold(f"{type(error).__name__}: {error}", unforeseen=True)


def _of_set(view: Objects, key: Key, now: float, context: Context) -> Step | Gone | Hold:
    manifest = view.get(GROUP, SET_KIND, key.namespace, key.name)
    if manifest is None or is_terminating(manifest):
        return Gone("the set does not exist" if manifest is None else "the set is being deleted")
    generation = context.generation(manifest)
    if generation is None:
        return Hold(f"{manifest.get('apiVersion')} is no version of a {SET_KIND} that this program knows")
    if has_errors(generation.entry.findings):
        subject = Subject(SET_KIND, {}, generation.entry, generation.entry.findings)
        return Hold(subject.hold, subject.findings)
    snapshot = Snapshot((), view)
    topologies = _topologies(snapshot, context)
    peers = [topology for topology, _ in topologies if not topology.is_replaced]
    # A generation's spec is fixed, but the set's status and metadata change under it, and decisions depend on them.
    current = {**generation.entry.manifest, "metadata": manifest["metadata"], "status": manifest.get("status") or {}}
    expanded = expand(current, context.config, context.settings, snapshot, peers, context.program)
    share_templates(expanded, generation.declared)
    expanded.is_out_of_time, expanded.backing_off = time_is_up(expanded, now), backing_off(expanded, now)
    keep_tally(expanded, generation.tally)
    expanded.template_hashes = expanded.inherited_hashes or generation.effective_hashes(expanded.revisions)
    subject = Subject(SET_KIND, {"set": expanded, "old": generation.declared, "now": now, **context.scope}, generation.entry)
    subject.findings = [*generation.entry.findings, *_validated(subject, generation, [peer.manifest for peer in peers], context)]
    all_findings = subject.findings
    subject.findings = [*_holding(all_findings, expanded)]
    subject.needs = [entry for topology, entry in topologies if topology is expanded.topology and entry is not None]
    # No rule makes anything for a replica that the set does not declare, so the replica is gone without running one: a user's rule that
    # fails elsewhere does not block scaling in. Errors of the set itself, such as invalid replicas, do hold.
    if key.replica is not None and key.replica >= expanded.replica_count and not subject.hold:
        return Gone(f"the set has {expanded.replica_count} replicas")
    outcome = _run(subject, "rest" if key.replica is None else key.replica, context, expanded.replica_count)
    if isinstance(outcome, Step) and key.replica is not None:
        outcome.statuses = without_waiting(outcome.statuses, [expanded.replicas[key.replica]], now)
    if isinstance(outcome, Hold) and len(all_findings) > len(subject.findings):
        # The rule failed because of an invalid template, and the findings about that explain it better than the rule's failure.
        subject.findings = all_findings
        return Hold(subject.hold, all_findings)
    return outcome


def _holding(findings: list[Diagnostic], set: ExpandedSet) -> Iterator[Diagnostic]:
    """Yields the findings that hold a set. Findings that repeat the API server's validation of pods are left to the API server.

    They do hold a set with pods of another template: an update would delete those pods for new ones that the API server rejects.
    """
    for finding in findings:
        clique = POD_TEMPLATE.match(finding.path) if finding.code.startswith(POD_RULES) else None
        if clique is None or _has_pods_of_another_template(set, int(clique[1])):
            yield finding


def _has_pods_of_another_template(set: ExpandedSet, clique: int) -> bool:
    name = set.cliques[clique].name
    cliques = (clique for replica in set.replicas for clique in replica.all_cliques if clique.template.name == name)
    return any(not pod.has_current_template for clique in cliques for pod in live_pods(clique))


def _validated(subject: Subject, generation: Generation, topologies: list[Manifest], context: Context) -> list[Diagnostic]:
    """Returns the findings of validation, cached for a generation until a topology, or an external autoscaler of a training set, changes.

    Rules that read anything else of the cluster only give warnings, which hold nothing.
    """
    set: ExpandedSet = subject.scope["set"]
    autoscalers = live_foreign_autoscalers(set) if set.is_training else []
    if generation.findings is None or (generation.topologies, generation.autoscalers) != (topologies, autoscalers):
        generation.findings = validate(subject, context.program, context.settings)
        generation.topologies, generation.autoscalers = topologies, autoscalers
    return generation.findings


def _of_topology(view: Objects, key: Key, now: float, context: Context) -> Step | Gone | Hold:
    snapshot = Snapshot((), view)
    topologies = _topologies(snapshot, context)
    matching = [(topology, entry) for topology, entry in topologies if (topology.kind, topology.name) == (key.kind, key.name)]
    if not matching:
        return Gone("the topology does not exist")
    topology, entry = matching[0]
    topology.find_sets = lambda: live_sets(snapshot)
    findings = entry.findings if entry else []
    return _run(Subject(key.kind, {"topology": topology, "old": None, "now": now, **context.scope}, entry, findings), "all", context, 0)


def _topologies(snapshot: Snapshot, context: Context) -> Known:
    """Returns the topologies of the cluster, validated: an invalid one holds itself and the sets that refer to it.

    They are decoded and validated again only when one of them, or a KAI Topology of the same name, changes: every step needs them, and
    validating two would be 0.3 ms of a small set's 0.7 (measured).
    """
    manifests = existing_manifests(snapshot)
    refs = [ObjectRef(KAI_API_VERSION, "Topology", "", one["metadata"]["name"]) for one in manifests if context.config.makes_kai_topologies]
    rests_on = [*manifests, *map(snapshot.live, refs)]
    is_known = context.topologies_rest_on == rests_on
    if not is_known:
        context.topologies = decode_existing(context.program, context.scope, snapshot)
    topologies = known_topologies([], context.topologies, context.config, snapshot)
    if not is_known:
        judge_topologies(topologies, context.scope, context.settings, context.program)
        context.topologies_rest_on = rests_on
    return topologies


def _run(subject: Subject, part: Any, context: Context, replicas: int) -> Step | Hold:
    most = context.settings.max_objects
    result = run_rules(subject, 0, context.program, most, most, part)
    if result.hold:
        return Hold(result.hold, result.findings)
    arguments = subject.scope, subject.kind, part
    return Step(
        Graph(result.nodes, context.waits),
        result.conditions,
        context.program.statuses(*arguments),
        context.program.events(*arguments),
        context.program.deletions(*arguments),
        context.program.again(*arguments),
        result.findings,
        result.generation_hash,
        replicas,
        lambda: context.program.waits(*arguments),
    )
