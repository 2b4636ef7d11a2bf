"""Records the caches that earlier steps left to a step, and restores them for a replay.

Caches only save time: a step decides the same without them. But it then reads other objects, for which a recording has no answers.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any

from grove_compiler.decoder import SET_KIND
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.node import Manifest
from grove_compiler.model.checks.scale_target import ForeignAutoscaler
from grove_compiler.model.expanded.availability import ReplicaState
from grove_compiler.model.expanded.recorded_templates import Hashes
from grove_compiler.model.expanded.reported_breach import ReportedBreach
from grove_compiler.model.expanded.tally import CachedTally, Tally
from grove_compiler.model.inputs.snapshot import ObjectReader
from grove_compiler.record import record
from grove_compiler.replay.plain import plain
from grove_compiler.step import GROUP, Key, StepContext
from grove_compiler.step_context import Generation
from grove_compiler.unknown import Unknown


@record
class Memory:
    """Holds the cached state of a set: `findings`, given `topologies` and `autoscalers`; `states` and `waiting` of a tally, given `hashes`.

    `changes` are the findings about fields that had to stay, and `former` is the same for the last valid spec, of a set that is held. It is
    empty for a topology, and for a set that is seen for the first time. The tally is copied only when a step reads it, because its size is
    the number of replicas.
    """

    findings: list[Diagnostic] | None = None
    topologies: list[Manifest] = field(default_factory=list)
    autoscalers: list[ForeignAutoscaler] = field(default_factory=list)
    hashes: Hashes | None = None
    states: list[ReplicaState] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    changes: list[Diagnostic] | None = None
    former: Memory | None = None
    generation: Generation | None = None

    def copy_tally(self) -> None:
        """Copies the current tally, unless it was copied before."""
        if self.former is not None:
            self.former.copy_tally()
        if self.generation is not None and self.hashes is None:
            cached = self.generation.tally
            self.hashes, self.states, self.waiting = cached.hashes, [*cached.tally.states], sorted(cached.tally.waiting)

    def restore(self, generation: Generation) -> None:
        """Restores the caches into a generation."""
        generation.findings, generation.topologies, generation.autoscalers = self.findings, self.topologies, self.autoscalers
        tally = Tally(waiting={*self.waiting})
        for state in self.states:
            tally.add(state)
        generation.tally = CachedTally(self.hashes, {}, tally)

    def release(self) -> None:
        """Forgets the generations, which change later."""
        self.generation = None
        if self.former is not None:
            self.former.generation = None

    def value(self) -> Manifest:
        """Returns it as a JSON value, without the topologies; empty if nothing is cached."""
        value: Manifest = {}
        if self.changes is not None:
            value["changes"] = plain(self.changes)
        if self.former is not None:
            value["former"] = self.former.value()
        if self.findings is not None:
            value["findings"] = plain(self.findings)
            if self.autoscalers:
                value["autoscalers"] = plain(self.autoscalers)
        if self.hashes is not None:
            value["tally"] = {
                "hashes": plain(self.hashes),
                "waiting": self.waiting,
                "states": [[*plain(state).values()] for state in self.states],
            }
        return value


def memory_before(view: ObjectReader, key: Key, context: StepContext) -> Memory:
    """Returns the caches that the next step of a key will use, without the tally, which `copy_tally` adds."""
    if key.kind != SET_KIND:
        return Memory()
    try:
        manifest = view.get(GROUP, SET_KIND, key.namespace, key.name)
    except Unknown:
        return Memory()
    generation = context.cached_generation(manifest) if manifest is not None else None
    return Memory() if generation is None else _memory_of(generation)


def _memory_of(generation: Generation) -> Memory:
    former = next(map(_memory_of, generation.former or ()), None)
    return Memory(
        generation.findings,
        generation.topologies,
        generation.autoscalers,
        changes=generation.changes,
        former=former,
        generation=generation,
    )


def read_memory(value: Manifest, topologies: list[Manifest]) -> Memory:
    """Restores a memory from the value of `Memory.value`."""
    tally: dict[str, Any] = value.get("tally") or {}
    hashes, name = tally.get("hashes") or (None, "")
    return Memory(
        _diagnostics(value.get("findings")),
        topologies,
        [ForeignAutoscaler(**autoscaler) for autoscaler in value.get("autoscalers") or ()],
        (hashes, name) if hashes is not None else None,
        [_state(*values) for values in tally.get("states") or ()],
        tally.get("waiting") or [],
        _diagnostics(value.get("changes")),
        read_memory(value["former"], topologies) if value.get("former") is not None else None,
    )


def _diagnostics(values: list[Manifest] | None) -> list[Diagnostic] | None:
    return None if values is None else [Diagnostic(**value) for value in values]


def _state(*values: Any) -> ReplicaState:
    """Restores the state of a replica from its plain values."""
    state = ReplicaState(*values)
    return replace(state, breach=ReportedBreach(**state.breach)) if isinstance(state.breach, dict) else state
