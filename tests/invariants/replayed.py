"""One namespace as an audit log tells of it: its objects after each write, and what has changed too recently for an operator to know."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, TypeGuard

from applier.ref import Kind, Manifest
from kube_objects.manifest import is_terminating
from tests.invariants.log import CREATE, DELETE, DELETE_ALL, Write, deleted
from tests.simulation.world import CLIQUE, POD, is_ready

EVICTION, SCALE = "eviction", "scale"
WHOLE = ("", "status", "resize", "ephemeralcontainers")
"""The subresources whose writes are answered with the whole object."""


class Namespace:
    """A namespace that is replayed, one write after the other. What others did within `lag` seconds, the operator need not know."""

    def __init__(self, lag: float) -> None:
        self.lag, self.now = lag, 0.0
        self._objects: dict[str, dict[str, Manifest]] = {}
        self._edits = deque[tuple[float, str, int]]()
        self._generations = deque[tuple[float, str]]()
        self._lost = deque[tuple[float, Manifest]]()
        self._deleted = deque[tuple[float, Manifest]]()
        self._ready_since: dict[str, float] = {}
        self._collected = set[str]()

    # What the invariants ask.

    def all(self, kind: Kind) -> list[Manifest]:
        return list(self._objects.get(kind.kind, {}).values())

    def find(self, kind: Kind, name: str) -> Manifest | None:
        return self._objects.get(kind.kind, {}).get(name)

    def pods(self) -> list[Manifest]:
        return [one for one in self.all(POD) if not is_terminating(one)]

    def lately_lost(self) -> list[Manifest]:
        ready = {one["metadata"]["uid"] for one in self.pods() if is_ready(one)}
        return [one for at, one in self._lost if at >= self.now - self.lag and one["metadata"]["uid"] not in ready]

    def lately_deleted(self) -> list[Manifest]:
        return [one for at, one in self._deleted if at >= self.now - self.lag and not self._is_there_anew(one)]

    def is_lately_edited(self, one: Manifest) -> bool:
        return any(uid == one["metadata"]["uid"] and at >= self.now - self.lag for at, uid in self._generations)

    def declared(self, one: Manifest, within: float) -> int:
        uid, since, declared = one["metadata"]["uid"], self.now - within, int(one["spec"]["replicas"])
        return min([declared, *(before for at, edited, before in self._edits if edited == uid and at >= since)])

    def is_known(self, one: Manifest, at: float) -> bool:
        """Whether the operator knows at a time that a pod is ready: it has been for long enough."""
        return self._ready_since.get(one["metadata"]["uid"], 0.0) <= at - self.lag

    # What has happened.

    def apply(self, write: Write, *, is_by_operator: bool) -> None:
        """Carries out a write."""
        self.now = max(self.now, write.at)
        for name, new in self._changes(write):
            old = self._objects.get(write.kind, {}).get(name)
            self._note(old, new, is_by_operator=is_by_operator)
            if new is None:
                self._objects.get(write.kind, {}).pop(name, None)
            else:
                self._objects.setdefault(write.kind, {})[name] = new

    def _changes(self, write: Write) -> Iterator[tuple[str, Manifest | None]]:
        """Yields what becomes of each object that a write is about."""
        if write.verb in (DELETE, DELETE_ALL):
            for name, answer in deleted(write):
                if self._is_about(write, name, answer):
                    yield name, self._leaving(write, name, answer)
        elif write.subresource in WHOLE and write.answer.get("kind") == write.kind:
            yield write.name, None if _is_gone(write.answer) else self._with_end(write)
        elif (old := self._objects.get(write.kind, {}).get(write.name)) is not None:
            if write.subresource == SCALE:
                yield write.name, {**old, "spec": {**old["spec"], "replicas": write.answer["spec"].get("replicas", 0)}}
            elif write.subresource == EVICTION and write.verb == CREATE:
                yield write.name, _terminating(old, write)

    def _is_about(self, write: Write, name: str, answer: Manifest) -> bool:
        """Whether an answer is about the object that there is, and not about an older one of its name."""
        old = self._objects.get(write.kind, {}).get(name)
        uid = (answer.get("details") or answer.get("metadata") or {}).get("uid")
        return old is None or uid is None or old["metadata"]["uid"] == uid

    def _leaving(self, write: Write, name: str, answer: Manifest) -> Manifest | None:
        """What is left of an object that was asked to go: nothing, or an object that waits for its end."""
        if write.verb == DELETE_ALL:  # the items are as they were before
            old = self._objects.get(write.kind, {}).get(name)
            self._collected.add(_uid(old))
            return old and _terminating(old, write)
        return answer if answer.get("kind") == write.kind and is_terminating(answer) and not _is_gone(answer) else None

    def _with_end(self, write: Write) -> Manifest:
        """The answer to a write, terminating if all of its kind were asked to go: they go one by one, and some are written meanwhile."""
        is_collected = _uid(write.answer) in self._collected and not is_terminating(write.answer)
        return _terminating(write.answer, write) if is_collected else write.answer

    def _note(self, old: Manifest | None, new: Manifest | None, *, is_by_operator: bool) -> None:
        """Keeps what an operator may not know yet."""
        if old is not None and new is not None and (old["spec"].get("replicas"), new["spec"].get("replicas")) != (None, None):
            self._edits.append((self.now, old["metadata"]["uid"], int(old["spec"].get("replicas") or 0)))
        if old is not None and new is not None and old["metadata"].get("generation") != new["metadata"].get("generation"):
            self._generations.append((self.now, old["metadata"]["uid"]))
        if _serves(new) and not _serves(old):
            self._ready_since[_uid(new)] = self.now
        if _serves(old) and not _serves(new):
            self._ready_since.pop(_uid(old), None)
            if old is not None and not is_by_operator:
                self._lost.append((self.now, old))
        if _stays(old) and not _stays(new) and not is_by_operator:
            self._deleted.append((self.now, old))
        self._forget(self._edits, self._generations, self._lost, self._deleted)

    def _is_there_anew(self, one: Manifest) -> bool:
        """Whether the operator has heard that a PodClique was deleted, as it has made another one of its name."""
        there = self.find(CLIQUE, one["metadata"]["name"])
        return there is not None and _uid(there) != _uid(one)

    def _forget(self, *notes: deque[Any]) -> None:
        """Drops what an operator has had the time to hear of."""
        for noted in notes:
            while noted and noted[0][0] < self.now - self.lag:
                noted.popleft()


def _serves(one: Manifest | None) -> bool:
    return one is not None and one["kind"] == "Pod" and is_ready(one) and not is_terminating(one)


def _stays(one: Manifest | None) -> TypeGuard[Manifest]:
    return one is not None and one["kind"] == CLIQUE.kind and not is_terminating(one)


def _uid(one: Manifest | None) -> str:
    return str(one["metadata"]["uid"]) if one else ""


def _is_gone(one: Manifest) -> bool:
    """Whether an object that was asked to go has neither finalizers nor time left."""
    metadata = one["metadata"]
    return is_terminating(one) and not metadata.get("finalizers") and not metadata.get("deletionGracePeriodSeconds")


def _terminating(one: Manifest, write: Write) -> Manifest:
    return {**one, "metadata": {**one["metadata"], "deletionTimestamp": write.answer.get("metadata", {}).get("creationTimestamp") or "now"}}
