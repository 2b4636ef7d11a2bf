"""Answers questions about the result of one compilation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from grove_compiler.engine.runtime.compiled import Compiled
from grove_compiler.engine.runtime.failure import RuleInfo
from grove_compiler.engine.tracing.provenance import Guard, Trace, Tracer
from grove_compiler.engine.tracing.tracking import Input, inputs_of, tracked
from grove_compiler.explain.inputs import CONFIGURATION, SETTINGS, TrackedInputs
from grove_compiler.graph.field_path import FieldPath
from grove_compiler.graph.node import Node
from grove_compiler.model.expanded.topology import default_topology
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import Snapshot
from grove_compiler.model.lazy import READ_TRACKER
from grove_compiler.reading import read_subjects
from grove_compiler.record import record
from grove_compiler.source.document import Document
from grove_compiler.subjects import VOCABULARY, Inputs, Subject


@record
class SkippedRule:
    """Explains why a rule or a patch did not apply: the condition that failed most often, and for how many items it failed."""

    rule: RuleInfo
    condition: Guard
    count: int


@record
class ObjectAnswer:
    """Explains an object: its rule, the trace of its fields, and the patches of its kind.

    `patches` are those that changed it, in order; `skipped` those that did not apply, each with the condition that failed. `existence` are
    the inputs that its existence and its name depend on.
    """

    node: Node
    rule: RuleInfo
    trace: Trace
    patches: list[RuleInfo]
    skipped: list[SkippedRule]
    existence: tuple[Input, ...]

    def inputs_of(self, path: FieldPath) -> tuple[Input, ...]:
        """Returns every input that the existence, the position and the value of a field depend on."""
        return tuple(dict.fromkeys((*self.trace.fields[path].inputs, *self.existence)))


class Explainer:
    """Answers questions about a compilation without errors.

    `compiled` are the rules as `traced_rules` compiles them. `snapshot_documents` are the texts of the snapshot's objects, which provide
    their lines.
    """

    def __init__(self, inputs: Inputs, compiled: Compiled, snapshot_documents: Sequence[Document] = ()) -> None:
        self.tracer = Tracer(compiled, VOCABULARY, READ_TRACKER)
        self.rules = {rule.id: rule for rule in self.tracer.rules}
        config = [inputs.config] if inputs.config else []
        self.inputs = TrackedInputs(self.tracer, [*inputs.documents, *config], snapshot_documents)
        self.manifests = self.inputs.manifests
        self.source_of = self.inputs.source_of
        # `is_operator` is not a user's setting: no option sets it.
        options = [name for name in Settings.__dataclass_fields__ if name != "is_operator"]
        self.inputs.settings = {name: getattr(inputs.settings, name) for name in options}
        self.tracer.model.describe(inputs.settings, SETTINGS, options)
        snapshot = [self.inputs.object_of_snapshot(manifest) for manifest in inputs.snapshot]
        self.subjects = read_subjects(replace(inputs, snapshot=snapshot, old=[]), self.inputs).subjects
        for subject in self.subjects:
            if not subject.scope["config"].manifest:  # an absent configuration is still an input that rules read
                subject.scope["config"].manifest = tracked({}, self.tracer.recorder, CONFIGURATION)

    def object(self, node: Node) -> ObjectAnswer:
        """Explains an object of the result."""
        subject = self.subjects[node.loop[0]]
        trace = self.tracer.trace(node, subject.scope, 1, self._roots(subject))
        touched = dict.fromkeys(operation.rule for operation in trace.operations)
        rule = self.rules[node.rule]
        skipped: list[SkippedRule] = []
        for patch in self.tracer.rules:
            if patch.id in rule.details["patches"] and patch.id not in touched:
                skipped += _skipped(patch, [condition for condition in trace.conditions if condition.rule == patch.id])
        return ObjectAnswer(node, rule, trace, [self.rules[rule_id] for rule_id in touched], skipped, self._existence(subject, trace))

    def _existence(self, subject: Subject, trace: Trace) -> tuple[Input, ...]:
        """Returns the inputs that an object as a whole depends on, including the names of other objects that it was computed from.

        Those objects were looked up by their names, so the names decide about its existence as well.
        """
        entry = subject.entry
        own = next((number for number, known in enumerate(self.manifests) if entry and known.value is entry.manifest), None)
        reads = dict.fromkeys(trace.existence)
        others = dict.fromkeys(read.source for field in trace.fields.values() for read in field.inputs if isinstance(read.source, int))
        for number in others:
            if number != own:
                reads |= {Input(number, ("metadata", key)): None for key in ("name", "namespace") if key in self.manifests[number].metadata}
        return tuple(reads)

    def _roots(self, subject: Subject) -> dict[str, tuple[Input, ...]]:
        """Returns the inputs of the default topology as a root: it has no document, since the operator's configuration defines it."""
        if subject.entry is not None:
            return {}
        config = self.tracer.model.track(subject.scope["config"], {})

        def make() -> Any:
            """Computes the topology again, to record what sorting its levels reads: rules only see the result."""
            return config.has_default_topology and default_topology(config.topology_levels, Snapshot())

        return {"topology": inputs_of(self.tracer.recorder.listen(make)[1])}

    def absent(self, kind: str) -> list[SkippedRule]:
        """Explains why no object of a kind exists: returns the rules that could generate one, each with its most failed condition."""
        skipped: list[SkippedRule] = []
        for rule in self.tracer.rules:
            if rule.verb == "generate" and rule.details["kind"] == kind:
                conditions = [
                    condition
                    for subject in self.subjects
                    if rule.is_about(subject.kind)
                    for condition in self.tracer.conditions(rule.id, subject.scope)
                ]
                skipped += _skipped(rule, conditions)
        return skipped


def _skipped(rule: RuleInfo, conditions: Sequence[Guard]) -> Iterator[SkippedRule]:
    """Yields the rule with the condition that failed most often, of several the first; nothing if none failed."""
    failed: dict[str, list[Guard]] = {}
    for condition in conditions:
        if not condition.holds:
            failed.setdefault(condition.text, []).append(condition)
    if failed:
        most = max(failed.values(), key=len)
        yield SkippedRule(rule, most[0], len(most))
