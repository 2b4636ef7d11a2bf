"""Builds the tree of causes of an object's wait from the waits that rules report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field

from applier.ref import Ref
from grove_compiler.engine.runtime.results import ObjectWait
from grove_compiler.graph.node import ObjectRef
from grove_compiler.record import record

Place = tuple[str, str, str]


@record
class Reason:
    """A wait of an object, and the waits of the object that it waits for.

    `alike` counts further waits of the same object and rule with the same causes. `is_repeated` marks a wait for an object whose causes are
    elsewhere in the tree.
    """

    wait: ObjectWait
    below: list[Reason] = field(default_factory=list)
    alike: int = 0
    is_repeated: bool = False


def reasons(root: Ref, waits: Iterable[ObjectWait]) -> list[Reason]:
    """Returns the waits of an object with their causes; none if it waits for nothing."""
    by_object: dict[Place, list[ObjectWait]] = defaultdict(list)
    for wait in waits:
        by_object[_place(wait.of)].append(wait)
    return _Tree(by_object).below((root.kind, root.namespace, root.name), ())


def root_cause(reason: Reason) -> ObjectWait:
    """Returns the wait at the end of the first branch: what has to end before anything above it can."""
    while reason.below:
        reason = reason.below[0]
    return reason.wait


class _Tree:
    """Builds the tree depth-first. Causes of an object are included once, and cycles are cut.

    Cycles are common: a pod waits for its gang, which waits for a clique, which waits for its pods. Only branches that end outside of the
    cycle are causes.
    """

    def __init__(self, waits: dict[Place, list[ObjectWait]]) -> None:
        self._waits, self._visited = waits, set[Place]()

    def below(self, place: Place, path: tuple[Place, ...]) -> list[Reason]:
        self._visited.add(place)
        path = (*path, place)
        return _fold(list(self._reasons(place, path)))

    def _reasons(self, place: Place, path: tuple[Place, ...]) -> Iterator[Reason]:
        for wait in self._waits.get(place, ()):
            on = _place(wait.on) if wait.on is not None else None
            if on is None or not self._waits.get(on):
                yield Reason(wait)
            elif on in path:
                continue
            elif on in self._visited:
                yield Reason(wait, is_repeated=True)
            elif below := self.below(on, path):
                yield Reason(wait, below)


def _fold(found: Sequence[Reason]) -> list[Reason]:
    """Folds reasons that differ only in the names of objects, such as five hundred unschedulable pods."""
    folded: dict[tuple[object, ...], Reason] = {}
    for reason in found:
        first = folded.setdefault(_shape(reason), reason)
        if first is not reason:
            first.alike += 1 + reason.alike
    return list(folded.values())


def _shape(reason: Reason) -> tuple[object, ...]:
    if not reason.below and not reason.is_repeated:
        return reason.wait.rule, reason.wait.message
    return reason.wait.rule, reason.is_repeated, *(_shape(cause) for cause in reason.below)


def _place(ref: ObjectRef) -> Place:
    return ref.kind, ref.namespace, ref.name
