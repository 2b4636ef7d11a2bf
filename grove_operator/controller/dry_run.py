"""Evaluates every key on a snapshot of a cluster, and returns what the operator would write.

It uses the compiler, membership index and comparison of the loop. Writes that follow from these (a gate that is removed once the gang
exists, the replacement of a pod) belong to a later evaluation, and are not included.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from applier.decision import Schemas
from applier.desired import Desired, Gone, Graph, Hold, StatusWrite
from applier.loop import View
from applier.outcome import Action, dotted
from applier.plan import Intent, as_declared, plan
from applier.ref import Kind, Manifest, Ref
from grove_compiler.graph.field_path import ABSENT
from grove_compiler.kube.semantic_difference import ANYTHING, differences, object_differences
from grove_compiler.step import Key, StepContext
from grove_operator import field_managers
from grove_operator.controller.desired_state import DesiredState
from grove_operator.controller.evaluator import Clock, Evaluator, completed
from grove_operator.controller.membership import Keys, MemberIndex
from grove_operator.controller.operator import DEFAULT
from grove_operator.controller.waiting import RecordedCache
from kube_objects.manifest import is_terminating
from kube_objects.words import listed

VERBS = {Action.CREATED: "create", Action.CONFIGURED: "configure", Action.RECREATED: "recreate"}
SERVER_FIELDS = {("metadata", "ownerReferences"), ("metadata", "managedFields"), ("metadata", "uid")}


class PlannedWrite(NamedTuple):
    """A write: what the operator `does` (`create`, `configure`, `recreate`, `delete`, `status`, `event`) to an object, and why.

    A key that is held has an entry with `hold`, which is no write. The names of the fields are those of the JSON output.
    """

    key: str
    does: str
    object: str
    why: str


class DryRun:
    """Evaluates all keys of a snapshot; `unserved` are the kinds that its server does not serve. `namespace` limits it to one namespace."""

    def __init__(
        self, objects: Iterable[Manifest], unserved: Iterable[Kind], context: StepContext, clock: Clock, namespace: str = ""
    ) -> None:
        objects = list(objects)
        membership = MemberIndex()
        self._cache, self._keys_of = RecordedCache(objects, unserved), Keys(membership, with_topologies=not namespace)
        self._state = DesiredState(Evaluator(context, clock), membership, with_namespaces=not namespace)
        found = [key for each in objects for key in self._keys_of(Ref.of(each), None, each) if key.namespace == namespace or not namespace]
        if context.config.has_default_topology and not namespace:
            found.append(DEFAULT)
        # A set comes before its replicas, which read its decisions. `members` is called once all keys have made their claims.
        keys = sorted(dict.fromkeys(found), key=lambda key: (key.kind, key.namespace, key.name, -1 if key.replica is None else key.replica))
        self._desired = {key: completed(self._state.desired(self._cache.view(), key)) for key in keys}

    def kinds(self) -> set[Kind]:
        """Returns the kinds of the desired objects."""
        return {Kind.of(each.manifest) for graph in self._desired.values() if isinstance(graph, Graph) for each in graph.objects.values()}

    def add(self, manifests: Iterable[Manifest]) -> None:
        """Adds existing objects of kinds that were not read before."""
        for manifest in manifests:
            self._cache.add(manifest)
            list(self._keys_of(Ref.of(manifest), None, manifest))

    def writes(self, schemas: Schemas) -> Iterator[PlannedWrite]:
        """Yields what would be written. Kinds without a schema are compared by value, as the owners of their fields are unknown."""
        for key, desired in self._desired.items():
            view = self._cache.view()
            if reason := _hold_of(desired):
                yield PlannedWrite(str(key), "hold", str(key), reason)
            if not isinstance(desired, Gone):
                yield from self._reports(key, desired)
            if isinstance(desired, Graph):
                yield from self._applies(key, desired, view, schemas)
            if not isinstance(desired, Hold):
                yield from self._deletions(key, desired, view)

    def _reports(self, key: Key, desired: Graph | Hold) -> Iterator[PlannedWrite]:
        for event in desired.events:
            if self._cache.get(Ref("", "Event", event.of.ref.namespace or "default", event.name)) is None:
                yield PlannedWrite(str(key), "event", str(event.of.ref), f"{event.type} {event.reason}: {event.message}")
        for status in desired.statuses:
            live = self._cache.get(status.of.ref)
            if live is not None and (fields := list(_status_changes(status, live))):
                yield PlannedWrite(str(key), "status", str(status.of.ref), listed(fields))

    def _applies(self, key: Key, graph: Graph, view: View, schemas: Schemas) -> Iterator[PlannedWrite]:
        graph = as_declared(graph, schemas)
        planned = plan(graph, view, schemas, Intent(field_managers.OPERATOR, ("*",), brief=True), unserved=view.unserved())
        for step in planned.changed():
            live = planned.live.get(step.ref)
            fields = [dotted(change.path) for change in step.changes]
            if step.unsure and live is not None and not (fields := list(_changes(graph.objects[step.ref], live))):
                continue
            yield PlannedWrite(str(key), VERBS.get(step.action, str(step.action)), str(step.ref), listed(fields) or step.reason)

    def _deletions(self, key: Key, desired: Graph | Gone, view: View) -> Iterator[PlannedWrite]:
        retained = desired.objects if isinstance(desired, Graph) else {}
        members = () if _hold_of(desired) else (Ref.of(member) for member in self._state.members(view, key))
        reasons = {ref: "no longer wanted" for ref in members if ref not in retained}
        if isinstance(desired, Graph):
            reasons |= {deletion.of.ref: deletion.reason for deletion in desired.deletions}
        for ref, reason in reasons.items():
            live = self._cache.get(ref)
            if live is not None and not is_terminating(live):
                yield PlannedWrite(str(key), "delete", str(ref), reason)


def _hold_of(desired: Graph | Gone | Hold) -> str:
    """Returns why a key is held, as a whole or with all objects that it has; empty if it is not."""
    if isinstance(desired, Gone):
        return ""
    return desired.reason if isinstance(desired, Hold) else desired.keep


def _status_changes(status: StatusWrite, live: Manifest) -> Iterator[str]:
    """Yields the fields of a status that would change. Fields that only the live object has belong to other managers."""
    before, after = (_by_type(each) for each in (live.get("status") or {}, status.status))
    yield from dict.fromkeys(
        str(change.path[0]) for change in differences(before, after, ANYTHING) if change.path and change.path[0] in after
    )


def _by_type(status: Mapping[str, Any]) -> Manifest:
    return {**status, "conditions": sorted(status.get("conditions") or [], key=lambda condition: str(condition.get("type")))}


def _changes(desired: Desired, live: Manifest) -> Iterator[str]:
    """Yields the fields whose values differ from the desired ones."""
    for change in object_differences(live, desired.manifest):
        if change.after is not ABSENT and change.path[:2] not in SERVER_FIELDS:
            yield dotted(change.path)
