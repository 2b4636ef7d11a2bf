"""What we wrote is known at once, and never turns time back, in whatever order lists, watches and answers come."""

from __future__ import annotations

from typing import Any

import pytest

from applier.cache.objects import Objects
from applier.ref import Manifest

from .conftest import config_map, ref


def state(version: int | str, uid: str = "u1", name: str = "a") -> Manifest:
    return config_map(name, str(version), uid=uid, resourceVersion=str(version))


def value(objects: Objects, name: str = "a") -> Any:
    found = objects.get(ref(name))
    return found and found["data"]["k"]


ORDERS: list[tuple[str, list[tuple[str, Any]], str | None]] = [
    ("our write is known before the watch tells it", [("seen", state(1)), ("written", state(2))], "2"),
    ("an old event does not undo our write", [("written", state(5)), ("seen", state(3))], "5"),
    ("a newer event does", [("written", state(5)), ("seen", state(6))], "6"),
    ("an answer that comes late does not undo a newer event", [("seen", state(6)), ("written", state(5))], "6"),
    (
        "an answer that comes after the deletion does not bring it back",
        [("seen", state(1)), ("gone", state(3)), ("written", state(2))],
        None,
    ),
    ("an event that comes after the deletion does not either", [("seen", state(1)), ("gone", state(3)), ("seen", state(2))], None),
    ("the end of the old one does not take the new one away", [("written", state(9, "u2")), ("gone", state(8, "u1"))], "9"),
    ("nor do late changes of the old one", [("seen", state(1)), ("written", state(9, "u2")), ("seen", state(7, "u1"))], "9"),
    ("a new object of the name replaces the old", [("seen", state(1)), ("seen", state(9, "u2"))], "9"),
    ("whole numbers are compared as such", [("seen", state(10)), ("written", state(9))], "10"),
    ("versions that are no numbers leave the word to the watch", [("seen", state("x")), ("written", state("y"))], "x"),
    ("who is not known yet is taken from our write all the same", [("written", state("y"))], "y"),
    (
        "late changes of a replaced object are known by its UID",
        [("seen", state("x")), ("seen", state("y", "u2")), ("seen", state("z"))],
        "y",
    ),
]


@pytest.mark.parametrize(("steps", "expected"), [case[1:] for case in ORDERS], ids=[case[0] for case in ORDERS])
def test_the_last_word_stays(steps: list[tuple[str, Manifest]], expected: str | None) -> None:
    objects = Objects()
    for step, manifest in steps:
        getattr(objects, step)(manifest)
    assert value(objects) == expected


def listed(objects: Objects, version: int, *manifests: Manifest) -> None:
    objects.listed("", "ConfigMap", "", manifests, str(version))


def test_a_list_that_began_before_our_write_does_not_undo_it() -> None:
    objects = Objects()
    objects.list_begins("", "ConfigMap", "")
    objects.written(state(5))
    listed(objects, 4)
    assert value(objects) == "5"


def test_a_list_that_shows_an_older_state_of_what_we_wrote_does_not_undo_it() -> None:
    objects = Objects()
    objects.list_begins("", "ConfigMap", "")
    objects.written(state(5))
    listed(objects, 4, state(3))
    assert value(objects) == "5"


def test_a_list_of_another_namespace_does_not_make_us_forget_what_we_wrote() -> None:
    objects = Objects()
    objects.list_begins("", "ConfigMap", "default")
    objects.written(state(5))
    objects.list_begins("", "ConfigMap", "other")
    objects.listed("", "ConfigMap", "default", [], "4")
    assert value(objects) == "5"


def test_a_later_list_takes_away_what_we_wrote() -> None:
    objects = Objects()
    objects.written(state(5))
    objects.list_begins("", "ConfigMap", "")
    listed(objects, 9)
    assert value(objects) is None


def test_a_list_takes_away_only_what_is_in_its_namespace() -> None:
    objects = Objects()
    objects.seen(config_map("b", uid="u9", resourceVersion="1", namespace="other"))
    objects.listed("", "ConfigMap", "default", [], "9")
    assert objects.get(ref("b", "other"))


def test_a_server_whose_history_was_set_back_is_believed() -> None:
    objects = Objects()
    objects.seen(state(100))
    objects.list_begins("", "ConfigMap", "")
    listed(objects, 50, state(40))
    assert value(objects) == "40"


def test_what_a_list_shows_is_alive_whatever_we_thought() -> None:
    objects = Objects()
    objects.seen(state(1))
    listed(objects, 2)
    listed(objects, 3, state(1))
    objects.seen(state(4))
    assert value(objects) == "4"


def test_an_answer_that_comes_after_a_gap_does_not_bring_back_what_was_deleted_in_it() -> None:
    objects = Objects()
    objects.written(state(5), "9")
    assert value(objects) is None


def test_our_own_write_is_told_once() -> None:
    objects = Objects()
    told: list[Any] = []
    objects.subscribers[lambda *change: told.append(change)] = None
    objects.written(state(5))
    objects.seen(state(5))
    listed(objects, 6, state(5))
    assert len(told) == 1
