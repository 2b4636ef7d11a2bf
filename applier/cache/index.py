"""Indexes the objects of one kind by name, owner and label."""

from __future__ import annotations

from typing import TypeVar

from applier.ref import Manifest, Ref, owner_uids
from kube_objects.label_selector import Selector

K = TypeVar("K")
V = TypeVar("V")

EVERY = ""  # a pseudo-label that all objects have, with the empty value: it indexes by namespace alone

Bucket = dict[tuple[str, str], set[Ref]]
"""Objects by namespace and value of one label; the namespace is empty in buckets for look-ups over all namespaces."""


class KindIndex:
    """Holds and indexes the objects of one kind.

    The index of a label is built on its first use and kept up to date from then on, so labels need not be declared, and unused ones cost
    nothing. A look-up costs as much as its result. Measured for the 50 pods of one clique: 45 microseconds alone and among 40,000 other
    pods, where a scan took 232 milliseconds.
    """

    def __init__(self) -> None:
        self.objects: dict[Ref, Manifest] = {}
        self._buckets: dict[tuple[str, bool], Bucket] = {}  # by label, and whether by namespace, too
        self._by_owner: dict[str, set[Ref]] = {}

    def put(self, ref: Ref, manifest: Manifest | None) -> None:
        """Replaces the state of an object; None removes it."""
        old = self.objects.pop(ref, None)
        if manifest is not None:
            self.objects[ref] = manifest
        self._own(ref, owner_uids(old) if old else set(), owner_uids(manifest) if manifest else set())
        for (label, apart), bucket in self._buckets.items():
            before, after = _place(old, label, ref, apart), _place(manifest, label, ref, apart)
            if before != after:
                if before is not None:
                    take(bucket, before, ref)
                if after is not None:
                    bucket.setdefault(after, set()).add(ref)

    def owned_by(self, uid: str) -> list[Manifest]:
        """Returns the objects that have an owner with this UID, sorted by name."""
        return [self.objects[ref] for ref in sorted(self._by_owner.get(uid, ()))]

    def select(self, selector: Selector, namespace: str = "") -> list[Manifest]:
        """Returns the objects that match a selector, of one namespace or of all, sorted by name."""
        refs = sorted(ref for ref in self._candidates(selector, namespace) if namespace in ("", ref.namespace))
        return [manifest for ref in refs if selector.matches(manifest := self.objects[ref])]

    def _own(self, ref: Ref, before: set[str], after: set[str]) -> None:
        """Updates the owner index for an object."""
        for uid in before - after:
            take(self._by_owner, uid, ref)
        for uid in after - before:
            self._by_owner.setdefault(uid, set()).add(ref)

    def _candidates(self, selector: Selector, namespace: str) -> set[Ref] | dict[Ref, Manifest]:
        """Returns the smallest indexed set of objects that contains all matches."""
        required = {
            requirement.key: requirement.values
            for requirement in selector.requirements
            if requirement.positive and requirement.values is not None
        }
        if not required and not namespace:
            return self.objects
        candidates = [self._with(label, values, namespace) for label, values in (required or {EVERY: frozenset((EVERY,))}).items()]
        return set().union(*min(candidates, key=lambda sets: sum(map(len, sets))))

    def _with(self, label: str, values: frozenset[str], namespace: str) -> list[set[Ref]]:
        bucket = self._bucket(label, apart=bool(namespace))
        return [bucket[namespace, value] for value in values if (namespace, value) in bucket]

    def _bucket(self, label: str, *, apart: bool) -> Bucket:
        bucket = self._buckets.get((label, apart))
        if bucket is None:
            bucket = self._buckets[label, apart] = {}
            for ref, manifest in self.objects.items():
                if (place := _place(manifest, label, ref, apart)) is not None:
                    bucket.setdefault(place, set()).add(ref)
        return bucket


def _place(manifest: Manifest | None, label: str, ref: Ref, apart: bool) -> tuple[str, str] | None:
    """Returns the bucket key of an object in the index of a label; None without that label."""
    if manifest is None:
        return None
    value = EVERY if label == EVERY else (manifest["metadata"].get("labels") or {}).get(label)
    return None if value is None else (ref.namespace if apart else "", value)


def take(index: dict[K, set[V]], key: K, value: V) -> None:
    """Removes a value of a key from an index, and the key with its last value."""
    values = index[key]
    values.discard(value)
    if not values:
        del index[key]
