"""The step that a cluster takes: what exists and the time in, everything that should be for one key out.

A key is a set, one replica of a set, or a topology. A step is `compile` for something that runs: the same subjects and the same rules, for
the part that the key is about. It never turns an error into an empty graph (see `Step`, `Gone`, `Hold`).
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
"""What the rules begin with that say beforehand what an API server says of a pod (`rules/validation/pod`)."""
POD_TEMPLATE = re.compile(r"spec\.template\.cliques\[(\d+)\]")
MOST_GENERATIONS = 10_000
"""Sets whose last generation is remembered. One takes 6 KB beside its manifest (measured); a forgotten one is only worked out again."""


class Key(NamedTuple):
    """What a step is about. `replica` is the index of one replica of a set; none means the set itself, without what its replicas have."""

    kind: str
    namespace: str
    name: str
    replica: int | None = None

    def __str__(self) -> str:
        name = f"{self.kind}/{self.namespace}/{self.name}" if self.namespace else f"{self.kind}/{self.name}"
        return name if self.replica is None else f"{name}[{self.replica}]"


@record
class Step:
    """Everything that should be for a key. `graph` is complete: what a key owned and is not in it may be pruned.

    `statuses` and `conditions` are written before `deletions` are carried out, which follow from them; `events` are told once, by their
    names. `look_again` is when to take the step again even if nothing changes, in seconds since the epoch. `replicas` is how many
    keys of replicas the set of the key has; 0 for a topology. `waits` says when it is asked what objects wait for: few steps are.
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
    """The key does not exist: all that it owned may be pruned. `reason` is one sentence."""

    reason: str


class Hold(NamedTuple):
    """Something is wrong, so everything stays as it is. `reason` is one sentence, `findings` say it with places.

    It is `unforeseen` where neither an input nor a rule was found to be wrong, but the program stumbled.
    """

    reason: str
    findings: Sequence[Diagnostic] = ()
    unforeseen: bool = False

    @property
    def is_fault(self) -> bool:
        """Whether the program or a rule failed, so that whoever wrote it wants to see on what."""
        return self.unforeseen or any(one.code == FAILED for one in self.findings)


@record
class Generation:
    """What depends on the declaration of a set alone, and so is worked out once for each of its generations.

    `declaration` tells one from another: labels and annotations are declared, but count for no generation, so they are in it.
    `findings` are what the rules said of the set beside `topologies` and `autoscalers`; none while nobody asked. `hashes` are those of its
    pod templates beside the revisions that are `recorded`. `tally` is that of its replicas, as far as it is told what has changed.
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
        """The hashes of its templates beside what is recorded: compared once, for a revision never changes under its UID."""
        recorded = [one.uid for one in revisions]
        if self.recorded != recorded:
            self.recorded = recorded
            declared = self.declared
            self.hashes = effective_hashes(declared.cliques, declared.priority_class, revisions, lambda: declared.computed_hashes)
        return self.hashes


class Context:
    """What the steps of one process share: the program, the settings, the operator's configuration, and a memory of generations.

    The memory (of generations, and of topologies that were judged) only saves time: a step gives the same with an empty one. `findings`
    are those of the configuration; with an error in it every step holds, for nothing can be told to be right.
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
        """Becomes what another one is, for all who hold this one: other rules count from the next step on."""
        self.__dict__.update(other.__dict__)

    def decode(self, manifest: Manifest) -> Decoded | None:
        """Returns an object of the cluster as rules see it; none when it is of no kind that we know."""
        decoder = Decoder(self.program, self.scope)
        decoder.take([Document(manifest)])
        return next(iter(decoder.decoded), None)

    def remembered(self, manifest: Manifest) -> Generation | None:
        """Returns what was worked out for a set as it is declared; none where that is yet to be done."""
        known = self._generations.get(manifest["metadata"].get("uid") or "")
        return known if known is not None and known.declaration == _declaration(manifest) else None

    def generation(self, manifest: Manifest) -> Generation | None:
        """Returns what follows from the declaration of a set; none when it cannot be read at all."""
        known = self.remembered(manifest)
        if known is not None:
            return known
        entry = self.decode(manifest)
        if entry is None:
            return None
        declared = PodCliqueSet(entry.manifest, self.settings.namespace, DecisionRules(self.program.decisions))
        made = Generation(_declaration(manifest), entry, declared)
        uid = manifest["metadata"].get("uid") or ""
        if uid and manifest["metadata"].get("generation"):
            self._generations.pop(uid, None)
            self._generations[uid] = made
            if len(self._generations) > MOST_GENERATIONS:
                del self._generations[next(iter(self._generations))]  # the one that was made first
        return made


def _declaration(manifest: Manifest) -> tuple[Any, ...]:
    metadata = manifest["metadata"]
    return metadata.get("generation"), metadata.get("labels"), metadata.get("annotations")


def step(view: Objects, key: Key, now: float, context: Context) -> Step | Gone | Hold:
    """Returns what should exist for a key, given what exists and the time in seconds since the epoch.

    Pure but for the memory of `context`. Nothing is raised: whatever goes wrong, also in the model or in a rule of a user, is a `Hold`.
    What `view` cannot answer (a kind that is not synced) is one, too: not to know is not to be told that nothing is there.
    """
    if has_errors(context.findings):
        return Hold("the operator's configuration has errors", context.findings)
    try:
        return _of_set(view, key, now, context) if key.kind == SET_KIND else _of_topology(view, key, now, context)
    except RuleFailure as failure:
        return Hold(failure.diagnostic.message, [failure.diagnostic])
    except Unknown as error:
        return Hold(str(error))
    except Exception as error:  # a fault of ours or of a view must not cost anybody an object
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
    peers = [one for one, _ in topologies if not one.is_replaced]
    # A generation is declared once, but what a set reports and its metadata change under it, and later decisions rest on them.
    current = {**generation.entry.manifest, "metadata": manifest["metadata"], "status": manifest.get("status") or {}}
    expanded = expand(current, context.config, context.settings, snapshot, peers, context.program)
    share_templates(expanded, generation.declared)
    expanded.is_out_of_time, expanded.backing_off = time_is_up(expanded, now), backing_off(expanded, now)
    keep_tally(expanded, generation.tally)
    expanded.template_hashes = expanded.inherited_hashes or generation.effective_hashes(expanded.revisions)
    subject = Subject(SET_KIND, {"set": expanded, "old": generation.declared, "now": now, **context.scope}, generation.entry)
    subject.findings = [*generation.entry.findings, *_validated(subject, generation, [one.manifest for one in peers], context)]
    held_by = subject.findings
    subject.findings = [*_holding(held_by, expanded)]
    subject.needs = [entry for one, entry in topologies if one is expanded.topology and entry is not None]
    # No rule can make anything for a replica that the set does not declare, so none has to run to know that it is gone: a rule of a user
    # that fails elsewhere keeps nobody from scaling in. What is wrong with the set itself, its replicas among it, does hold.
    if key.replica is not None and key.replica >= expanded.replica_count and not subject.hold:
        return Gone(f"the set has {expanded.replica_count} replicas")
    outcome = _run(subject, "rest" if key.replica is None else key.replica, context, expanded.replica_count)
    if isinstance(outcome, Step) and key.replica is not None:
        outcome.statuses = without_waiting(outcome.statuses, [expanded.replicas[key.replica]], now)
    if isinstance(outcome, Hold) and len(held_by) > len(subject.findings):
        # A rule that fails does so over what is missing in the template, which says more than how the rule fails.
        subject.findings = held_by
        return Hold(subject.hold, held_by)
    return outcome


def _holding(findings: list[Diagnostic], set: ExpandedSet) -> Iterator[Diagnostic]:
    """The findings that count. What only repeats what the API server will say of pods is left to it, which says it in its own words.

    But a set keeps its pods: where some are of another template, an update would delete them for such as never come.
    """
    for finding in findings:
        clique = POD_TEMPLATE.match(finding.path) if finding.code.startswith(POD_RULES) else None
        if clique is None or _has_pods_of_another_template(set, int(clique[1])):
            yield finding


def _has_pods_of_another_template(set: ExpandedSet, clique: int) -> bool:
    name = set.cliques[clique].name
    cliques = (one for replica in set.replicas for one in replica.all_cliques if one.template.name == name)
    return any(not pod.has_current_template for one in cliques for pod in live_pods(one))


def _validated(subject: Subject, generation: Generation, topologies: list[Manifest], context: Context) -> list[Diagnostic]:
    """What is wrong with a set: worked out once for a generation, and again when a topology or who scales a job from outside has changed.

    What else of the cluster is looked at makes warnings, which hold nothing.
    """
    set: ExpandedSet = subject.scope["set"]
    autoscalers = live_foreign_autoscalers(set) if set.is_training else []
    if generation.findings is None or (generation.topologies, generation.autoscalers) != (topologies, autoscalers):
        generation.findings = validate(subject, context.program, context.settings)
        generation.topologies, generation.autoscalers = topologies, autoscalers
    return generation.findings


def _of_topology(view: Objects, key: Key, now: float, context: Context) -> Step | Gone | Hold:
    snapshot = Snapshot((), view)
    named = [(one, entry) for one, entry in _topologies(snapshot, context) if (one.kind, one.name) == (key.kind, key.name)]
    if not named:
        return Gone("the topology does not exist")
    topology, entry = named[0]
    topology.find_sets = lambda: live_sets(snapshot)
    findings = entry.findings if entry else []
    return _run(Subject(key.kind, {"topology": topology, "old": None, "now": now, **context.scope}, entry, findings), "all", context, 0)


def _topologies(snapshot: Snapshot, context: Context) -> Known:
    """The topologies of the cluster, each judged: one that is wrong holds itself and the sets that are placed by it.

    They are decoded and judged once for as long as none of them changes, nor what KAI has of their names: every step asks for them, and
    to judge two of them would be 0.3 ms of a small set's 0.7 (measured).
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
    asked = subject.scope, subject.kind, part
    return Step(
        Graph(result.nodes, context.waits),
        result.conditions,
        context.program.statuses(*asked),
        context.program.events(*asked),
        context.program.deletions(*asked),
        context.program.again(*asked),
        result.findings,
        result.generation_hash,
        replicas,
        lambda: context.program.waits(*asked),
    )
