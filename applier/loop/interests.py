"""Which keys a change is news for."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Generic, NamedTuple, TypeVar

from applier.cache.selectors import selector
from applier.loop.view import Selection, View
from applier.ref import Manifest, Ref

K = TypeVar("K", bound=Hashable)


class Interest(NamedTuple):
    """Where a key is noted: under names, owners, and selections with the label that leads to them."""

    refs: frozenset[Ref]
    owners: frozenset[str]
    selections: frozenset[Selection]


class Interests(Generic[K]):
    """Keys by what their functions asked for when they were last called, and by the objects that they want.

    A change looks up its name, its owners and its labels, so that it costs the same however many keys have asked about its kind.
    """

    def __init__(self) -> None:
        self._interests: dict[K, Interest] = {}
        self._by_ref: dict[Ref, set[K]] = {}
        self._by_owner: dict[str, set[K]] = {}
        self._by_selection: dict[Selection, set[K]] = {}
        self._by_label: dict[tuple[str, str, str, str], set[Selection]] = {}  # by group, kind, label and value that a selection needs

    def replace(self, key: K, view: View, wanted: Iterable[Ref]) -> None:
        """Replaces what a key is interested in by what its view was asked for, and by the objects that it wants."""
        self.drop(key)
        read = view.read
        interest = self._interests[key] = Interest(frozenset(read.refs).union(wanted), frozenset(read.owners), frozenset(read.selections))
        for ref in interest.refs:
            self._by_ref.setdefault(ref, set()).add(key)
        for uid in interest.owners:
            self._by_owner.setdefault(uid, set()).add(key)
        for selection in interest.selections:
            self._by_selection.setdefault(selection, set()).add(key)
            for place in _places(selection):
                self._by_label.setdefault(place, set()).add(selection)

    def drop(self, key: K) -> None:
        """The key is interested in nothing more."""
        interest = self._interests.pop(key, None)
        if interest is None:
            return
        for ref in interest.refs:
            _discard(self._by_ref, ref, key)
        for uid in interest.owners:
            _discard(self._by_owner, uid, key)
        for selection in interest.selections:
            _discard(self._by_selection, selection, key)
            if selection not in self._by_selection:
                for place in _places(selection):
                    _discard(self._by_label, place, selection)

    def count(self) -> int:
        """How many keys are interested in something."""
        return len(self._interests)

    def of(self, ref: Ref, old: Manifest | None, new: Manifest | None) -> set[K]:
        """The keys that a change is news for."""
        keys = set(self._by_ref.get(ref, ()))
        for state in (old, new):
            if state is not None:
                for owner in state["metadata"].get("ownerReferences") or ():
                    keys |= self._by_owner.get(owner["uid"], set())
                for selection in self._selecting(ref, state):
                    keys |= self._by_selection[selection]
        return keys

    def _selecting(self, ref: Ref, state: Manifest) -> list[Selection]:
        """The selections that pick an object."""
        labels: dict[str, str] = state["metadata"].get("labels") or {}
        candidates = set(self._by_label.get((ref.group, ref.kind, "", ""), ()))
        for label, value in labels.items():
            candidates |= self._by_label.get((ref.group, ref.kind, label, value), set())
        return [one for one in candidates if one.namespace in ("", ref.namespace) and selector(one.selector).matches(state)]


def _places(selection: Selection) -> list[tuple[str, str, str, str]]:
    """Where a selection is noted: under the values of the first label that it needs, or where every object looks."""
    for requirement in selector(selection.selector).requirements:
        if requirement.wanted and requirement.values is not None:
            return [(selection.group, selection.kind, requirement.key, value) for value in requirement.values]
    return [(selection.group, selection.kind, "", "")]


Q = TypeVar("Q", bound=Hashable)
V = TypeVar("V", bound=Hashable)


def _discard(index: dict[Q, set[V]], what: Q, value: V) -> None:
    index[what].discard(value)
    if not index[what]:
        del index[what]
