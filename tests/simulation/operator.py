"""The operator of a simulation: the step for one key after the other, and its writes in the order in which the applier's loop makes them.

It stands in for the applier, which is tested elsewhere, where that matters to whoever decides: events, statuses, objects, and last what
has to go; a status only over the version that it was worked out from; a deletion only of the object that is meant.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

from applier.cluster import Resource
from applier.desired import StatusWrite
from applier.errors import NotFound, WriteConflict
from applier.plan.follow import follow
from applier.ref import Kind, Manifest, Ref
from grove_compiler.decoder import SET_KIND
from grove_compiler.engine.runtime.results import Deletion
from grove_compiler.graph.node import Node
from grove_compiler.model.inputs.snapshot import ObjectList, group_of
from grove_compiler.step import Context, Gone, Hold, Key, Step, step
from grove_operator.controller.membership import key_of
from grove_operator.controller.operator import DELETION_REASON, FINALIZERS, MANAGER
from grove_operator.controller.statuses import status_writes
from tests.simulation.views import Views
from tests.simulation.world import NAMESPACE, SET, World, at_once

NO_LONGER_WANTED = "no longer wanted"
NEVER = 10**9
Place = tuple[Ref, str]
"""An object, and which half of it: its status, or all else."""


class Crash(Exception):
    """The process has ended."""


class Operator:
    """One process after the other. `held` says why a key was last left as it is, and `deleted` what was deleted and why, in order.

    `writes_left` is how many writes there are until the process ends. A write that changes nothing is none. `after_write` is called after
    each of the others, with the reason of a deletion. `sees_all` says whether the last look was at the cluster as it was.
    """

    def __init__(self, world: World, context: Context) -> None:
        self.world, self.context = world, context
        self.held: dict[Key, str] = {}
        self.deleted: list[tuple[Ref, str]] = []
        self.look_again: dict[Key, float] = {}
        self.writes = 0
        self.after_write: Callable[[str], None] = lambda _: None
        self.writes_left = NEVER
        self.sees_all = True
        self.restart()

    def restart(self) -> None:
        """A new process, which knows only what is in the cluster."""
        self._views = Views(self.world)
        self._applied: dict[Place, tuple[Manifest, Manifest]] = {}
        self.writes_left = NEVER

    def due(self) -> list[Key]:
        """The keys that there is anything to do for: of sets, of their replicas, and of replicas that left something behind."""
        keys: dict[Key, None] = {}
        for one in self.world.all(SET):
            whole = Key(SET_KIND, NAMESPACE, one["metadata"]["name"])
            keys |= dict.fromkeys([whole, *(whole._replace(replica=index) for index in range(one["spec"]["replicas"]))])
        owned = (key_of(ref, one) for ref, one in self.world.cluster.store.objects.items())
        return list(keys | dict.fromkeys(key for key in owned if key is not None))

    def look(self, key: Key, lags: Mapping[str, int] | None = None) -> bool:
        """Takes the step for a key on what is seen of the cluster, and says whether anything was written. Raises `Crash`."""
        view, before, self.sees_all = self._views.look(lags or {}), self.writes, not any((lags or {}).values())
        match step(view, key, self.world.now, self.context):
            case Step() as made:
                self._bring(key, made, view)
            case Gone():
                self._prune(key, [], view)
            case Hold() as hold:
                self.held[key] = hold.reason
        return self.writes != before

    def _bring(self, key: Key, made: Step, view: ObjectList) -> None:
        self.held.pop(key, None)
        self.look_again.pop(key, None)
        if made.look_again is not None:
            self.look_again[key] = made.look_again
        self.world.told |= {one.name: f"{one.reason}: {one.message}" for one in made.events if one.name not in self.world.told}
        try:
            for status in status_writes(made.statuses, made.conditions, view, self.world.now):
                self._write_status(status, view)
        except WriteConflict:
            return  # it was worked out from a state that is over, and so was all that follows
        going = {(one.of.kind, one.of.name) for one in made.deletions}
        for node in made.graph.nodes:
            if (node.object["kind"], node.object["metadata"]["name"]) not in going:
                self._write_object(node, view)
        self._prune(key, made.graph.nodes, view)
        for deletion in made.deletions:
            self._delete(deletion, view)

    # One write each.

    def _write_status(self, status: StatusWrite, view: ObjectList) -> None:
        kind, ref = status.of.kind, status.of.ref
        body = dict(status.status)
        if self._is_as_applied((ref, "status"), body, view):
            return
        metadata = {"name": ref.name, "namespace": ref.namespace, "uid": status.of.uid, "resourceVersion": status.resource_version}
        manifest = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, "status": body}
        self._request(kind, lambda one: self.world.cluster.apply(one, manifest, manager=status.manager, force=True, subresource="status"))
        self._note_applied((ref, "status"), body)

    def _write_object(self, node: Node, view: ObjectList) -> None:
        manifest = self._with_owners(copy.deepcopy(node.object))
        if manifest is None:
            return  # its owner is not there yet
        kind, metadata = Kind.of(manifest), manifest["metadata"]
        live = view.get(kind.group, kind.kind, metadata.get("namespace", ""), metadata["name"])
        if live is not None and "deletionTimestamp" in live["metadata"]:
            return
        if live is not None and node.policy.get("create") == "only":
            self._follow(kind, manifest, live, node.policy.get("follow") or [])
            return
        for pointer in node.policy.get("yield") or ():
            *parents, last = pointer[1:].split("/")
            if live is not None and parents == ["spec"] and last in live["spec"]:
                manifest["spec"][last] = live["spec"][last]
        place = Ref.of(manifest), ""
        if not self._is_as_applied(place, manifest, view):
            self._request(kind, lambda one: self.world.cluster.apply(one, manifest, manager=MANAGER, force=True))
            self._note_applied(place, manifest)

    def _is_as_applied(self, place: Place, applied: Manifest, view: ObjectList) -> bool:
        """Whether the same was applied before, and nobody has changed anything since: as the applier can tell without a request."""
        live = view.get(*place[0])
        return live is not None and self._applied.get(place) == (applied, _half(live, place[1]))

    def _note_applied(self, place: Place, applied: Manifest) -> None:
        live = self.world.cluster.find(place[0])
        if live is not None:
            self._applied[place] = applied, _half(live, place[1])

    def _follow(self, kind: Kind, manifest: Manifest, live: Manifest, pointers: str | list[str]) -> None:
        patch = follow(manifest, live, [pointers] if isinstance(pointers, str) else pointers).patch
        if patch:
            name = live["metadata"]["name"]
            self._request(kind, lambda one: self.world.cluster.patch(one, NAMESPACE, name, patch, manager=MANAGER))

    def _with_owners(self, manifest: Manifest) -> Manifest | None:
        for owner in manifest["metadata"].get("ownerReferences", []):
            live = self.world.cluster.find(Ref(group_of(owner["apiVersion"]), owner["kind"], NAMESPACE, owner["name"]))
            owner["uid"] = owner.get("uid") or (live or {"metadata": {}})["metadata"].get("uid")
            if not owner["uid"]:
                return None
        return manifest

    def _prune(self, key: Key, nodes: list[Node], view: ObjectList) -> None:
        wanted = {(node.object["kind"], node.object["metadata"]["name"]) for node in nodes}
        for ref, one in list(self.world.cluster.store.objects.items()):
            seen = view.get(ref.group, ref.kind, ref.namespace, ref.name)
            if seen is not None and key_of(ref, one) == key and (ref.kind, ref.name) not in wanted:
                self._remove(seen, NO_LONGER_WANTED)

    def _delete(self, deletion: Deletion, view: ObjectList) -> None:
        live = view.get(group_of(deletion.of.api_version), deletion.of.kind, deletion.of.namespace, deletion.of.name)
        if live is not None and live["metadata"]["uid"] == deletion.of.uid:
            self._remove(live, deletion.reason)

    def _remove(self, live: Manifest, reason: str) -> None:
        if "deletionTimestamp" in live["metadata"]:
            return
        kind, name, uid = Kind.of(live), live["metadata"]["name"], live["metadata"]["uid"]
        kept = [one for one in live["metadata"].get("finalizers", []) if one not in FINALIZERS]
        patch: dict[str, Any] = {"metadata": {"uid": uid, "finalizers": kept, "annotations": {DELETION_REASON: reason}}}

        async def attribute_and_delete(resource: Resource) -> None:
            # One write here, for between the two nothing is decided: an annotation alone means nothing to anybody.
            await self.world.cluster.patch(resource, NAMESPACE, name, patch, manager=MANAGER)
            await self.world.cluster.delete(resource, NAMESPACE, name, uid=uid)

        if self._request(kind, attribute_and_delete, reason):
            self.deleted.append((Ref.of(live), reason))

    def _request(self, kind: Kind, request: Any, reason: str = "") -> bool:
        """Makes a request, and says whether it changed anything. What is gone, or is another object by now, is no matter."""
        before = self.world.version
        if not self.writes_left:
            raise Crash
        try:
            at_once(request(self.world.cluster.kinds.get(kind)))
        except NotFound:
            return False
        if self.world.version == before:
            return False
        self._views.wrote((kind.group, kind.kind))
        self.writes, self.writes_left = self.writes + 1, self.writes_left - 1
        self.after_write(reason)
        return True


def _half(live: Manifest, subresource: str) -> Manifest:
    if subresource:
        return {"uid": live["metadata"]["uid"], **live.get(subresource, {})}
    metadata = {key: value for key, value in live["metadata"].items() if key not in ("resourceVersion", "managedFields")}
    return {**{key: value for key, value in live.items() if key != "status"}, "metadata": metadata}
