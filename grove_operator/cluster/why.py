"""What an object waits for, and what that waits for in turn: a tree of the waits that the rules tell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field

from applier.ref import Ref
from grove_compiler.engine.runtime.results import Wait
from grove_compiler.graph.node import ObjectRef
from grove_compiler.record import record

Place = tuple[str, str, str]


@record
class Reason:
    """One thing that an object waits for, with what that waits for in turn.

    `alike` counts further ones of the same object and rule, whose own reasons are the same. `is_told` says that the object it waits for
    stands in the tree already, with its reasons.
    """

    wait: Wait
    below: list[Reason] = field(default_factory=list)
    alike: int = 0
    is_told: bool = False


def reasons(root: Ref, waits: Iterable[Wait]) -> list[Reason]:
    """Returns why an object is not as it should be; nothing for one that waits for nothing."""
    by_object: dict[Place, list[Wait]] = defaultdict(list)
    for wait in waits:
        by_object[_place(wait.of)].append(wait)
    return _Tree(by_object).below((root.kind, root.namespace, root.name), ())


class _Tree:
    """Grows from the top. What stands in it already is not told again, and a circle ends where it would close.

    A pod waits for its gang, which waits for a clique, which waits for its pods: of these only those say more that wait for something else.
    """

    def __init__(self, waits: dict[Place, list[Wait]]) -> None:
        self._waits, self._told = waits, set[Place]()

    def below(self, place: Place, path: tuple[Place, ...]) -> list[Reason]:
        self._told.add(place)
        path = (*path, place)
        return _folded(list(self._grown(place, path)))

    def _grown(self, place: Place, path: tuple[Place, ...]) -> Iterator[Reason]:
        for wait in self._waits.get(place, ()):
            on = _place(wait.on) if wait.on is not None else None
            if on is None or not self._waits.get(on):
                yield Reason(wait)
            elif on in path:
                continue
            elif on in self._told:
                yield Reason(wait, is_told=True)
            elif below := self.below(on, path):
                yield Reason(wait, below)


def _folded(found: Sequence[Reason]) -> list[Reason]:
    """Puts those together that differ in nothing but the name of what they wait for: five hundred pods for which there is no room."""
    kept: dict[tuple[object, ...], Reason] = {}
    for one in found:
        first = kept.setdefault(_shape(one), one)
        if first is not one:
            first.alike += 1 + one.alike
    return list(kept.values())


def _shape(reason: Reason) -> tuple[object, ...]:
    if not reason.below and not reason.is_told:
        return reason.wait.rule, reason.wait.message
    return reason.wait.rule, reason.is_told, *(_shape(one) for one in reason.below)


def _place(ref: ObjectRef) -> Place:
    return ref.kind, ref.namespace, ref.name
