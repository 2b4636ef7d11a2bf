"""Holds what the steps of one process share: the program, the settings, the operator's configuration, and caches.

The caches only save time: a step gives the same result with empty ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import Any, NamedTuple

from grove_compiler.compile import apply_order
from grove_compiler.decoder import CONFIGURATION_KIND, UNKNOWN_FIELD, Decoded, Decoder
from grove_compiler.engine.runtime.program import Program
from grove_compiler.graph.diagnostic import Diagnostic, has_errors
from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.known_topologies import Known, decode_existing, existing_manifests, known_topologies
from grove_compiler.model.checks.scale_target import ForeignAutoscaler
from grove_compiler.model.decisions import DecisionRules
from grove_compiler.model.expanded.expansion import Expansion
from grove_compiler.model.expanded.last_valid_spec import with_recorded_minimums
from grove_compiler.model.expanded.recorded_templates import Hashes, Revision, effective_hashes, revisions_of
from grove_compiler.model.expanded.tally import CachedTally
from grove_compiler.model.expanded.topology import KAI_API_VERSION, ExpandedTopology
from grove_compiler.model.inputs.configuration import Configuration
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import Snapshot
from grove_compiler.model.spec.podcliqueset import PodCliqueSet
from grove_compiler.record import record
from grove_compiler.source.document import Document
from grove_compiler.subjects import Subject
from grove_compiler.validation import validate, validate_topologies

MAX_GENERATIONS = 10_000
"""The number of sets whose last generation is cached. One takes 6 KB besides its manifest (measured); an evicted one is recomputed."""


@record
class Generation:
    """Caches what depends on a set's spec alone, and so is computed once for each generation.

    `declaration` identifies it: besides the generation it holds labels and annotations, which do not raise `metadata.generation`.
    `findings` are those of validation, given `topologies` and `autoscalers`; None before the first. `hashes` are those of the pod
    templates, and `changes` the findings about fields that had to stay, given the UIDs of the `recorded` revisions. `former` is what the
    set was before (empty if that has errors, None before the first question), given the revision and its record. `tally` is the cached
    tally of its replicas. `expansion` owns the templates.
    """

    declaration: tuple[Any, ...]
    entry: Decoded
    declared: PodCliqueSet
    topologies: list[Manifest] = field(default_factory=list)
    autoscalers: list[ForeignAutoscaler] = field(default_factory=list)
    findings: list[Diagnostic] | None = None
    recorded: list[str] | None = None
    hashes: Hashes = ([], "")
    changes: list[Diagnostic] | None = None
    former: list[Generation] | None = None
    former_record: tuple[str, str] = ("", "")
    tally: CachedTally = field(default_factory=CachedTally)
    expansion: Expansion = field(init=False)

    def __post_init__(self) -> None:
        self.expansion = Expansion(declared=[self.declared])

    def effective_hashes(self, revisions: Sequence[Revision]) -> Hashes:
        """Returns the hashes of its templates, given the recorded ones. Compared once, since a revision is immutable under its UID."""
        recorded = [revision.uid for revision in revisions]
        if self.recorded != recorded:
            self.recorded, self.changes = recorded, None
            declared = self.declared
            self.hashes = effective_hashes(declared.cliques, declared.priority_class, revisions, lambda: declared.computed_hashes)
        return self.hashes


class _ValidatedTopology(NamedTuple):
    """Holds a topology with all findings about it, and the KAI Topology with which it was validated."""

    entry: Decoded
    kai: Manifest | None


class StepContext:
    """Holds the program, the settings and the configuration of all steps, and caches their generations and topologies.

    `scope` are the roots that all rules share. `findings` are those of the configuration; with an error in it every step holds.
    """

    def __init__(self, program: Program, settings: Settings, config: Document | None = None) -> None:
        self.program, self.settings = program, settings
        self.apply_order = apply_order(program)
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
        self._topologies: list[Decoded] = []
        self._topology_manifests: list[Manifest] | None = None
        self._validated: dict[tuple[str, str], _ValidatedTopology] = {}
        self._generations: dict[str, Generation] = {}

    def reload(self, other: StepContext) -> None:
        """Replaces the content of this context by another one's, for everybody who holds it: its rules apply from the next step on."""
        self.__dict__.update(other.__dict__)

    def decode(self, manifest: Manifest, former: Manifest | None = None) -> Decoded | None:
        """Decodes an object of the cluster, or what it is to become of its `former` state; None when its kind is unknown."""
        before = self.decode(former) if former else None
        decoder = Decoder(self.program, self.scope, {} if before is None else {before.key: before.manifest})
        return next(iter(decoder.take([Document(manifest)])), None)

    def cached_generation(self, manifest: Manifest) -> Generation | None:
        """Returns the cached generation of a set; None when there is none for this spec."""
        cached = self._generations.get(manifest["metadata"].get("uid") or "")
        return cached if cached is not None and cached.declaration == _declaration(manifest) else None

    def generation(self, manifest: Manifest, snapshot: Snapshot) -> Generation | None:
        """Returns the generation of a set, cached or computed; None when the set cannot be decoded. `snapshot` has its revisions."""
        cached = self.cached_generation(manifest)
        if cached is not None:
            return cached
        generation = self._computed_generation(manifest, snapshot)
        uid = manifest["metadata"].get("uid") or ""
        if generation is not None and uid and manifest["metadata"].get("generation"):
            self._generations.pop(uid, None)
            self._generations[uid] = generation
            if len(self._generations) > MAX_GENERATIONS:
                del self._generations[next(iter(self._generations))]  # the oldest
        return generation

    def former_generation(self, generation: Generation, manifest: Manifest, revision: Revision) -> Generation | None:
        """Returns the generation of a set as a revision has it, cached or computed; None where that has errors itself.

        It was valid, so a field that is unknown is of a later release, which this one has replaced again; it has no effect.
        """
        recorded = revision.uid, revision.last_valid_spec
        if generation.former is None or generation.former_record != recorded:
            former = self._computed_generation(manifest)
            if former is not None:
                former.entry.findings = [finding for finding in former.entry.findings if finding.code != UNKNOWN_FIELD]
            generation.former = [] if former is None or has_errors(former.entry.findings) else [former]
            generation.former_record = recorded
        return next(iter(generation.former), None)

    def _computed_generation(self, manifest: Manifest, snapshot: Snapshot | None = None) -> Generation | None:
        recorded = with_recorded_minimums(manifest, revisions_of(snapshot, ObjectRef.of(manifest))) if snapshot is not None else manifest
        # Whatever a status says, nobody has declared it: it holds nothing.
        entry = self.decode({key: value for key, value in recorded.items() if key != "status"})
        if entry is None:
            return None
        declared = PodCliqueSet(entry.manifest, self.settings.namespace, DecisionRules(self.program.decisions))
        return Generation(_declaration(manifest), entry, declared)

    def topologies(self, snapshot: Snapshot) -> Known:
        """Returns the topologies of the cluster. They are decoded again only when one of them changes: every step needs them."""
        manifests = existing_manifests(snapshot)
        if self._topology_manifests != manifests:
            self._topologies = decode_existing(self.program, self.scope, snapshot)
            self._topology_manifests, self._validated = manifests, {}
        return known_topologies([], self._topologies, self.config, snapshot)

    def validated_topology(self, topology: ExpandedTopology, entry: Decoded, snapshot: Snapshot) -> Decoded:
        """Returns the entry of a topology with the errors of validation: an invalid one holds itself and the sets that refer to it.

        It is validated again only when a topology, or the KAI Topology of its name, changes: two would be 0.3 ms of a small set's 0.7
        (measured). Only sets that refer to one read KAI's.
        """
        kai = snapshot.live(ObjectRef(KAI_API_VERSION, "Topology", "", topology.name)) if self.config.makes_kai_topologies else None
        place = topology.kind, topology.name
        known = self._validated.get(place)
        if known is None or known.kai != kai:
            validated = replace(entry, findings=[*entry.findings])
            validate_topologies([(topology, validated)], self.scope, self.settings, self.program, errors_only=True)
            known = self._validated[place] = _ValidatedTopology(validated, kai)
        return known.entry


def _declaration(manifest: Manifest) -> tuple[Any, ...]:
    metadata = manifest["metadata"]
    return metadata.get("generation"), metadata.get("labels"), metadata.get("annotations")
