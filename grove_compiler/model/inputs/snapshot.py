"""Answers what exists in the cluster, and holds the objects that a set refers to."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import NamedTuple, Protocol

from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.kube.conditions import status_of
from grove_compiler.labels import PART_OF
from grove_compiler.unknown import Unknown
from kube_objects.manifest import group_of, is_terminating

FINISHED_PHASES = ("Succeeded", "Failed")


class ChangedNames(NamedTuple):
    """Holds the `names` of the objects that have changed since a mark, or None where any may have; `mark` is for the next call."""

    mark: object
    names: Iterable[str] | None


class ObjectReader(Protocol):
    """Answers what exists, from a watch cache in a cluster or a list of manifests offline.

    A compilation asks the first four questions; `changes` serves those who keep sums over the answers (`tally`). Each is one look-up in an
    index, so that the cost of a set does not depend on what else is in the cluster. Groups are API groups without a version, because all
    versions of a group show the same object. Each method raises `Unknown` rather than report that nothing exists.
    """

    def get(self, group: str, kind: str, namespace: str, name: str) -> Manifest | None:
        """Returns the object of that name, terminating or not; None if there is none. `namespace` is empty for cluster-scoped kinds."""

    def by_owner(self, group: str, kind: str, owner: ObjectRef) -> list[Manifest]:
        """Returns the objects of a kind whose controller is `owner` by UID, not another object of its name."""

    def deleted(self, group: str, kind: str, owner: ObjectRef) -> list[Manifest]:
        """Returns the last states of deleted objects of a kind whose owner is `owner` by UID, as far as they are known.

        Only pods are kept, and by an operator only those that it has watched itself.
        """

    def deleted_names(self, group: str, kind: str, owner: ObjectRef) -> list[str]:
        """Returns the names of deleted objects of a kind whose owner had the name of `owner`, as far as they are known.

        They outlast the owner, so that what another one of its name owns gets other names.
        """

    def by_label(self, group: str, kind: str, key: str = "", value: str = "", namespace: str = "") -> list[Manifest]:
        """Returns the objects of a kind with that label, or all without a key; of all namespaces when `namespace` is empty."""

    def changes(self, group: str, kind: str, key: str, value: str, namespace: str, since: object = None) -> ChangedNames | None:
        """Returns which objects with that label were added, changed or deleted since a mark; None where that is not recorded."""


class ObjectList:
    """Answers from manifests that were read once, as `kubectl get -o yaml` prints them.

    Names and owners are indexed eagerly: an index that is built while a rule is traced would count as something that the rule has read.
    """

    __slots__ = ("_by_kind", "_by_label", "_by_name", "_by_owner")

    def __init__(self, objects: Iterable[Manifest] = ()) -> None:
        self._by_name: dict[tuple[str, str, str, str], Manifest] = {}
        self._by_kind: dict[tuple[str, str], list[Manifest]] = {}
        self._by_owner: dict[tuple[str, str, str, str, str], list[Manifest]] = {}
        self._by_label: dict[tuple[str, str, str], dict[str, list[Manifest]]] = {}
        for manifest in objects:
            metadata = _metadata(manifest)
            group, kind = group_of(manifest.get("apiVersion") or ""), manifest.get("kind") or ""
            self._by_name[group, kind, metadata.get("namespace") or "", metadata.get("name") or ""] = manifest
        for (group, kind, namespace, _), manifest in self._by_name.items():
            self._by_kind.setdefault((group, kind), []).append(manifest)
            controller = controller_of(manifest)
            if controller is not None:
                owner = controller.get("kind") or "", controller.get("name") or ""
                self._by_owner.setdefault((group, kind, namespace, *owner), []).append(manifest)

    def __bool__(self) -> bool:
        return bool(self._by_name)

    def get(self, group: str, kind: str, namespace: str, name: str) -> Manifest | None:
        return self._by_name.get((group, kind, namespace, name))

    def by_owner(self, group: str, kind: str, owner: ObjectRef) -> list[Manifest]:
        """Returns the children. Hand-written manifests may have owner references without UIDs; those match by name."""
        children = self._by_owner.get((group, kind, owner.namespace, owner.kind, owner.name), [])
        return [child for child in children if not owner.uid or (controller_of(child) or {}).get("uid") in (None, "", owner.uid)]

    def by_label(self, group: str, kind: str, key: str = "", value: str = "", namespace: str = "") -> list[Manifest]:
        manifests = self._by_kind.get((group, kind), [])
        if key:
            manifests = self._labelled(group, kind, key).get(value, [])
        return [manifest for manifest in manifests if not namespace or _metadata(manifest).get("namespace") == namespace]

    def deleted(self, *_: object) -> list[Manifest]:
        """A list says nothing about what is not there any more."""
        return []

    def deleted_names(self, *_: object) -> list[str]:
        """A list says nothing about what is not there any more."""
        return []

    def changes(self, *_: object) -> ChangedNames | None:
        """A list never changes, but the next call may get another list, so nothing is known."""
        return None

    def _labelled(self, group: str, kind: str, key: str) -> dict[str, list[Manifest]]:
        """Returns the objects of a kind by the value of a label, from an index that is built on first use."""
        values = self._by_label.get((group, kind, key))
        if values is None:
            values = self._by_label[group, kind, key] = {}
            for manifest in self._by_kind.get((group, kind), []):
                values.setdefault((_metadata(manifest).get("labels") or {}).get(key) or "", []).append(manifest)
        return values


class Snapshot:
    """Looks up what exists, in the terms of the model. It is false for a compilation without a cluster.

    `objects`, which the input brings along, take precedence over `view`. A terminating object still occupies its name, but its UID, its
    fields and its children no longer count.
    """

    __slots__ = ("_given", "_is_known", "_sets", "_view")

    def __init__(self, objects: Iterable[Manifest] = (), view: ObjectReader | None = None) -> None:
        self._given = ObjectList(objects)
        self._view = view
        self._sets: dict[str, _SetNames] = {}
        # Read for each object of a set, so it is computed once. An empty cache is still a cluster; an empty list is none.
        self._is_known = bool(self._given) or (view is not None and (not isinstance(view, ObjectList) or bool(view)))

    def __bool__(self) -> bool:
        return self._is_known

    def get(self, api_version: str, kind: str, namespace: str, name: str) -> Manifest | None:
        """Returns the object of that name, terminating or not; None if there is none. The version of the API group does not matter."""
        group = group_of(api_version)
        given = self._given.get(group, kind, namespace, name)
        return self._view.get(group, kind, namespace, name) if given is None and self._view is not None else given

    def find(self, api_version: str, kind: str, namespace: str, name: str) -> Manifest | None:
        """Returns what `get` does; None also for an object of a kind that is not synced yet."""
        try:
            return self.get(api_version, kind, namespace, name)
        except Unknown:
            return None

    def of_kind(self, api_version: str, kind: str) -> list[Manifest]:
        """Returns all objects of a kind, terminating or not."""
        return self.labelled(group_of(api_version), kind)

    def live(self, ref: ObjectRef) -> Manifest | None:
        """Returns the object of that name; None if there is none, or if it is terminating."""
        if not self._is_known:  # called five times for each clique, and always None without a cluster
            return None
        manifest = self.get(ref.api_version, ref.kind, ref.namespace, ref.name)
        return None if manifest is None or is_terminating(manifest) else manifest

    def with_uid(self, ref: ObjectRef) -> ObjectRef:
        """Returns the same reference with the UID of the live object, if there is one."""
        manifest = self.live(ref)
        return ref if manifest is None else ref._replace(uid=(manifest.get("metadata") or {}).get("uid") or "")

    def owned(self, kind: str, owner: ObjectRef, group: str = "") -> list[Manifest]:
        """Returns the objects of a kind whose controller is `owner` by UID, including terminating ones."""
        return [*self._given.by_owner(group, kind, owner), *(self._view.by_owner(group, kind, owner) if self._view is not None else ())]

    def deleted(self, kind: str, owner: ObjectRef, group: str = "") -> list[Manifest]:
        """Returns the last states of deleted objects of a kind whose owner is `owner` by UID (see `ObjectReader.deleted`)."""
        return self._view.deleted(group, kind, owner) if self._view is not None else []

    def deleted_names(self, kind: str, owner: ObjectRef, group: str = "") -> list[str]:
        """Returns the names of deleted objects of a kind whose owner had the name of `owner` (see `ObjectReader.deleted_names`)."""
        return self._view.deleted_names(group, kind, owner) if self._view is not None else []

    def scheduled_pods(self, namespace: str, set_name: str) -> int:
        """Returns how many pods of a set are scheduled, by the statuses of its PodCliques."""
        cliques = self.labelled("grove.io", "PodClique", PART_OF, set_name, namespace)
        return sum(status_of(clique).get("scheduledReplicas") or 0 for clique in cliques)

    def sets_named_like(self, name: str, namespace: str) -> list[Manifest]:
        """Returns the sets of a namespace whose name and this one begin with one another, up to a dash, sorted by name.

        Each set of an input asks. The names are sorted once, on first use.
        """
        if namespace not in self._sets:
            self._sets[namespace] = _SetNames(self.labelled("grove.io", "PodCliqueSet", namespace=namespace))
        return self._sets[namespace].like(name)

    def labelled(self, group: str, kind: str, key: str = "", value: str = "", namespace: str = "") -> list[Manifest]:
        """Returns the objects of a kind with that label, terminating or not; see `ObjectReader.by_label`."""
        in_view = self._view.by_label(group, kind, key, value, namespace) if self._view is not None else []
        return [*self._given.by_label(group, kind, key, value, namespace), *in_view]

    def changes(self, group: str, kind: str, key: str, value: str, namespace: str, since: object = None) -> ChangedNames | None:
        """Returns which of these objects have changed since a mark (see `ObjectReader.changes`)."""
        return self._view.changes(group, kind, key, value, namespace, since) if self._view is not None and not self._given else None


class _SetNames:
    """Finds sets by the beginnings of names."""

    def __init__(self, manifests: Iterable[Manifest]) -> None:
        self._by_name: dict[str, Manifest] = {}
        for manifest in manifests:
            self._by_name.setdefault(str(_metadata(manifest).get("name")), manifest)
        self._sorted = sorted(self._by_name)

    def like(self, name: str) -> list[Manifest]:
        beginnings = (name[:position] for position, letter in enumerate(name) if letter == "-")
        # All that begins with the name and a dash stands together: a dot is the next character.
        longer = self._sorted[bisect_left(self._sorted, f"{name}-") : bisect_left(self._sorted, f"{name}.")]
        return [self._by_name[one] for one in (*beginnings, *longer) if one in self._by_name]


def _metadata(manifest: Manifest) -> Manifest:
    return manifest.get("metadata") or {}


def controller_of(manifest: Manifest) -> Manifest | None:
    """Returns the owner reference whose `controller` is true; None without one."""
    references = (manifest.get("metadata") or {}).get("ownerReferences") or []
    return next((reference for reference in references if reference.get("controller")), None)


def is_finished(pod: Manifest) -> bool:
    """Reports whether a pod has run to completion, successfully or not."""
    return status_of(pod).get("phase") in FINISHED_PHASES
