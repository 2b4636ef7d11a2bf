"""Evaluates the rules of `why` for a set, on objects that were read once: what its objects wait for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import cast

from applier.cache import Changes, WatchCache
from applier.cache.objects import ObjectStore
from applier.loop import View
from applier.prune.deletion import finalizers_of
from applier.ref import GroupKind, Kind, Manifest, Ref
from grove_compiler.decoder import SET_KIND
from grove_compiler.engine.runtime.results import ObjectWait
from grove_compiler.graph.node import ObjectRef
from grove_compiler.kube.timestamp import time
from grove_compiler.model.names import replica_of
from grove_compiler.step import Key, StepContext, StepHold, StepResult, step
from grove_operator.cluster.why import Reason, reasons
from grove_operator.controller.live_objects import LiveObjects
from grove_operator.controller.membership import key_of
from grove_operator.controller.stalled_condition import hold_message
from kube_objects.label_selector import selector
from kube_objects.manifest import group_of, is_terminating


class RecordedCache:
    """A cache of objects that do not change, for a `View`."""

    def __init__(self, objects: Iterable[Manifest], unserved: Iterable[Kind]) -> None:
        self._objects, self._unserved, self.declared = ObjectStore(), set(unserved), frozenset[GroupKind]()
        for manifest in objects:
            self.add(manifest)

    def add(self, manifest: Manifest) -> None:
        """Adds an object that was read later."""
        self._objects.observe(manifest)

    def get(self, ref: Ref) -> Manifest | None:
        """Returns an object. Objects that were not read do not exist."""
        return self._objects.get(ref)

    def by_owner(self, uid: str, kinds: Iterable[GroupKind] = ()) -> list[Manifest]:
        return self._objects.by_owner(uid, frozenset(kinds))

    def deleted(self, *_: str) -> list[Manifest]:
        """Returns nothing. Nothing was watched, so that nothing was seen to be deleted."""
        return []

    def deleted_names(self, *_: str) -> list[str]:
        return []

    def by_label(self, group: str, kind: str, wanted: str = "", namespace: str = "") -> list[Manifest]:
        return self._objects.of(group, kind, namespace, selector(wanted))

    def changes(self, *_: object) -> Changes:
        """Knows of no changes. Each key is evaluated once, so that no caller has an earlier mark."""
        return Changes(None, None)

    def unserved(self) -> set[Kind]:
        """The kinds that the server does not serve."""
        return self._unserved

    def view(self) -> View:
        """Returns a view of the objects for a step."""
        return View(cast("WatchCache", self))  # a view calls no other methods of the cache


HELD, TERMINATING = "why/held", "why/set-terminating"
"""Stand for the name of a rule in the wait of a set that is held or being deleted, of which no rule is evaluated."""


def causes_of(
    manifest: Manifest, pcs: Manifest, objects: Iterable[Manifest], unserved: Iterable[Kind], context: StepContext, now: float
) -> list[Reason]:
    """Returns what an object of a set waits for, each with its causes; see `waits_in`."""
    return reasons(Ref.of(manifest), waits_in(RecordedCache(objects, unserved), pcs, context, now, manifest))


def waits_in(cache: RecordedCache, pcs: Manifest, context: StepContext, now: float, part: Manifest | None = None) -> list[ObjectWait]:
    """Returns what the objects of a set wait for. `now` is in seconds since the epoch.

    With a `part`, one object of the set, only its replica is evaluated, and other replicas as far as the part waits for objects of theirs:
    a set may have five thousand. A set that is held waits for a correction, and where no last valid spec is known its replicas are not
    evaluated, as no rule of them can be. One that is being deleted waits for its end, and so does the part.
    """
    ref = ObjectRef.of(pcs)
    set_key = Key(SET_KIND, ref.namespace, ref.name)
    if is_terminating(pcs):
        own = [] if part is None or Ref.of(part) == Ref.of(pcs) else [_going_with(ref, part)]
        return [*own, _end_of(ref, pcs)]
    waits: list[ObjectWait] = []
    evaluated: dict[Key, None] = {}
    pending = [set_key]
    count = 0
    while pending:
        for key in pending:
            outcome = step(LiveObjects(cache.view()), key, now, context)
            if isinstance(outcome, StepHold):
                return [*waits, _held(ref, outcome, "fix the manifest; nothing changes until then")]
            if isinstance(outcome, StepResult):
                waits += outcome.waits()
                count = outcome.replicas  # of its last valid spec where it is held: the present one may have billions
                if outcome.hold is not None and not any(wait.reason == "Held" for wait in waits):  # where no operator has told it yet
                    waits.append(_held(ref, outcome.hold, "fix the manifest; the last valid spec stays in effect until then"))
        evaluated |= dict.fromkeys(pending)
        replicas = [set_key._replace(replica=index) for index in range(count)]
        reachable = _reachable(Ref.of(part or pcs), waits)
        relevant = frozenset(replicas) if Ref.of(pcs) in reachable else _keys(cache, reachable, set_key)
        pending = [key for key in replicas if key in relevant and key not in evaluated]
    return waits


def _held(ref: ObjectRef, hold: StepHold, resolve: str) -> ObjectWait:
    return ObjectWait(ref, "Held", hold_message(hold), resolve, None, None, HELD)


def _end_of(ref: ObjectRef, pcs: Manifest) -> ObjectWait:
    """Returns that a set is being deleted, and what keeps it: finalizers that people may remove, or what it owns."""
    finalizers = ", ".join(map(str, finalizers_of(pcs)))
    message = f"it is being deleted{f', with the finalizers {finalizers}' if finalizers else ''}"
    alone = "see what is left of it in `grove get tree`, and check that the garbage collector runs"
    resolve = "check the controllers that own the finalizers, or remove these" if finalizers else alone
    since = time(pcs["metadata"].get("deletionTimestamp") or None)
    return ObjectWait(ref, "Terminating", message, resolve, since, None, TERMINATING)


def _going_with(ref: ObjectRef, part: Manifest) -> ObjectWait:
    return ObjectWait(ObjectRef.of(part), "SetTerminating", "its set is being deleted", "", None, ref, TERMINATING)


def _reachable(root: Ref, waits: Iterable[ObjectWait]) -> frozenset[Ref]:
    """Returns an object and all that it waits for, directly or not, as far as the waits are known."""
    edges: dict[Ref, list[Ref]] = defaultdict(list)
    for wait in waits:
        if wait.on is not None:
            edges[_ref(wait.of)].append(_ref(wait.on))
    reachable, stack = {root}, [root]
    while stack:
        new = [ref for ref in edges[stack.pop()] if ref not in reachable]
        reachable.update(new)
        stack += new
    return frozenset(reachable)


def _keys(cache: RecordedCache, refs: Iterable[Ref], set_key: Key) -> frozenset[Key]:
    """Returns the keys that objects belong to; for an object that is missing, or is not labelled, by its name."""
    live = ((ref, cache.get(ref)) for ref in refs)
    return frozenset(
        (key_of(ref, manifest) if manifest is not None else None) or set_key._replace(replica=replica_of(ref.name, set_key.name))
        for ref, manifest in live
    )


def _ref(ref: ObjectRef) -> Ref:
    return Ref(group_of(ref.api_version), ref.kind, ref.namespace, ref.name)
