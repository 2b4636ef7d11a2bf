"""The objects that a cache knows, found by name, owner and label, and moved only forwards in time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from applier.cache.selectors import Selector
from applier.cache.versions import Tombstones, is_older, is_same
from applier.ref import GroupKind, Manifest, Ref, uid_of

Subscriber = Callable[[Ref, Manifest | None, Manifest | None], None]


class Objects:
    """Takes what lists, watches and own writes tell, and says what it changed. `labels` are the label keys that have an index."""

    def __init__(self, labels: Iterable[str] = ()) -> None:
        self.subscribers: dict[Subscriber, None] = {}
        self._kinds: dict[GroupKind, dict[Ref, Manifest]] = {}
        self._by_owner: dict[str, set[Ref]] = {}
        self._by_label: dict[str, dict[str, set[Ref]]] = {key: {} for key in labels}
        self._dead = Tombstones()
        self._written: set[Ref] = set()  # by ourselves, since the last list that would show them began

    def get(self, ref: Ref) -> Manifest | None:
        of_kind = self._kinds.get(ref[:2])
        return of_kind.get(ref) if of_kind else None

    def count(self) -> int:
        """How many objects are known."""
        return sum(map(len, self._kinds.values()))

    def seen(self, manifest: Manifest) -> None:
        """A watch shows an object. An older state than the one that is known, and whoever is known to be dead, are passed over."""
        ref = Ref.of(manifest)
        known = self.get(ref)
        if uid_of(manifest) in self._dead or (known is not None and (is_older(manifest, known) or is_same(manifest, known))):
            return
        self._set(ref, known, manifest)

    def written(self, manifest: Manifest, as_of: str = "") -> None:
        """We wrote an object, and hear the answer when lists and watches have told all up to a version, `as_of`.

        Where versions cannot be compared, only the watch can tell whether this is the last word.
        """
        ref = Ref.of(manifest)
        known = self.get(ref)
        if known is None:
            is_news = is_older(manifest, _at(as_of)) is not True  # else it is deleted by now, perhaps in a gap of the history
        else:
            is_news = is_older(known, manifest) is True
        if uid_of(manifest) in self._dead or not is_news:
            return
        self._written.add(ref)
        self._set(ref, known, manifest)

    def gone(self, manifest: Manifest) -> None:
        """A watch shows that an object is deleted. Another one that has its name by now stays."""
        ref = Ref.of(manifest)
        known = self.get(ref)
        self._dead.bury(uid_of(manifest))
        if known is not None and uid_of(known) == uid_of(manifest):
            self._written.discard(ref)
            self._set(ref, known, None)

    def list_begins(self, group: str, kind: str, namespace: str) -> None:
        """From now on, what we write may be newer than the list."""
        self._written = {ref for ref in self._written if not (ref[:2] == (group, kind) and namespace in ("", ref.namespace))}

    def listed(self, group: str, kind: str, namespace: str, manifests: Iterable[Manifest], version: str) -> None:
        """All objects of a kind, in a namespace or in all, as of a version. What is missing is gone, unless we wrote it since."""
        listed = {Ref.of(manifest): manifest for manifest in manifests}
        as_of = _at(version)
        for ref, known in list(self._kinds.get((group, kind), {}).items()):
            if namespace in ("", ref.namespace) and ref not in listed and not self._is_newer(ref, known, as_of):
                self.gone(known)
        for ref, manifest in listed.items():
            before = self.get(ref)
            if before is None or not (is_same(manifest, before) or self._is_newer(ref, before, as_of)):
                self._dead.revive(uid_of(manifest))
                self._set(ref, before, manifest)

    def _is_newer(self, ref: Ref, known: Manifest, as_of: Manifest) -> bool:
        return ref in self._written and is_older(as_of, known) is not False

    def by_owner(self, uid: str) -> list[Manifest]:
        """The objects that name a UID among their owners, by name."""
        return [self._kinds[ref[:2]][ref] for ref in sorted(self._by_owner.get(uid, ()))]

    def of(self, group: str, kind: str, namespace: str = "", selector: Selector | None = None) -> list[Manifest]:
        """The objects of a kind, of one namespace or of all, that a selector picks, by name."""
        known = self._kinds.get((group, kind), {})
        among = self._narrowed(selector) if selector else None
        refs = known if among is None else [ref for ref in among if ref in known]
        found = sorted(ref for ref in refs if namespace in ("", ref.namespace))
        return [known[ref] for ref in found if selector is None or selector.matches(known[ref])]

    def _narrowed(self, selector: Selector) -> set[Ref] | None:
        """The objects that can match at all, by the first part of the selector that has an index."""
        for key, wanted, values in selector.requirements:
            if wanted and values is not None and key in self._by_label:
                return set().union(*(self._by_label[key].get(value, ()) for value in values))
        return None

    def _set(self, ref: Ref, old: Manifest | None, new: Manifest | None) -> None:
        """Puts one state in the place of another, and tells who listens."""
        of_kind = self._kinds.setdefault(ref[:2], {})
        if old is not None:
            self._index(ref, old, _taken)
        if new is None:
            of_kind.pop(ref, None)
        else:
            if old is not None and uid_of(old) != uid_of(new):
                self._dead.bury(uid_of(old))
            of_kind[ref] = new
            self._index(ref, new, _added)
        for subscriber in list(self.subscribers):
            subscriber(ref, old, new)

    def _index(self, ref: Ref, manifest: Manifest, change: Callable[[dict[str, set[Ref]], str, Ref], None]) -> None:
        metadata = manifest["metadata"]
        for owner in metadata.get("ownerReferences") or ():
            change(self._by_owner, owner["uid"], ref)
        labels: dict[str, Any] = metadata.get("labels") or {}
        for key, index in self._by_label.items():
            if key in labels:
                change(index, labels[key], ref)


def _at(version: str) -> Manifest:
    return {"metadata": {"resourceVersion": version}}


def _added(index: dict[str, set[Ref]], value: str, ref: Ref) -> None:
    index.setdefault(value, set()).add(ref)


def _taken(index: dict[str, set[Ref]], value: str, ref: Ref) -> None:
    refs = index.get(value)
    if refs is not None:
        refs.discard(ref)
        if not refs:
            del index[value]
