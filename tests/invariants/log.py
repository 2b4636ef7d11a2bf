"""Reads the writes of objects from an audit log, in the order in which the server carried them out."""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from applier.ref import Manifest
from tests.invariants.resources import RESOURCES

WITH_OBJECT = b'"responseObject":'
NAMESPACE = "Namespace"
KINDS = {
    "namespaces": NAMESPACE,
    "pods": "Pod",
    "podcliquesets": "PodCliqueSet",
    "podcliques": "PodClique",
    "podcliquescalinggroups": "PodCliqueScalingGroup",
}
MAX_LATE = 1000
"""Writes."""
CREATE, DELETE, DELETE_ALL = "create", "delete", "deletecollection"


class Write(NamedTuple):
    """A write that the server has carried out. `answer` is the object that resulted, or what the server said instead of it."""

    version: int
    at: float
    verb: str
    kind: str
    subresource: str
    namespace: str
    name: str
    agent: str
    answer: Manifest


def read(log: Path) -> Iterator[Write]:
    """Yields the writes of our kinds, by resource version.

    Requests are logged when their answers have been sent, so that each may be late by as many as run side by side. An answer without a
    version, which the deletion of a custom resource has, counts as later than all that was logged before it.
    """
    newest, waiting = 0, list[tuple[int, int, Write]]()
    with log.open("rb") as stream:
        for number, line in enumerate(stream):
            if WITH_OBJECT in line and (write := _write(_event(line))) is not None:
                newest = max(newest, write.version)
                heapq.heappush(waiting, (write.version or newest, number, write))
                if len(waiting) > MAX_LATE:
                    yield heapq.heappop(waiting)[2]
    while waiting:
        yield heapq.heappop(waiting)[2]


def _event(line: bytes) -> dict[str, Any]:
    """Returns an event; an empty one for a line that is not whole, as the last one of a server that was killed."""
    try:
        event: dict[str, Any] = json.loads(line)
    except ValueError:
        return {}
    return event


def _write(event: dict[str, Any]) -> Write | None:
    target = event.get("objectRef") or {}
    resource, group = target.get("resource", ""), target.get("apiGroup", "")
    has_succeeded = event.get("stage") == "ResponseComplete" and 200 <= event["responseStatus"]["code"] < 300
    if not has_succeeded or "dryRun=" in event["requestURI"] or (f"{resource}.{group}" if group else resource) not in RESOURCES:
        return None
    answer = event["responseObject"]
    return Write(
        int(answer.get("metadata", {}).get("resourceVersion") or 0),
        datetime.fromisoformat(event["requestReceivedTimestamp"]).timestamp(),
        event["verb"],
        KINDS[resource],
        target.get("subresource", ""),
        target.get("namespace", ""),
        target.get("name") or answer.get("metadata", {}).get("name", ""),
        event.get("userAgent", ""),
        answer,
    )


def deleted(write: Write) -> Iterator[tuple[str, Manifest]]:
    """Yields what a request has deleted: names, with the objects as they are now, as far as the answer has them."""
    items = write.answer.get("items") if write.verb == DELETE_ALL else [write.answer]
    for one in items or ():
        yield one.get("metadata", {}).get("name") or write.name, one
