"""How long commands that run on look for garbage, and that they do at all."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from grove_cli import garbage
from grove_cli.cluster import session
from grove_cli.cluster.target import ClusterFlags


class Knot:
    """A value that only the collector finds."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    thresholds, enabled, callbacks = gc.get_threshold(), gc.isenabled(), list(gc.callbacks)
    yield
    gc.callbacks[:] = callbacks
    gc.set_threshold(*thresholds)
    (gc.enable if enabled else gc.disable)()


def test_what_points_at_itself_goes_while_the_program_runs() -> None:
    gc.disable()
    garbage.collect_in_small_portions()
    first = weakref.ref(Knot())
    assert any(first() is None for _ in (Knot() for _ in range(2 * garbage.YOUNG)))


def test_a_look_at_what_is_young_is_at_few_values() -> None:
    garbage.collect_in_small_portions()
    gc.collect()
    most, young = 0, list[Knot]()
    for _ in range(4 * garbage.YOUNG):
        young.append(Knot())
        most = max(most, gc.get_count()[0])
    assert most <= garbage.YOUNG + 1


def test_what_is_there_is_not_looked_at_again() -> None:
    kept = [Knot() for _ in range(100)]
    garbage.freeze_existing()
    looked_at = {id(one) for one in gc.get_objects()}
    assert [one for one in kept if id(one) in looked_at] == []


def is_looked_at(kept: Knot) -> bool:
    return any(one is kept for one in gc.get_objects())


def test_what_survives_a_full_collection_is_not_looked_at_until_the_process_has_twice_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    gc.callbacks.clear()
    garbage.collect_in_small_portions()
    size, seen = [100], []
    monkeypatch.setattr("sys.getallocatedblocks", lambda: size[0])
    kept, found = Knot(), weakref.ref(Knot())
    gc.collect()
    assert (is_looked_at(kept), found()) == (False, None)
    lost = weakref.ref(kept)
    del kept
    for size[0] in (200, 201):
        gc.collect()
        seen.append(lost() is None)
    assert seen == [False, True]


def test_a_collection_of_what_is_young_excludes_nothing() -> None:
    gc.callbacks.clear()
    garbage.collect_in_small_portions()
    kept = Knot()
    gc.collect(1)
    assert is_looked_at(kept)


def test_there_is_one_rule_of_exclusion_however_often_it_is_asked_for() -> None:
    gc.callbacks.clear()
    for _ in range(2):
        garbage.collect_in_small_portions()
    assert len(gc.callbacks) == 1


@pytest.mark.parametrize("long", [True, False])
def test_only_commands_that_run_on_look_for_garbage(long: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    gc.disable()
    monkeypatch.setattr(session, "attempt", lambda work, findings: int(gc.isenabled()))

    async def work(_: session.Session) -> int:
        return 0

    assert session.run(work, ClusterFlags(), long=long) == int(long)
