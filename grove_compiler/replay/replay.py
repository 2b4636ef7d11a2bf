"""Records a step with everything that it reads, and replays a recorded one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from grove_compiler.decoder import SET_KIND
from grove_compiler.engine.runtime.program import Program
from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.model.expanded.last_valid_spec import as_it_was
from grove_compiler.model.expanded.recorded_templates import revisions_of
from grove_compiler.model.inputs.snapshot import ObjectReader, Snapshot
from grove_compiler.record import record
from grove_compiler.replay.bundle import Bundle, RecordedStep
from grove_compiler.replay.memory import Memory, memory_before
from grove_compiler.replay.plain import decision_value, exact_text
from grove_compiler.replay.views import Question, RecordedAnswers, Recording
from grove_compiler.source.document import Document
from grove_compiler.step import GROUP, Key, StepContext, StepGone, StepHold, StepResult, step
from grove_compiler.step_context import Generation

Outcome = StepResult | StepGone | StepHold
StepFunction = Callable[[ObjectReader, Key, float, StepContext], Outcome]
"""The signature of `step`."""


@record
class Replayed:
    """Holds the decision of a replayed step. `missing` are reads that the recorded step did not make."""

    decision: Manifest
    missing: list[Question]
    is_equal: bool


def record_step(view: ObjectReader, key: Key, now: float, context: StepContext, run: StepFunction = step) -> tuple[Outcome, RecordedStep]:
    """Computes a step with `run`, and returns its outcome together with a recording of it."""
    memory = memory_before(view, key, context)
    recording = Recording(view, memory.copy_tally)
    outcome = run(recording, key, now, context)
    memory.release()  # later changes of the cached generation are not part of this step's inputs
    return outcome, RecordedStep(key, now, context, context.program.name, recording.answers, memory, _frozen(outcome))


def replay(bundle: Bundle, program: Program) -> Replayed:
    """Replays the step of a bundle with the rules of `program`."""
    context = StepContext(program, bundle.settings, None if bundle.config is None else Document(bundle.config))
    manifest = bundle.answers.get(("get", GROUP, SET_KIND, bundle.key.namespace, bundle.key.name))
    view = RecordedAnswers(bundle.answers)
    generation = None
    if bundle.key.kind == SET_KIND and isinstance(manifest, dict):
        generation = context.generation(manifest, Snapshot((), view))
    if generation is not None and isinstance(manifest, dict):
        _restore(bundle.memory, generation, manifest, view, context)
    decision = decision_value(step(view, bundle.key, bundle.now, context))
    return Replayed(decision, view.missing, exact_text(decision) == exact_text(bundle.decision))


def _restore(memory: Memory, generation: Generation, manifest: Manifest, view: RecordedAnswers, context: StepContext) -> None:
    """Restores the caches of a generation, and those of the last valid spec, which a step has only where it finds revisions."""
    memory.restore(generation)
    if memory.changes is None and memory.former is None:
        return
    revisions = revisions_of(Snapshot((), view), ObjectRef.of(manifest))
    generation.effective_hashes(revisions)
    generation.changes = memory.changes
    before = as_it_was(manifest, revisions[-1]) if memory.former is not None and revisions else None
    former = context.former_generation(generation, before, revisions[-1]) if before is not None else None
    if former is not None and memory.former is not None:
        memory.former.restore(former)
        former.effective_hashes(revisions)
        former.changes = memory.former.changes


def _frozen(outcome: Outcome) -> Outcome:
    """Returns a copy with lists of its own, since callers append to theirs, and without `waits`, whose closure keeps the model alive."""
    if not isinstance(outcome, StepResult):
        return outcome
    results: dict[str, Any] = {name: [*getattr(outcome, name)] for name in ("conditions", "statuses", "events", "deletions")}
    return replace(outcome, **results, waits=list)
