"""Finds the keys that a changed object is relevant for."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

from applier.cache.index import take
from applier.loop.view import Ownership, SelectorRead, View
from applier.ref import Manifest, Ref
from kube_objects.label_selector import selector

K = TypeVar("K", bound=Hashable)


Dependency = Ref | Ownership | tuple[SelectorRead]
"""What a key has read: an object by name, the objects of an owner, or a selection.

A selection stands in a tuple of its own, since otherwise one with the same four words as a name would be that name."""


class Dependencies(Generic[K]):
    """Indexes keys by what their functions read when they were last called, and by the objects that they desire.

    A change looks up its name, its owners and its labels, so that it costs the same however many keys have read its kind. Objects of an
    owner are indexed by kind: each of 500 replicas reads the revisions of their set, and would otherwise be enqueued for each PodClique of
    the others, which the set owns as well.
    """

    def __init__(self) -> None:
        self._dependencies: dict[K, set[Dependency]] = {}
        self._keys: dict[Dependency, set[K]] = {}
        self._by_label: dict[tuple[str, str, str, str], set[SelectorRead]] = {}  # by group, kind, label and value that a selection needs

    def replace(self, key: K, view: View, wanted: Iterable[Ref]) -> None:
        """Replaces the dependencies of a key by what its view has read, and by the objects that it desires."""
        read, before = view.read, self._dependencies.get(key, set())
        dependencies: set[Dependency] = {*read.refs, *wanted, *read.owned, *((selection,) for selection in read.selections)}
        self._dependencies[key] = dependencies
        self._drop(key, before - dependencies)  # hardly any: a key mostly reads what it has read before
        for dependency in dependencies - before:
            self._keys.setdefault(dependency, set()).add(key)
            if len(dependency) == 1:
                for place in _places(dependency[0]):
                    self._by_label.setdefault(place, set()).add(dependency[0])

    def drop(self, key: K) -> None:
        """Removes a key and its dependencies."""
        self._drop(key, self._dependencies.pop(key, set()))

    def _drop(self, key: K, dependencies: set[Dependency]) -> None:
        for dependency in dependencies:
            take(self._keys, dependency, key)
            if len(dependency) == 1 and dependency not in self._keys:
                for place in _places(dependency[0]):
                    take(self._by_label, place, dependency[0])

    def all(self) -> list[K]:
        """Returns all keys with dependencies."""
        return list(self._dependencies)

    def count(self) -> int:
        """Returns the number of keys with dependencies."""
        return len(self._dependencies)

    def of(self, ref: Ref, old: Manifest | None, new: Manifest | None) -> set[K]:
        """Returns the keys that a change of an object is relevant for."""
        dependencies: set[Dependency] = {ref}
        for state in (old, new):
            if state is not None:
                for owner in state["metadata"].get("ownerReferences") or ():
                    dependencies |= {Ownership(owner["uid"], None), Ownership(owner["uid"], ref[:2])}
                dependencies.update((selection,) for selection in self._selecting(ref, state))
        return {key for dependency in dependencies for key in self._keys.get(dependency, ())}

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
