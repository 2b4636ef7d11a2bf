"""Why a roll does not move: what it has come to, and what the others wait for."""

from __future__ import annotations

from functools import cache

import pytest

from applier.ref import Manifest, Ref
from grove_cli.queries.tree_query import find
from grove_cli.why.as_text import why_text
from grove_operator.cluster.why import Reason, reasons
from grove_operator.controller.membership import key_of
from grove_operator.controller.waiting import RecordedCache, waits_in
from tests.simulation.sets import FRONT, demo, image
from tests.simulation.simulation import running

from .test_cases import PIPE, rules_in, shared


@cache
def stuck() -> tuple[list[Manifest], float]:
    """A set of two replicas, the first of which was given pods that never become ready; and the time."""
    simulation = running(demo(replicas=2))
    simulation.edit(image("broken", FRONT))
    simulation.settle()
    objects, now = list(simulation.world.cluster.store.objects.values()), simulation.world.now
    simulation.close()
    return objects, now


def why(words: str) -> tuple[Ref, list[Reason]]:
    objects, now = stuck()
    asked, set = find(words, "", objects)
    return Ref.of(asked), reasons(Ref.of(asked), waits_in(RecordedCache(objects, []), set, shared({}), now))


def lines(words: str) -> list[str]:
    """The tree, without its lines and without what tells one pod from another."""
    root, found = why(words)
    return [line.lstrip("│├└─ ").split(" for ")[0].split(":")[0] for line in why_text(root, found, stuck()[1], PIPE).splitlines()[1:]]


def test_a_roll_that_does_not_move_names_the_replica_and_the_pod() -> None:
    _, found = why("demo")
    [update] = [one for one in found if one.wait.reason == "UpdateInProgress"]
    assert update.wait.message.startswith("replica 0 is being updated: demo-0-front is not up to date")
    assert [one.wait.reason for one in update.below] == ["PodNotReady"]
    assert [one.wait.reason for one in update.below[0].below] == ["NotReady"]


def test_a_clique_whose_turn_has_not_come_waits_for_the_one_whose_has() -> None:
    assert lines("pclq/demo-1-front")[:3] == ["UpdateOfOthers", "UpdateInProgress", "PodNotReady"]


def rules_of_updates() -> set[str]:
    return {rule for words in ("demo", "pclq/demo-1-front") for rule in rules_in(why(words)[1])}


@pytest.mark.parametrize("kind", ["PodGang", "PodClique", "Pod"])
def test_a_part_is_told_the_same_where_only_what_it_waits_for_is_looked_at(kind: str) -> None:
    objects, now = stuck()
    parts = [one for one in objects if one["kind"] == kind]
    assert len({key.replica for one in parts if (key := key_of(Ref.of(one), one))}) == 2
    for part in parts:
        asked, set = find(f"{kind}/{part['metadata']['name']}", "", objects)
        alone, beside_others = (list(waits_in(RecordedCache(objects, []), set, shared({}), now, one)) for one in (asked, None))
        root = Ref.of(asked)
        texts = [why_text(root, reasons(root, waits), now, PIPE) for waits in (alone, beside_others)]
        assert texts[0] == texts[1]
