"""Implements the compiler's queries for existing objects on the applier's view of its cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from applier.cache import Query
from applier.errors import NotSynced
from applier.loop import View
from applier.ref import Kind, Manifest, Ref
from grove_compiler.decoder import SET_KIND
from grove_compiler.graph.node import ObjectRef
from grove_compiler.kube.definitions import DEFINITIONS, KINDS
from grove_compiler.kube.structure import check_and_prune
from grove_compiler.labels import CLIQUE_LABEL, MANAGED
from grove_compiler.model.inputs.snapshot import ChangedNames
from grove_compiler.step import Key
from grove_compiler.unknown import Unknown
from grove_operator.cluster.snapshot import DRIVER
from grove_operator.controller.ownership import PARTS, can_be_of_set, is_owned_by

T = TypeVar("T")

SET = ("grove.io", "PodCliqueSet")
COMPUTE_DOMAIN = Kind("resource.nvidia.com", "v1beta1", "ComputeDomain")
WATCHED = (
    Query(Kind("grove.io", "v1alpha1", "PodCliqueSet")),
    Query(Kind("grove.io", "v1alpha1", "PodClique")),
    Query(Kind("grove.io", "v1alpha1", "PodCliqueScalingGroup")),
    Query(Kind("scheduler.grove.io", "v1alpha1", "PodGang")),
    Query(Kind("", "v1", "Pod"), managed=False, labels=CLIQUE_LABEL, keeps_deleted=CLIQUE_LABEL),
    Query(Kind("apps", "v1", "ControllerRevision"), labels=MANAGED),
    Query(Kind("grove.io", "v1alpha1", "ClusterTopology")),
    Query(Kind("grove.io", "v1alpha1", "ClusterTopologyBinding"), optional=True),
    Query(Kind("kai.scheduler", "v1alpha1", "Topology"), optional=True),
    Query(COMPUTE_DOMAIN, optional=True),
    Query(Kind("resource.k8s.io", "v1", "ResourceClaimTemplate"), optional=True),
    Query(Kind("resource.k8s.io", "v1", "ResourceClaim"), labels=MANAGED, optional=True),
    Query(Kind("scheduling.k8s.io", "v1", "PriorityClass"), optional=True),
    Query(Kind("", "v1", "Service"), labels=MANAGED),
    Query(Kind("", "v1", "Secret"), labels=MANAGED),
    Query(Kind("", "v1", "ServiceAccount"), labels=MANAGED),
    Query(Kind("rbac.authorization.k8s.io", "v1", "Role"), labels=MANAGED),
    Query(Kind("rbac.authorization.k8s.io", "v1", "RoleBinding"), labels=MANAGED),
    Query(Kind("autoscaling", "v2", "HorizontalPodAutoscaler")),  # of any manager: none may scale a part of a training set (GREP-0285)
)
"""The kinds that steps read, in their newest versions, and those that they create, whose leftovers have to be known to be pruned.

The kinds of schedulers and drivers are optional: when they are not served they have no objects. Of the built-in kinds only objects with our
label are watched, not the other pods and Secrets of the cluster. Pods are watched by the label of their clique, which nobody else sets: a
pod that leaves the selection is replaced, and policies set `managed-by` in all pods of a cluster. All else is found by its name. Pods are
cached without `managedFields`, half of their size: no field of a Pod is decided by its owner. Of deleted pods the last states are kept:
they say why a replica of a training workload has failed, and which names were used.
"""

CLUSTER_WIDE = frozenset({"ClusterTopology", "ClusterTopologyBinding", "Topology", "PriorityClass"})
"""Those of the watched kinds that are cluster-scoped."""

NO_DRIVER: Manifest = {**DRIVER, "spec": {"versions": []}}
"""Stands for the definition of the driver's kind on a server that does not serve it."""


class LiveObjects:
    """Answers queries from a view (an `ObjectReader`). Each query is one lookup in an index of the cache.

    `not_synced` is the error of a query that the cache could not answer yet. For a step of a `set`, a part of that name which is not the
    set's does not exist: nothing is read from it, and no status is written to it. That its name is taken, the applier finds out. With
    `is_sound` objects are seen without what no server with our definitions would store (`sound`).
    """

    def __init__(self, view: View, pcs: Ref | None = None, *, is_sound: bool = False) -> None:
        self._view, self._set, self.is_sound = view, pcs, is_sound
        self.not_synced: NotSynced | None = None
        self._known: dict[tuple[str, str, str, str], Manifest | None] | None = None

    @classmethod
    def for_step(cls, view: View, key: Key, *, is_sound: bool = False) -> LiveObjects:
        """Returns what a step for this key may see. It is for that step only: nothing changes meanwhile, so each object is read once."""
        objects = cls(view, Ref(*SET, key.namespace, key.name) if key.kind == SET_KIND else None, is_sound=is_sound)
        objects._known = {}
        return objects

    def get(self, group: str, kind: str, namespace: str, name: str) -> Manifest | None:
        if self._known is None:
            return self._get(group, kind, namespace, name)
        question = group, kind, namespace, name
        if question not in self._known:
            self._known[question] = self._get(*question)
        return self._known[question]

    def _get(self, group: str, kind: str, namespace: str, name: str) -> Manifest | None:
        if kind == DRIVER["kind"]:
            # Reading definitions may not be permitted; whether the server serves the driver's kind is equivalent.
            is_unserved = any((kind.group, kind.kind) == COMPUTE_DOMAIN[::2] for kind in self._view.unserved())
            return NO_DRIVER if is_unserved else DRIVER
        if (group, kind) == SET:
            # Every step reads its set, but must not be enqueued by changes of the set's counts, which would evaluate all of its replicas.
            return self._seen(self._answer(lambda: self._view.peek(Ref(group, kind, namespace, name))))
        live = self._seen(self._answer(lambda: self._view.get(Ref(group, kind, namespace, name))))
        return None if live is not None and kind in PARTS and self._answer(lambda: self._is_another_sets(live)) else live

    def _is_another_sets(self, part: Manifest) -> bool:
        pcs = self._view.peek(self._set) if self._set is not None else None
        return pcs is not None and not can_be_of_set(self._view, part, pcs)

    def by_owner(self, group: str, kind: str, owner: ObjectRef) -> list[Manifest]:
        """Returns what an owner controls. One without a UID does not exist yet, and controls nothing."""
        if not owner.uid:
            return []
        owned = self._answer(lambda: self._view.by_owner(owner.uid, [(group, kind)]))
        return self._all_seen([one for one in owned if is_owned_by(one, owner.uid)])

    def deleted(self, group: str, kind: str, owner: ObjectRef) -> list[Manifest]:
        if not owner.uid:
            return []
        owned = self._answer(lambda: self._view.deleted(owner.uid, group, kind))
        return [one for one in owned if is_owned_by(one, owner.uid)]

    def deleted_names(self, group: str, kind: str, owner: ObjectRef) -> list[str]:
        """Pods say by a label whose they are, whatever the UID of their PodClique was."""
        return self._answer(lambda: self._view.deleted_names(group, kind, owner.name, owner.namespace))

    def by_label(self, group: str, kind: str, key: str = "", value: str = "", namespace: str = "") -> list[Manifest]:
        return self._all_seen(self._answer(lambda: self._view.by_label(group, kind, f"{key}={value}" if key else "", namespace)))

    def changes(self, group: str, kind: str, key: str, value: str, namespace: str, since: object = None) -> ChangedNames | None:
        mark, refs = self._answer(lambda: self._view.changes(group, kind, key, value, namespace, since))
        return ChangedNames(mark, None if refs is None else [ref.name for ref in refs])

    def _seen(self, live: Manifest | None) -> Manifest | None:
        return sound(live) if self.is_sound and live is not None else live

    def _all_seen(self, live: list[Manifest]) -> list[Manifest]:
        return [sound(one) for one in live] if self.is_sound else live

    def _answer(self, query: Callable[[], T]) -> T:
        """Runs a query. Raises `Unknown` for `NotSynced`, which is a KeyError, as expressions of rules raise them too."""
        try:
            return query()
        except NotSynced as error:
            self.not_synced = error
            raise Unknown(str(error)) from error


def sound(manifest: Manifest) -> Manifest:
    """Returns an object without what has another form than its kind: somebody else's definition may allow it.

    It `is` the object if all is well. Only what has failed is looked at so: to check each object at each step would take longer than all
    else. Of a set only the status is looked at: its spec is checked where it is decoded, and errors are told.
    """
    kind = Kind.of(manifest)
    schema = KINDS.get((kind.api_version, kind.kind)) if kind.kind in (SET_KIND, *PARTS) else None
    if schema is None:
        return manifest
    fields = DEFINITIONS[schema["ref"]]["fields"]
    checked = ("status",) if kind.kind == SET_KIND else ("spec", "status")
    present = [key for key in checked if key in manifest]
    parts = {key: check_and_prune(manifest[key], fields[key], DEFINITIONS)[1] for key in present}
    if all(parts[key] is manifest[key] for key in present):
        return manifest
    return {**manifest, **{key: part if isinstance(part, dict) else {} for key, part in parts.items()}}
