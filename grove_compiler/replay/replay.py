"""Records a step with everything that it reads, and replays a recorded one."""

from __future__ import annotations

from collections.abc import Callable

from grove_compiler.decoder import SET_KIND
from grove_compiler.engine.runtime.program import Program
from grove_compiler.graph.node import Manifest
from grove_compiler.model.inputs.snapshot import Objects
from grove_compiler.record import record
from grove_compiler.replay.bundle import Bundle, Taken
from grove_compiler.replay.decision import decision_value, to_the_letter
from grove_compiler.replay.memory import memory_before
from grove_compiler.replay.views import Question, Recorded, Recording
from grove_compiler.source.document import Document
from grove_compiler.step import GROUP, Context, Gone, Hold, Key, Step, step

Outcome = Step | Gone | Hold
Take = Callable[[Objects, Key, float, Context], Outcome]


@record
class Replayed:
    """Holds the decision of a replayed step. `missing` are reads that the recorded step did not make."""

    decision: Manifest
    missing: list[Question]
    is_equal: bool


def take_and_keep(view: Objects, key: Key, now: float, context: Context, take: Take = step) -> tuple[Outcome, Taken]:
    """Takes a step with `take`, and records it; returns its outcome, and the recording."""
    memory = memory_before(view, key, context)
    recording = Recording(view, memory.keep_tally)
    outcome = take(recording, key, now, context)
    memory.generation = None  # later changes of the cached generation are not part of this step's inputs
    return outcome, Taken(key, now, context, context.program.name, recording.answers, memory, _as_it_is(outcome))


def replay(bundle: Bundle, program: Program) -> Replayed:
    """Replays the step of a bundle with the rules of `program`."""
    context = Context(program, bundle.settings, None if bundle.config is None else Document(bundle.config))
    manifest = bundle.answers.get(("get", GROUP, SET_KIND, bundle.key.namespace, bundle.key.name))
    generation = context.generation(manifest) if bundle.key.kind == SET_KIND and isinstance(manifest, dict) else None
    if generation is not None:
        bundle.memory.give(generation)
    view = Recorded(bundle.answers)
    decision = decision_value(step(view, bundle.key, bundle.now, context))
    return Replayed(decision, view.missing, to_the_letter(decision) == to_the_letter(bundle.decision))


def _as_it_is(outcome: Outcome) -> Outcome:
    """Returns a copy of the outcome with its own lists, since callers append to them, and without closures that keep the model alive."""
    if not isinstance(outcome, Step):
        return outcome
    return Step(
        outcome.graph,
        [*outcome.conditions],
        [*outcome.statuses],
        [*outcome.events],
        [*outcome.deletions],
        outcome.look_again,
        outcome.findings,
        outcome.generation_hash,
        outcome.replicas,
    )
