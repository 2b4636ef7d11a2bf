"""Holds the objects that a cache knows, by name, owner and label; an object never goes back to an older state."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from threading import Lock

from applier.cache.index import KindIndex
from applier.cache.versions import LabelledAs, LastStates, OwnWrites, Tombstones, as_of, is_older, is_same
from applier.ref import GroupKind, Manifest, Ref, resource_version_of, uid_of
from kube_objects.label_selector import Selector

Subscriber = Callable[[Ref, Manifest | None, Manifest | None], None]
Note = Callable[[Ref, Manifest | None], None]


class ObjectStore:
    """Merges lists, watch events and our own writes, and notifies subscribers of what changes.

    One thread changes it. Others may read it with the methods that look up: `get`, `by_owner`, `of`, `deleted` and `deleted_names`.
    """

    def __init__(self) -> None:
        self.subscribers: dict[Subscriber, None] = {}
        self.before_change: dict[Note, None] = {}
        self._indices = Lock()  # an index is several values, and is built by whoever reads it first
        self.own = OwnWrites()
        self._kinds: dict[GroupKind, KindIndex] = {}
        self._dead = Tombstones()
        self.last = LastStates(self._dead.has)

    def get(self, ref: Ref) -> Manifest | None:
        kind = self._kinds.get(ref[:2])
        return kind.objects.get(ref) if kind else None

    def count(self) -> int:
        """Returns how many objects are known."""
        return sum(len(kind.objects) for kind in self._kinds.values())

    def observe(self, manifest: Manifest, kept: Callable[[Manifest], Manifest] = lambda manifest: manifest) -> None:
        """Stores the object of a watch event, unless its state is older than the known one or than the object's deletion.

        `kept` returns what is stored of it. It takes time, and of each write of ours the state is known already.
        """
        ref = Ref.of(manifest)
        self.own.observe(ref, manifest)
        known = self.get(ref)
        if self._dead.holds(manifest) or (known is not None and (is_older(manifest, known) or is_same(manifest, known))):
            return
        self._set(ref, known, kept(manifest))

    def record_write(self, manifest: Manifest, version: str = "") -> None:
        """Stores the answer to a write of ours; lists and watches have been read up to `version`.

        If versions cannot be compared, it is stored only if the object is new, and otherwise left to the watch.
        """
        ref = Ref.of(manifest)
        known = self.get(ref)
        if known is None:
            is_newer = is_older(manifest, as_of(version)) is not True  # an older one has been deleted, perhaps in a gap of the watch
        else:
            is_newer = is_older(known, manifest) is True
        if self._dead.holds(manifest) or not is_newer:
            return
        self.own.wrote(ref, manifest)
        self._set(ref, known, manifest)

    def record_deletion(self, ref: Ref, uid: str) -> None:
        """Removes an object that the server has told us is gone."""
        known = self.get(ref)
        if known is not None and uid_of(known) == uid:
            self.own.deleted(ref, known)
            self._dead.bury(uid)
            with self._indices:
                self.last.note_name(ref[:2], known)
            self._set(ref, known, None)

    def observe_deletion(self, manifest: Manifest, version: str = "") -> None:
        """Removes an object that a watch shows as deleted, or as no longer selected. A newer object of the same name stays.

        `version` is the version of the deletion, unless the object has it itself. A watch shows the last state of the object.
        """
        ref = Ref.of(manifest)
        self.own.observe(ref, manifest, gone=True)
        known = self.get(ref)
        self._dead.bury(uid_of(manifest), version or resource_version_of(manifest))
        is_known = known is not None and uid_of(known) == uid_of(manifest)
        if is_known:
            self._note(ref, known)
        with self._indices:
            self.last.note(ref[:2], manifest)
        if is_known:
            self._set(ref, known, None)

    def begin_list(self, group: str, kind: str, namespace: str) -> None:
        """Records that a list begins: what we write from now on may be newer than its result."""
        self.own.begin_list(group, kind, namespace)

    def replace(self, group: str, kind: str, namespace: str, manifests: Iterable[Manifest], version: str) -> None:
        """Replaces all objects of a kind, in a namespace or in all, by a list. Others are removed, unless we wrote them since."""
        listed = {Ref.of(manifest): manifest for manifest in manifests}
        for ref, known in list(self._kind(group, kind).objects.items()):
            if namespace in ("", ref.namespace) and ref not in listed and not self.own.is_newer(ref, known, version):
                self.observe_deletion(known, version)
        for ref, manifest in listed.items():
            before = self.get(ref)
            if self.own.has_deleted(uid_of(manifest)):
                continue  # deleted while the list was in flight; the watch will show that, too
            if before is None or not (is_same(manifest, before) or self.own.is_newer(ref, before, version)):
                self._dead.revive(uid_of(manifest))
                self._set(ref, before, manifest)
        self.own.end_list(group, kind, namespace, version)

    def by_owner(self, uid: str, kinds: Iterable[GroupKind] = ()) -> list[Manifest]:
        """Returns the objects of some kinds, or of all, that have an owner with this UID, sorted by kind and name."""
        with self._indices:
            selected = sorted(self._kinds.keys() & kinds if kinds else self._kinds)
            return [manifest for kind in selected for manifest in self._kinds[kind].owned_by(uid)]

    def of(self, group: str, kind: str, namespace: str, selector: Selector) -> list[Manifest]:
        """Returns the objects of a kind, of one namespace or of all, that match a selector, sorted by name."""
        with self._indices:
            return self._kind(group, kind).select(selector, namespace)

    def deleted(self, uid: str, kind: GroupKind) -> list[Manifest]:
        """Returns the last states of deleted objects of a kind with this owner, in the order of the deletions."""
        with self._indices:
            return self.last.of(uid, kind)

    def deleted_names(self, labelled: LabelledAs) -> list[str]:
        """Returns the names of deleted objects with a label of this value (see `LastStates.names`)."""
        with self._indices:
            return self.last.names(labelled)

    def recall(self, manifest: Manifest) -> None:
        """Records the name of an object that was gone before anything was listed."""
        with self._indices:
            self.last.note_name(Ref.of(manifest)[:2], manifest)

    def _kind(self, group: str, kind: str) -> KindIndex:
        return self._kinds.setdefault((group, kind), KindIndex())

    def _set(self, ref: Ref, old: Manifest | None, new: Manifest | None) -> None:
        """Replaces the state of an object, and notifies subscribers."""
        if old is not None and new is not None and uid_of(old) != uid_of(new):
            self._dead.bury(uid_of(old))
        self._note(ref, old)
        with self._indices:
            self._kind(ref.group, ref.kind).put(ref, new)
        for subscriber in list(self.subscribers):
            subscriber(ref, old, new)

    def _note(self, ref: Ref, old: Manifest | None) -> None:
        for note in list(self.before_change):
            note(ref, old)
