"""What exists already, and the objects that a set refers to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.kube.conditions import status_of

FINISHED_PHASES = ("Succeeded", "Failed")
PART_OF = "app.kubernetes.io/part-of"


class Unknown(Exception):
    """A question that whoever answers cannot answer now, as a cache that has not listed a kind yet.

    No rule is at fault, and nothing that was worked out meanwhile may be kept; so it is none of the errors that expressions may raise.
    """


class Changes(NamedTuple):
    """What has changed among objects since `Objects.changes` was last asked: their `names`, or none where it may be any of them.

    `mark` is to be given with the next question.
    """

    mark: object
    names: Iterable[str] | None


class Objects(Protocol):
    """Answers what exists: a watch cache in a cluster, a list of manifests offline.

    Three questions are all that a compilation asks; who adds up what was answered asks a fourth, for what has changed since. Each is one
    look into an index of whoever answers, so what a set costs does not depend on what else there is. Groups are API groups without
    their version, for the versions of one group are one object.
    Each raises `Unknown` rather than say that nothing is there.
    """

    def get(self, group: str, kind: str, namespace: str, name: str) -> Manifest | None:
        """Returns the object of that name, being deleted or not; `namespace` is empty for kinds without namespaces."""

    def by_owner(self, group: str, kind: str, owner: ObjectRef) -> list[Manifest]:
        """Returns the objects of a kind whose controller is `owner` itself, not another object of its name."""

    def by_label(self, group: str, kind: str, key: str = "", value: str = "", namespace: str = "") -> list[Manifest]:
        """Returns the objects of a kind with that label, or all of them; of every namespace when none is named."""

    def changes(self, group: str, kind: str, key: str, value: str, namespace: str, since: object = None) -> Changes | None:
        """Returns which objects with that label were made, changed or lost since a mark; none where nobody takes that down."""


class ObjectList:
    """Answers from manifests that were read once, as `kubectl get -o yaml` prints them.

    Names and owners are indexed at once and not when first asked for: an index that is made while a rule is traced would count as
    something that the rule has read.
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
        """See `Objects.get`."""
        return self._by_name.get((group, kind, namespace, name))

    def by_owner(self, group: str, kind: str, owner: ObjectRef) -> list[Manifest]:
        """See `Objects.by_owner`. Manifests that people write may name owners without UIDs; then the name has to do."""
        children = self._by_owner.get((group, kind, owner.namespace, owner.kind, owner.name), [])
        return [child for child in children if not owner.uid or (controller_of(child) or {}).get("uid") in (None, "", owner.uid)]

    def by_label(self, group: str, kind: str, key: str = "", value: str = "", namespace: str = "") -> list[Manifest]:
        """See `Objects.by_label`."""
        manifests = self._by_kind.get((group, kind), [])
        if key:
            manifests = self._labelled(group, kind, key).get(value, [])
        return [one for one in manifests if not namespace or _metadata(one).get("namespace") == namespace]

    def changes(self, *_: object) -> Changes | None:
        """See `Objects.changes`. A list never changes, but it may be another list than the last time."""
        return None

    def _labelled(self, group: str, kind: str, key: str) -> dict[str, list[Manifest]]:
        """The objects of a kind by the value of a label; indexed by this label from the first question on."""
        values = self._by_label.get((group, kind, key))
        if values is None:
            values = self._by_label[group, kind, key] = {}
            for manifest in self._by_kind.get((group, kind), []):
                values.setdefault((_metadata(manifest).get("labels") or {}).get(key) or "", []).append(manifest)
        return values


class Snapshot:
    """Asks what exists in the words of the model. False for a compilation that knows no cluster.

    `objects` stand before what `view` knows: an input may bring objects that it refers to. An object that is being deleted still
    takes its name, but its UID, its fields and its children count no longer.
    """

    __slots__ = ("_given", "_is_known", "_view")

    def __init__(self, objects: Iterable[Manifest] = (), view: Objects | None = None) -> None:
        self._given = ObjectList(objects)
        self._view = view
        # Asked for each object of a set, so it is worked out once. A cache that is empty is a cluster all the same, an empty list is none.
        self._is_known = bool(self._given) or (view is not None and (not isinstance(view, ObjectList) or bool(view)))

    def __bool__(self) -> bool:
        return self._is_known

    def get(self, api_version: str, kind: str, namespace: str, name: str) -> Manifest | None:
        """Returns the object of that name, being deleted or not. Versions of one API group are not told apart."""
        group = group_of(api_version)
        given = self._given.get(group, kind, namespace, name)
        return self._view.get(group, kind, namespace, name) if given is None and self._view is not None else given

    def of_kind(self, api_version: str, kind: str) -> list[Manifest]:
        """Returns all objects of a kind, being deleted or not."""
        return self.labelled(group_of(api_version), kind)

    def live(self, ref: ObjectRef) -> Manifest | None:
        """Returns the object of that name, unless it is being deleted."""
        if not self._is_known:  # asked five times for each clique, and a compilation without a cluster has nothing to say
            return None
        manifest = self.get(ref.api_version, ref.kind, ref.namespace, ref.name)
        return None if manifest is None or is_terminating(manifest) else manifest

    def with_uid(self, ref: ObjectRef) -> ObjectRef:
        """Returns the same reference with the UID of the object, when there is one."""
        manifest = self.live(ref)
        return ref if manifest is None else ref._replace(uid=(manifest.get("metadata") or {}).get("uid") or "")

    def owned(self, kind: str, owner: ObjectRef, group: str = "") -> list[Manifest]:
        """Returns the objects of a kind whose controller is `owner` itself; those being deleted too."""
        return [*self._given.by_owner(group, kind, owner), *(self._view.by_owner(group, kind, owner) if self._view is not None else ())]

    def scheduled_pods(self, namespace: str, set_name: str) -> int:
        """Returns how many pods of a set have a node: what the status of its PodCliques says."""
        cliques = self.labelled("grove.io", "PodClique", PART_OF, set_name, namespace)
        return sum(status_of(clique).get("scheduledReplicas") or 0 for clique in cliques)

    def labelled(self, group: str, kind: str, key: str = "", value: str = "", namespace: str = "") -> list[Manifest]:
        """Returns the objects of a kind with that label, or all of them; of every namespace when none is named. Those being deleted too."""
        seen = self._view.by_label(group, kind, key, value, namespace) if self._view is not None else []
        return [*self._given.by_label(group, kind, key, value, namespace), *seen]

    def changes(self, group: str, kind: str, key: str, value: str, namespace: str, since: object = None) -> Changes | None:
        """Returns which of these objects have changed since a mark (see `Objects.changes`)."""
        return self._view.changes(group, kind, key, value, namespace, since) if self._view is not None and not self._given else None


def _metadata(manifest: Manifest) -> Manifest:
    return manifest.get("metadata") or {}


def group_of(api_version: str) -> str:
    """Returns the API group of an `apiVersion`; empty for the core group."""
    return api_version.rpartition("/")[0]


def controller_of(manifest: Manifest) -> Manifest | None:
    """Returns the owner reference whose `controller` is true."""
    references = (manifest.get("metadata") or {}).get("ownerReferences") or []
    return next((reference for reference in references if reference.get("controller")), None)


def is_terminating(manifest: Manifest) -> bool:
    """Tells whether somebody asked for its deletion."""
    return bool((manifest.get("metadata") or {}).get("deletionTimestamp"))


def is_finished(pod: Manifest) -> bool:
    """Tells whether a pod has run to its end, well or badly."""
    return status_of(pod).get("phase") in FINISHED_PHASES
