"""One look at every key of a cluster that stands still: what the operator would write now, told and not done.

It asks the same compiler, by the same memory of what belongs to whom, and decides with the same comparisons as the loop. What follows from
these writes (a gate that is lifted once a gang is there, a pod that takes another's place) is for the next look.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from applier.decision import Schemas
from applier.desired import Desired, EventWrite, Gone, Graph, Hold, StatusWrite
from applier.loop import View
from applier.outcome import Action, dotted
from applier.plan import Intent, plan
from applier.plan.reasons import listed
from applier.ref import Kind, Manifest, Ref, is_being_deleted
from grove_compiler.graph.field_path import ABSENT
from grove_compiler.kube.semantic_difference import ANYTHING, differences, object_differences
from grove_compiler.step import Context, Key
from grove_operator.controller.desire import Clock, Desire
from grove_operator.controller.keys import Keys
from grove_operator.controller.membership import Membership
from grove_operator.controller.operator import DEFAULT, MANAGER
from grove_operator.controller.recorded_cache import RecordedCache
from grove_operator.controller.steps import Steps

VERBS = {Action.CREATED: "create", Action.CONFIGURED: "configure", Action.RECREATED: "recreate"}
SERVERS_OWN = {("metadata", "ownerReferences"), ("metadata", "managedFields"), ("metadata", "uid")}


class Would(NamedTuple):
    """A write: what the operator `does` (`create`, `configure`, `delete`, `status`, `event`) to an object, and why. `hold` is no write."""

    key: str
    does: str
    object: str
    why: str


class Rehearsal:
    """Looks at all keys of some objects, `unserved` being the kinds that their server does not serve. `namespace` limits it to one."""

    def __init__(self, objects: Iterable[Manifest], unserved: Iterable[Kind], context: Context, clock: Clock, namespace: str = "") -> None:
        objects = list(objects)
        membership = Membership()
        self._cache, self._keys_of = RecordedCache(objects, unserved), Keys(membership, with_topologies=not namespace)
        self._steps = Steps(Desire(context, clock), membership, with_namespaces=not namespace)
        found = [key for one in objects for key in self._keys_of(Ref.of(one), None, one) if key.namespace == namespace or not namespace]
        if context.config.has_default_topology and not namespace:
            found.append(DEFAULT)
        # A set decides what its replicas do, and so comes before them; its own objects it tells from theirs once all have spoken.
        keys = sorted(dict.fromkeys(found), key=lambda key: (key.kind, key.namespace, key.name, -1 if key.replica is None else key.replica))
        self._desired = {key: self._steps.desired(self._cache.view(), key) for key in keys}

    def kinds(self) -> set[Kind]:
        """The kinds of which something is wanted."""
        return {Kind.of(one.manifest) for graph in self._desired.values() if isinstance(graph, Graph) for one in graph.objects.values()}

    def add(self, manifests: Iterable[Manifest]) -> None:
        """Takes objects of kinds that turned out to be wanted."""
        for one in manifests:
            self._cache.add(one)
            list(self._keys_of(Ref.of(one), None, one))

    def would(self, schemas: Schemas) -> Iterator[Would]:
        """Yields what would be written. Of kinds without a schema values are compared, for nobody knows who set them."""
        for key, desired in self._desired.items():
            view = self._cache.view()
            if isinstance(desired, Hold):
                yield Would(str(key), "hold", str(key), desired.reason)
            if not isinstance(desired, Gone):
                yield from self._said(key, desired)
            if isinstance(desired, Graph):
                yield from self._made(key, desired, view, schemas)
            if not isinstance(desired, Hold):
                yield from self._left(key, desired, view)

    def _said(self, key: Key, desired: Graph | Hold) -> Iterator[Would]:
        for event in desired.events:
            if self._cache.get(_ref_of(event)) is None:
                yield Would(str(key), "event", str(event.of.ref), f"{event.type} {event.reason}: {event.message}")
        for status in desired.statuses:
            live = self._cache.get(status.of.ref)
            if live is not None and (fields := list(_of_status(status, live))):
                yield Would(str(key), "status", str(status.of.ref), listed(fields))

    def _made(self, key: Key, graph: Graph, view: View, schemas: Schemas) -> Iterator[Would]:
        planned = plan(graph, view, schemas, Intent(MANAGER, ("*",), brief=True), unserved=view.unserved())
        for step in planned.changed():
            live = planned.live.get(step.ref)
            fields = [dotted(change.path) for change in step.changes]
            if step.unsure and live is not None and not (fields := list(_differing(graph.objects[step.ref], live))):
                continue
            yield Would(str(key), VERBS.get(step.action, str(step.action)), str(step.ref), listed(fields) or step.reason)

    def _left(self, key: Key, desired: Graph | Gone, view: View) -> Iterator[Would]:
        wanted = desired.objects if isinstance(desired, Graph) else {}
        due = {Ref.of(one): "no longer wanted" for one in self._steps.members(view, key) if Ref.of(one) not in wanted}
        if isinstance(desired, Graph):
            due |= {one.of.ref: one.reason for one in desired.deletions}
        for ref, why in due.items():
            live = self._cache.get(ref)
            if live is not None and not is_being_deleted(live):
                yield Would(str(key), "delete", str(ref), why)


def _ref_of(event: EventWrite) -> Ref:
    return Ref("", "Event", event.of.ref.namespace or "default", event.name)


def _of_status(status: StatusWrite, live: Manifest) -> Iterator[str]:
    """The fields of a status that would be written; what only the object says stays somebody else's."""
    there, wanted = (_by_type(one) for one in (live.get("status") or {}, status.status))
    yield from dict.fromkeys(
        str(change.path[0]) for change in differences(there, wanted, ANYTHING) if change.path and change.path[0] in wanted
    )


def _by_type(status: Mapping[str, Any]) -> Manifest:
    return {**status, "conditions": sorted(status.get("conditions") or [], key=lambda one: str(one.get("type")))}


def _differing(desired: Desired, live: Manifest) -> Iterator[str]:
    """The fields that have another value than is wanted."""
    for change in object_differences(live, desired.manifest):
        if change.after is not ABSENT and change.path[:2] not in SERVERS_OWN:
            yield dotted(change.path)
