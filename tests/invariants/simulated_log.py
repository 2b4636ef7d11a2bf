"""Writes the audit log that a server would have written of a simulation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from applier.ref import Manifest, Ref
from applier.testing.memory.store import StoredChange, Watcher
from kube_objects.manifest import is_terminating
from tests.invariants.log import KINDS
from tests.simulation.simulation import Simulation

OPERATOR, OTHERS = "grove-operator", "kubectl"
PLURALS = {kind: plural for plural, kind in KINDS.items()}


class Event(NamedTuple):
    """A write: when, by whom, and what came of it."""

    at: float
    agent: str
    old: Manifest | None
    new: Manifest | None


class SimulatedLog:
    """Listens to a simulation from now on. What there is already is written first, as if it had just been created."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation, store = simulation, simulation.world.cluster.store
        self.events = [Event(0.0, OTHERS, None, one) for one in store.objects.values()]
        Watcher(store, self._hear)
        self._next, simulation.operator.after_write = simulation.operator.after_write, self._attribute

    def _hear(self, change: StoredChange) -> bool:
        """Records a change as it is stored; there is nothing to queue."""
        self.events.append(Event(self.simulation.world.now, OTHERS, change.old, change.new))
        return False

    def _attribute(self, reason: str) -> None:
        self.events[-1] = self.events[-1]._replace(agent=OPERATOR)
        self._next(reason)

    def write(self, log: Path) -> Path:
        """Writes the log, in which every second write of a pod comes before the one that it follows, as happens to answers."""
        lines = list(self._lines())
        for number in range(1, len(lines), 2):
            if all('"responseObject": {"apiVersion": "v1", "kind": "Pod"' in line for line in lines[number - 1 : number + 1]):
                lines[number - 1 : number + 1] = lines[number], lines[number - 1]
        log.write_text("\n".join([*lines, ""]))
        return log

    def _lines(self) -> Iterator[str]:
        for event in self.events:
            one = event.new or event.old
            if one is not None and one["kind"] in PLURALS:
                leaves = event.new is None or (is_terminating(event.new) and event.old is not None and not is_terminating(event.old))
                told = event.old is not None and event.new is not None and event.old.get("status") != event.new.get("status")
                answer = _status(one) if event.new is None and one["kind"] != "Pod" else one
                yield line(
                    "delete" if leaves else "patch", one, answer, at=event.at, agent=event.agent, subresource="status" if told else ""
                )


def line(verb: str, one: Manifest, answer: Manifest | None = None, **fields: Any) -> str:
    """A line of an audit log about a request for an object, which is the answer, too, unless there is another one."""
    ref = Ref.of(one)
    target = {"resource": PLURALS[ref.kind], "apiGroup": ref.group, "namespace": ref.namespace, "name": ref.name}
    return json.dumps(
        {
            "stage": "ResponseComplete",
            "verb": verb,
            "requestURI": "/api" + fields.get("query", ""),
            "userAgent": fields.get("agent", OTHERS),
            "objectRef": {**target, "subresource": fields.get("subresource", "")},
            "responseStatus": {"code": fields.get("code", 200)},
            "responseObject": answer or {"apiVersion": one["apiVersion"], "kind": one["kind"], **one},
            "requestReceivedTimestamp": datetime.fromtimestamp(fields.get("at", 0.0), UTC).isoformat(),
        }
    )


def _status(one: Manifest) -> Manifest:
    """What a server answers when a custom resource is gone at once."""
    return {"apiVersion": "v1", "kind": "Status", "metadata": {}, "details": {"uid": one["metadata"]["uid"]}}
