"""Tells what decides the future of a world: where two worlds are in one state, what happens in one of them happens in the other."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from applier.ref import Manifest, Ref
from tests.simulation.operator import Operator
from tests.simulation.simulation import Simulation
from tests.simulation.world import EVENT

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
WITHOUT_A_FUTURE = ("uid", "resourceVersion")
"""Metadata that differ from one world to the next. By a UID an object is found, so that it is called by a name where others have it."""


def state(simulation: Simulation) -> str:
    """Writes down all that decides what will happen in a world whose operator has nothing to do at the moment.

    That is what is stored, when keys are due, what the operator remembers, which pods fail, and the fraction of a second in which it is
    asked, on which it depends when the next full second is over. Pods, whose names are generated, are called by their hostnames, UIDs by
    whose they are, and times by how long ago they are. All else is to the letter: an object that was written once more is another one,
    since its generation, its managers and the times of its conditions say so. Left out are Events, which nobody watches.
    """
    objects = {ref: one for ref, one in simulation.world.cluster.store.objects.items() if ref[:2] != (EVENT.group, EVENT.kind)}
    names = _names(objects)
    stored = sorted(repr(_told(_without(one), names, simulation.world.now)) for one in objects.values())
    broken = [sorted(names[uid] for uid in uids if uid in names) for uids in (simulation.machines.failing, simulation.machines.lost)]
    memories = [repr(_told(_memory(one, simulation.loop.time()), names, simulation.world.now)) for one in simulation.operators]
    return "\n".join([*stored, *memories, repr(broken), f"{simulation.world.now % 1:.3f}"])


def _names(objects: dict[Ref, Manifest]) -> dict[str, str]:
    """What is said instead of a pod's name, and instead of a UID."""
    hostnames = {ref.name: one["spec"]["hostname"] for ref, one in objects.items() if ref.kind == "Pod"}
    return hostnames | {one["metadata"]["uid"]: f"{ref.kind} {hostnames.get(ref.name, ref.name)}" for ref, one in objects.items()}


def _without(one: Manifest) -> Manifest:
    return {**one, "metadata": {key: value for key, value in one["metadata"].items() if key not in WITHOUT_A_FUTURE}}


def _memory(operator: Operator, now: float) -> dict[str, Any]:
    """What an operator knows that is not in the cluster.

    What sets add up is left out, which `conftest.py` compares, and how often it has written the same, which counts only where somebody else
    writes as well.
    """
    evaluator, queue = operator.process._evaluator, operator.process.loop.queue
    failures, stalls = evaluator._stalls._failures, {key: value for key, value in vars(evaluator._stalls).items() if key != "_failures"}
    return {
        "held": operator.held,
        "due in": {key: f"{when - now:.3f} s" for key, when in queue._due.items()},
        "failures": queue._failures,
        "StallTracker": stalls,
        **{type(one).__name__: vars(one) for one in (failures, evaluator._debounce, evaluator._pending)},
    }


def _told(value: Any, names: dict[str, str], now: float) -> Any:
    """A value as it would be told in any world: with maps in the order of their keys."""
    if isinstance(value, dict):
        told = {str(names.get(key, key)): _told(item, names, now) for key, item in value.items()}
        if "podReferences" in told:  # are in the order of names
            told["podReferences"].sort()
        return sorted(told.items())
    if isinstance(value, list | tuple):
        return [_told(one, names, now) for one in value]
    if isinstance(value, set):
        return sorted(map(str, value))
    if isinstance(value, float):  # memories have no floats but times
        return f"{now - value:.3f} s ago"
    if isinstance(value, str) and TIME.fullmatch(value):
        return f"{int(now) - int(datetime.fromisoformat(value).astimezone(UTC).timestamp())} s ago"
    return names.get(value, value) if isinstance(value, str) else value
