"""Tells what the operator does: its log, as text or JSON, and events about itself, on its Deployment, where people look for them."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Literal, TextIO

from applier.cluster import Cluster, find
from applier.desired import EventWrite, ObjectReference
from applier.errors import ClusterError, WriteConflict
from applier.events import Sink, nowhere
from applier.loop import Result
from applier.loop.lease import LEASE
from applier.loop.status import EventRecorder
from applier.outcome import UNDONE, WRITTEN, Action, Outcome
from applier.ref import POD, Kind, Manifest, Ref
from grove_compiler.step import Key
from grove_operator import field_managers

LEVELS = ("debug", "info", "error")
MAX_WARNINGS = 1000
"""Warnings of the server that a process logs: texts may have names in them."""


class Log:
    """Writes lines of text or JSON, as the configuration's `logFormat` and `logLevel` say (shipped semantics §1.13).

    A reconciliation that wrote objects is one line at the level `info`, and at `debug` one more for each object, with the reason. A hold or
    failure is logged once, and again when its reason changes: a key that waits is reconciled for hours.
    """

    def __init__(self, stream: TextIO, config: Manifest, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._stream, self._now = stream, now
        self.configure(config)
        self._reasons: dict[Key, str] = {}  # by key, the reason that was logged last
        self._warned: set[tuple[str, str]] = set()

    def configure(self, config: Manifest) -> None:
        """Applies `logFormat` and `logLevel` of a configuration."""
        self._is_json = config.get("logFormat") == "json"
        self._level = LEVELS.index(config["logLevel"]) if config.get("logLevel") in LEVELS else 1

    def line(self, message: str, level: str = "info", **fields: object) -> None:
        """Writes one line, unless its level is below the configured one."""
        if LEVELS.index(level) < self._level:
            return
        stamp = self._now().strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
        if self._is_json:
            # Keys and references are named tuples, which would be written as lists.
            values = {name: value if isinstance(value, int | float | None) else str(value) for name, value in fields.items()}
            text = json.dumps({"ts": stamp, "level": level, "msg": message, **values})
        else:
            text = " ".join([stamp, f"{level:5}", message, *(f"{name}={_as_text(value)}" for name, value in fields.items())])
        print(text, file=self._stream, flush=True)

    def warning(self, ref: Ref, text: str) -> None:
        """Logs a warning of the server about a written object, the first of its text about a kind: it comes with each such write."""
        if (ref.kind, text) in self._warned or len(self._warned) >= MAX_WARNINGS:
            return
        self._warned.add((ref.kind, text))
        self.line("the server warns", object=ref, warning=text)

    def result(self, result: Result[Key]) -> None:
        """Logs the result of a reconciliation."""
        held = result.held or result.kept
        reason = held or _failure(result.outcomes)
        if reason != self._reasons.get(result.key, ""):
            self._reasons[result.key] = reason
            if reason:
                self.line("held" if held else "not done", "error", key=result.key, reason=reason)
        if not reason:
            self._reasons.pop(result.key, None)
        written = [outcome for outcome in result.outcomes if outcome.action in WRITTEN or outcome.action is Action.PRUNED]
        if written:
            self.line("decided", key=result.key, **_by_action(written))
        for outcome in written:
            reason = outcome.reason or outcome.step.reason
            self.line(str(outcome.action), "debug", key=result.key, object=outcome.step.ref, reason=reason)


def _by_action(outcomes: Iterable[Outcome]) -> dict[str, str]:
    """Returns the numbers of objects by action, as in `created: 3 Pod, 1 Service`."""
    counts: dict[str, Counter[str]] = {}
    for outcome in outcomes:
        counts.setdefault(str(outcome.action), Counter())[outcome.step.ref.kind] += 1
    return {action: ", ".join(f"{count} {kind}" for kind, count in kinds.items()) for action, kinds in counts.items()}


def _as_text(value: object) -> str:
    """Quotes a value with blanks, quotes or newlines, so that every line can be split into its fields."""
    text = str(value)
    return json.dumps(text, ensure_ascii=False) if any(char in text for char in ' "=\n\t') else text


def _failure(outcomes: Iterable[Outcome]) -> str:
    """Returns the reasons of failures, each with its first object.

    Objects that wait for a failed one are left out, and so are write conflicts, which are retried at once.
    """
    undone = [outcome for outcome in outcomes if outcome.action in UNDONE and not isinstance(outcome.error, WriteConflict)]
    failed = [outcome for outcome in undone if outcome.action is Action.FAILED]
    by_reason: dict[str, list[Outcome]] = {}
    for outcome in failed or undone:
        by_reason.setdefault(outcome.reason, []).append(outcome)
    return "; ".join(f"{_objects(group)}: {reason}" for reason, group in by_reason.items())


def _objects(outcomes: list[Outcome]) -> str:
    first = f"{outcomes[0].step.ref}"
    return first if len(outcomes) == 1 else f"{first} and {len(outcomes) - 1} more"


REPLICA_SET, DEPLOYMENT = Kind("apps", "v1", "ReplicaSet"), Kind("apps", "v1", "Deployment")
POD_NAME = "POD_NAME"
"""The environment variable with the name of this pod; without it the name is that of the host."""


class OperatorEvents:
    """Records events on the Deployment of the operator's pod, else on that pod, else on its `lease` (namespace and name).

    Replicas that record the same occurrence produce one event. Outside of a cluster none of these objects exists, and nothing is recorded.
    """

    def __init__(
        self,
        cluster: Cluster,
        namespace: str,
        lease: tuple[str, str] | None,
        sink: Sink = nowhere,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._cluster, self._namespace, self._lease = cluster, namespace, lease
        self._pod = os.environ.get(POD_NAME) or socket.gethostname()
        self._recorder = EventRecorder(cluster, source=field_managers.OPERATOR, sink=sink, clock=clock)

    async def record(self, event_type: Literal["Normal", "Warning"], reason: str, message: str, occurrence: str) -> None:
        """Records an occurrence once. Errors of the cluster are ignored: the log has the message as well."""
        try:
            involved = await self._involved_object()
            if involved is not None:
                digest = hashlib.sha256("\0".join((involved.uid, reason, occurrence)).encode()).hexdigest()[:16]
                await self._recorder.write([EventWrite(involved, event_type, reason, message, f"{involved.ref.name[:200]}.{digest}")])
        except ClusterError:
            return

    async def _involved_object(self) -> ObjectReference | None:
        pod = await self._find(POD, self._namespace, self._pod)
        if pod is not None:
            return await self._deployment(pod) or ObjectReference.of(pod)
        lease = await self._find(LEASE, *self._lease) if self._lease else None
        return ObjectReference.of(lease) if lease is not None else None

    async def _deployment(self, pod: Manifest) -> ObjectReference | None:
        """Returns the Deployment of a pod, which the pod's ReplicaSet names."""
        reference = _owner(pod, REPLICA_SET)
        try:
            replica_set = await self._find(REPLICA_SET, self._namespace, reference["name"]) if reference else None
        except ClusterError:  # ReplicaSets may not be read: the pod serves as well
            return None
        owner = _owner(replica_set, DEPLOYMENT) if replica_set is not None else None
        if owner is None:
            return None
        return ObjectReference(DEPLOYMENT, Ref(DEPLOYMENT.group, DEPLOYMENT.kind, self._namespace, owner["name"]), owner["uid"])

    async def _find(self, kind: Kind, namespace: str, name: str) -> Manifest | None:
        return await find(self._cluster, await self._cluster.resource(kind), namespace, name)


def _owner(manifest: Manifest, kind: Kind) -> Manifest | None:
    """Returns the owner reference to an object of a kind."""
    references = manifest["metadata"].get("ownerReferences") or ()
    return next((reference for reference in references if reference["kind"] == kind.kind), None)
