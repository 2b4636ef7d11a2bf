"""Finds the keys that a changed object is relevant for."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

from applier.cache.selectors import selector
from applier.loop.view import Ownership, SelectorRead, View
from applier.ref import Manifest, Ref

K = TypeVar("K", bound=Hashable)


Topic = Ref | Ownership | tuple[SelectorRead]
"""What a key has read: an object by name, the objects of an owner, or a selection.

A selection stands in a tuple of its own, since otherwise one with the same four words as a name would be that name."""


class Interests(Generic[K]):
    """Indexes keys by what their functions read when they were last called, and by the objects that they desire.

    A change looks up its name, its owners and its labels, so that it costs the same however many keys have read its kind. Objects of an
    owner are indexed by kind: each of 500 replicas reads the revisions of their set, and would otherwise be enqueued for each PodClique of
    the others, which the set owns as well.
    """

    def __init__(self) -> None:
        self._topics: dict[K, set[Topic]] = {}
        self._keys: dict[Topic, set[K]] = {}
        self._by_label: dict[tuple[str, str, str, str], set[SelectorRead]] = {}  # by group, kind, label and value that a selection needs

    def replace(self, key: K, view: View, wanted: Iterable[Ref]) -> None:
        """Replaces the interests of a key by what its view has read, and by the objects that it desires."""
        self.drop(key)
        read = view.read
        topics = self._topics[key] = {*read.refs, *wanted, *read.owned, *((selection,) for selection in read.selections)}
        for topic in topics:
            self._keys.setdefault(topic, set()).add(key)
        for selection in read.selections:
            for place in _places(selection):
                self._by_label.setdefault(place, set()).add(selection)

    def drop(self, key: K) -> None:
        """Removes a key and its interests."""
        for topic in self._topics.pop(key, ()):
            _discard(self._keys, topic, key)
            if len(topic) == 1 and topic not in self._keys:
                for place in _places(topic[0]):
                    _discard(self._by_label, place, topic[0])

    def all(self) -> list[K]:
        """Returns all keys with interests."""
        return list(self._topics)

    def count(self) -> int:
        """Returns the number of keys with interests."""
        return len(self._topics)

    def of(self, ref: Ref, old: Manifest | None, new: Manifest | None) -> set[K]:
        """Returns the keys that a change of an object is relevant for."""
        topics: set[Topic] = {ref}
        for state in (old, new):
            if state is not None:
                for owner in state["metadata"].get("ownerReferences") or ():
                    topics |= {Ownership(owner["uid"], None), Ownership(owner["uid"], ref[:2])}
                topics.update((selection,) for selection in self._selecting(ref, state))
        return {key for topic in topics for key in self._keys.get(topic, ())}

    def _selecting(self, ref: Ref, state: Manifest) -> list[SelectorRead]:
        """Returns the selections that match an object."""
        labels: dict[str, str] = state["metadata"].get("labels") or {}
        candidates = set(self._by_label.get((ref.group, ref.kind, "", ""), ()))
        for label, value in labels.items():
            candidates |= self._by_label.get((ref.group, ref.kind, label, value), set())
        in_namespace = (selection for selection in candidates if selection.namespace in ("", ref.namespace))
        return [selection for selection in in_namespace if selector(selection.selector).matches(state)]


def _places(selection: SelectorRead) -> list[tuple[str, str, str, str]]:
    """Returns where a selection is indexed: under the values of the first label that it requires, or under its kind alone."""
    for requirement in selector(selection.selector).requirements:
        if requirement.positive and requirement.values is not None:
            return [(selection.group, selection.kind, requirement.key, value) for value in requirement.values]
    return [(selection.group, selection.kind, "", "")]


Q = TypeVar("Q", bound=Hashable)
V = TypeVar("V", bound=Hashable)


def _discard(index: dict[Q, set[V]], what: Q, value: V) -> None:
    index[what].discard(value)
    if not index[what]:
        del index[what]
