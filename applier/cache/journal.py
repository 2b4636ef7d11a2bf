"""Records what has changed among the objects with a label, so that sums over them can be updated instead of recomputed."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple
from weakref import WeakValueDictionary

from applier.ref import GroupKind, Manifest, Ref


class Selected(NamedTuple):
    """Names the objects of a kind with a label, of one namespace or of all."""

    group: str
    kind: str
    label: str
    value: str
    namespace: str


class Changes(NamedTuple):
    """Holds the objects that were added, changed or deleted since a mark; None where any may have been.

    `mark` is to be passed to the next call.
    """

    mark: object
    refs: Collection[Ref] | None


class ChangeLog:
    """Records the last change of each object, the latest last. Its size depends on the number of names, not of changes."""

    def __init__(self) -> None:
        self.length = 0
        self._numbers: dict[Ref, int] = {}

    def note(self, ref: Ref) -> None:
        """Records a change."""
        self.length += 1
        self._numbers.pop(ref, None)
        self._numbers[ref] = self.length

    def since(self, length: int) -> list[Ref]:
        """Returns the objects that have changed since it had this length, the latest first. Linear in the result."""
        changed = []
        for ref in reversed(self._numbers):
            if self._numbers[ref] <= length:
                break
            changed.append(ref)
        return changed


class _Mark(NamedTuple):
    """Represents a position in a journal."""

    journal: ChangeLog
    length: int


class Journals:
    """Holds a journal for each selection from its first read on, as long as a mark into it exists."""

    def __init__(self) -> None:
        self._journals: WeakValueDictionary[Selected, ChangeLog] = WeakValueDictionary()
        self._labels: dict[GroupKind, set[str]] = {}  # by which changes of a kind were ever read

    def __len__(self) -> int:
        return len(self._journals)

    def read(self, selected: Selected, since: object = None) -> Changes:
        """Returns the changes since a mark; for a mark of another journal, unknown ones."""
        journal = self._journals.get(selected)
        if journal is None:
            journal = self._journals[selected] = ChangeLog()
            self._labels.setdefault((selected.group, selected.kind), set()).add(selected.label)
        mark = _Mark(journal, journal.length)
        return Changes(mark, journal.since(since.length) if isinstance(since, _Mark) and since.journal is journal else None)

    def note(self, ref: Ref, old: Manifest | None, new: Manifest | None) -> None:
        """Records a change of an object in the journals of the labels that it has, or had before."""
        for label in self._labels.get(ref[:2], ()):
            states = (state for state in (old, new) if state is not None)
            values = {(state["metadata"].get("labels") or {}).get(label) for state in states}
            for value in values:
                for namespace in {ref.namespace, ""}:
                    journal = self._journals.get(Selected(ref.group, ref.kind, label, value, namespace)) if value is not None else None
                    if journal is not None:
                        journal.note(ref)
