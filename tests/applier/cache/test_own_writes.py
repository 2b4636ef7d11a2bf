"""What we wrote is known at once, and never turns time back, in whatever order lists, watches and answers come."""

from __future__ import annotations

from typing import Any

from applier.cache.objects import ObjectStore
from applier.ref import Manifest
from tests.suite.rows import rows

from .conftest import config_map, ref


def state(version: int | str, uid: str = "u1", name: str = "a") -> Manifest:
    return config_map(name, str(version), uid=uid, resourceVersion=str(version))


def value(objects: ObjectStore, name: str = "a") -> Any:
    found = objects.get(ref(name))
    return found and found["data"]["k"]


ORDERS: list[tuple[str, list[tuple[str, Any]], str | None]] = [
    ("our write is known before the watch tells it", [("observe", state(1)), ("record_write", state(2))], "2"),
    ("an old event does not undo our write", [("record_write", state(5)), ("observe", state(3))], "5"),
    ("a newer event does", [("record_write", state(5)), ("observe", state(6))], "6"),
    ("an answer that comes late does not undo a newer event", [("observe", state(6)), ("record_write", state(5))], "6"),
    (
        "an answer that comes after the deletion does not bring it back",
        [("observe", state(1)), ("observe_deletion", state(3)), ("record_write", state(2))],
        None,
    ),
    (
        "an event that comes after the deletion does not either",
        [("observe", state(1)), ("observe_deletion", state(3)), ("observe", state(2))],
        None,
    ),
    (
        "the end of the old one does not take the new one away",
        [("record_write", state(9, "u2")), ("observe_deletion", state(8, "u1"))],
        "9",
    ),
    ("nor do late changes of the old one", [("observe", state(1)), ("record_write", state(9, "u2")), ("observe", state(7, "u1"))], "9"),
    ("a new object of the name replaces the old", [("observe", state(1)), ("observe", state(9, "u2"))], "9"),
    ("whole numbers are compared as such", [("observe", state(10)), ("record_write", state(9))], "10"),
    ("versions that are no numbers leave the word to the watch", [("observe", state("x")), ("record_write", state("y"))], "x"),
    ("who is not known yet is taken from our write all the same", [("record_write", state("y"))], "y"),
    (
        "late changes of a replaced object are known by its UID",
        [("observe", state("x")), ("observe", state("y", "u2")), ("observe", state("z"))],
        "y",
    ),
]


@rows(("steps", "expected"), [case[1:] for case in ORDERS], ids=[case[0] for case in ORDERS])
def test_the_last_word_stays(steps: list[tuple[str, Manifest]], expected: str | None) -> None:
    objects = ObjectStore()
    for step, manifest in steps:
        getattr(objects, step)(manifest)
    assert value(objects) == expected


def listed(objects: ObjectStore, version: int, *manifests: Manifest) -> None:
    objects.replace("", "ConfigMap", "", manifests, str(version))


def test_a_list_that_began_before_our_write_does_not_undo_it() -> None:
    objects = ObjectStore()
    objects.begin_list("", "ConfigMap", "")
    objects.record_write(state(5))
    listed(objects, 4)
    assert value(objects) == "5"


def test_a_list_that_shows_an_older_state_of_what_we_wrote_does_not_undo_it() -> None:
    objects = ObjectStore()
    objects.begin_list("", "ConfigMap", "")
    objects.record_write(state(5))
    listed(objects, 4, state(3))
    assert value(objects) == "5"


def test_a_list_of_another_namespace_does_not_make_us_forget_what_we_wrote() -> None:
    objects = ObjectStore()
    objects.begin_list("", "ConfigMap", "default")
    objects.record_write(state(5))
    objects.begin_list("", "ConfigMap", "other")
    objects.replace("", "ConfigMap", "default", [], "4")
    assert value(objects) == "5"


def test_a_later_list_takes_away_what_we_wrote() -> None:
    objects = ObjectStore()
    objects.record_write(state(5))
    objects.begin_list("", "ConfigMap", "")
    listed(objects, 9)
    assert value(objects) is None


def test_a_list_takes_away_only_what_is_in_its_namespace() -> None:
    objects = ObjectStore()
    objects.observe(config_map("b", uid="u9", resourceVersion="1", namespace="other"))
    objects.replace("", "ConfigMap", "default", [], "9")
    assert objects.get(ref("b", "other"))


def test_a_server_whose_history_was_set_back_is_believed() -> None:
    objects = ObjectStore()
    objects.observe(state(100))
    objects.begin_list("", "ConfigMap", "")
    listed(objects, 50, state(40))
    assert value(objects) == "40"


def test_what_a_list_shows_is_alive_whatever_we_thought() -> None:
    objects = ObjectStore()
    objects.observe(state(1))
    listed(objects, 2)
    listed(objects, 3, state(1))
    objects.observe(state(4))
    assert value(objects) == "4"


def test_an_answer_that_comes_after_a_gap_does_not_bring_back_what_was_deleted_in_it() -> None:
    objects = ObjectStore()
    objects.record_write(state(5), "9")
    assert value(objects) is None


def test_our_own_write_is_told_once() -> None:
    objects = ObjectStore()
    told: list[Any] = []
    objects.subscribers[lambda *change: told.append(change)] = None
    objects.record_write(state(5))
    objects.observe(state(5))
    listed(objects, 6, state(5))
    assert len(told) == 1
