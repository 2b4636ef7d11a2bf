"""What exists already, and the objects that a set refers to."""

from __future__ import annotations

from collections.abc import Iterable

from grove_compiler.graph.node import Manifest, ObjectRef

FINISHED_PHASES = ("Succeeded", "Failed")


class Snapshot:
    """Objects by name and by owner. Empty for a compilation that knows no cluster.

    An object that is being deleted still takes its name, but its UID, its fields and its children count no longer.
    """

    __slots__ = ("_objects", "_owned", "_scheduled")

    def __init__(self, objects: Iterable[Manifest] = ()) -> None:
        self._objects: dict[tuple[str, str, str, str], Manifest] = {}
        self._owned: dict[tuple[str, str, str, str], list[Manifest]] = {}
        self._scheduled: dict[tuple[str, str], int] | None = None
        for manifest in objects:
            self._add(manifest)

    def __bool__(self) -> bool:
        return bool(self._objects)

    def _add(self, manifest: Manifest) -> None:
        metadata = manifest.get("metadata") or {}
        namespace, kind = metadata.get("namespace") or "", manifest.get("kind") or ""
        self._objects[group_of(manifest.get("apiVersion") or ""), kind, namespace, metadata.get("name") or ""] = manifest
        owner = controller_of(manifest)
        if owner is not None:
            self._owned.setdefault((kind, namespace, owner.get("kind") or "", owner.get("name") or ""), []).append(manifest)

    def get(self, api_version: str, kind: str, namespace: str, name: str) -> Manifest | None:
        """The object of that name, being deleted or not. Versions of one API group are not told apart."""
        return self._objects.get((group_of(api_version), kind, namespace, name))

    def of_kind(self, kind: str) -> list[Manifest]:
        """All objects of a kind, being deleted or not."""
        return [manifest for (_, found, _, _), manifest in self._objects.items() if found == kind]

    @property
    def scheduled_pods(self) -> dict[tuple[str, str], int]:
        """Pods that have a node, by namespace and name of their set: what the PodCliques' status says."""
        if self._scheduled is None:
            self._scheduled = _scheduled_pods(self.of_kind("PodClique"))
        return self._scheduled

    def live(self, ref: ObjectRef) -> Manifest | None:
        """The object of that name, unless it is being deleted."""
        found = self._objects.get((group_of(ref.api_version), ref.kind, ref.namespace, ref.name))
        return None if found is None or is_terminating(found) else found

    def with_uid(self, ref: ObjectRef) -> ObjectRef:
        """The same reference with the UID of the object, when there is one."""
        found = self.live(ref) if self._objects else None
        return ref if found is None else ref._replace(uid=(found.get("metadata") or {}).get("uid") or "")

    def replicas(self, ref: ObjectRef, template: int) -> int:
        """`spec.replicas` of the object, which autoscalers and people change; the template's number before it exists."""
        found = self.live(ref) if self._objects else None
        live = None if found is None else (found.get("spec") or {}).get("replicas")
        return template if live is None else int(live)

    def owned(self, kind: str, owner: ObjectRef) -> list[Manifest]:
        """The objects of a kind whose controller is `owner` itself, not a former object of its name; those being deleted too."""
        if not self._objects:
            return []
        found = self._owned.get((kind, owner.namespace, owner.kind, owner.name), [])
        return [child for child in found if not owner.uid or (controller_of(child) or {}).get("uid") in (None, "", owner.uid)]


def _scheduled_pods(cliques: list[Manifest]) -> dict[tuple[str, str], int]:
    found: dict[tuple[str, str], int] = {}
    for clique in cliques:
        metadata = clique.get("metadata") or {}
        key = metadata.get("namespace") or "", (metadata.get("labels") or {}).get("app.kubernetes.io/part-of") or ""
        found[key] = found.get(key, 0) + ((clique.get("status") or {}).get("scheduledReplicas") or 0)
    return found


def group_of(api_version: str) -> str:
    """The API group of an `apiVersion`; empty for the core group."""
    return api_version.rpartition("/")[0]


def controller_of(manifest: Manifest) -> Manifest | None:
    """The owner reference whose `controller` is true."""
    references = (manifest.get("metadata") or {}).get("ownerReferences") or []
    return next((reference for reference in references if reference.get("controller")), None)


def is_terminating(manifest: Manifest) -> bool:
    """Whether somebody asked for its deletion."""
    return bool((manifest.get("metadata") or {}).get("deletionTimestamp"))


def is_finished(pod: Manifest) -> bool:
    """Whether a pod has run to its end, well or badly."""
    return (pod.get("status") or {}).get("phase") in FINISHED_PHASES
