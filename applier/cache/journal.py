"""What has changed among the objects with a label, for who sums them up and looks only at what is new."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple
from weakref import WeakValueDictionary

from applier.ref import GroupKind, Manifest, Ref


class Selected(NamedTuple):
    """The objects of a kind with a label, of one namespace or of all."""

    group: str
    kind: str
    label: str
    value: str
    namespace: str


class Changes(NamedTuple):
    """The objects that were made, changed or lost since an earlier answer, none where it may be any of them.

    `mark` is what the next question gives back.
    """

    mark: object
    refs: Collection[Ref] | None


class Journal:
    """The last change of each object, the latest last. It grows with the names that there were, not with their changes."""

    def __init__(self) -> None:
        self.length = 0
        self._numbers: dict[Ref, int] = {}

    def note(self, ref: Ref) -> None:
        """Takes a change down."""
        self.length += 1
        self._numbers.pop(ref, None)
        self._numbers[ref] = self.length

    def since(self, length: int) -> list[Ref]:
        """Returns what has changed since it had so many entries, the latest first; it costs no more than that."""
        found = []
        for ref in reversed(self._numbers):
            if self._numbers[ref] <= length:
                break
            found.append(ref)
        return found


class Mark(NamedTuple):
    """A place in a journal."""

    journal: Journal
    length: int


class Journals:
    """A journal for each selection that somebody has asked about, from the first question on, as long as anybody keeps a mark in it."""

    def __init__(self) -> None:
        self._journals: WeakValueDictionary[Selected, Journal] = WeakValueDictionary()
        self._labels: dict[GroupKind, set[str]] = {}  # by which a kind was ever asked about

    def __len__(self) -> int:
        return len(self._journals)

    def read(self, selected: Selected, since: object = None) -> Changes:
        """Returns what has changed since a mark. Of a mark that was made elsewhere nothing is known."""
        journal = self._journals.get(selected)
        if journal is None:
            journal = self._journals[selected] = Journal()
            self._labels.setdefault((selected.group, selected.kind), set()).add(selected.label)
        mark = Mark(journal, journal.length)
        return Changes(mark, journal.since(since.length) if isinstance(since, Mark) and since.journal is journal else None)

    def note(self, ref: Ref, old: Manifest | None, new: Manifest | None) -> None:
        """Takes a change of an object down, which has a label, or had it until now."""
        for label in self._labels.get(ref[:2], ()):
            states = (state for state in (old, new) if state is not None)
            values = {(state["metadata"].get("labels") or {}).get(label) for state in states}
            for value in values:
                for namespace in {ref.namespace, ""}:
                    journal = self._journals.get(Selected(ref.group, ref.kind, label, value, namespace)) if value is not None else None
                    if journal is not None:
                        journal.note(ref)
