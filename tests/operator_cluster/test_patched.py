"""What an object would be."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from applier.outcome import ABSENT, FieldChange, ItemKey
from grove_operator.cluster.patched import patched, without_noise

MAIN, SIDE = ItemKey((("name", "main"),)), ItemKey((("name", "side"),))


@pytest.mark.parametrize(
    ("live", "path", "new", "wanted"),
    [
        ({"a": 1}, ("a",), 2, {"a": 2}),
        ({"a": 1}, ("b", "c"), 2, {"a": 1, "b": {"c": 2}}),
        ({"a": {"b": 1, "c": 2}}, ("a", "b"), ABSENT, {"a": {"c": 2}}),
        ({"a": 1}, ("b", "c"), ABSENT, {"a": 1}),
        ({"a": None}, ("a",), None, {"a": None}),
        ({"l": [{"name": "main", "x": 1}]}, ("l", MAIN, "x"), 2, {"l": [{"name": "main", "x": 2}]}),
        ({"l": [{"name": "main"}]}, ("l", SIDE, "x"), 2, {"l": [{"name": "main"}, {"name": "side", "x": 2}]}),
        ({}, ("l", SIDE), {"name": "side"}, {"l": [{"name": "side"}]}),
        ({"l": [{"name": "main"}, {"name": "side"}]}, ("l", MAIN), ABSENT, {"l": [{"name": "side"}]}),
        ({"l": ["a"]}, ("l", ItemKey((("", "b"),))), "b", {"l": ["a", "b"]}),
        ({"l": ["a", "b"]}, ("l", ItemKey((("", "a"),))), ABSENT, {"l": ["b"]}),
        ({"l": [1, 2]}, ("l", 1), 3, {"l": [1, 3]}),
        ({"l": [1, 2]}, ("l",), [5], {"l": [5]}),
    ],
)
def test_a_change_is_carried_out(live: Any, path: Any, new: Any, wanted: Any) -> None:
    before = deepcopy(live)
    assert patched(live, [FieldChange(path, ABSENT, new)]) == wanted
    assert live == before


def test_items_are_told_apart_by_all_of_their_keys() -> None:
    ports = [{"port": 80, "protocol": "TCP"}, {"port": 80, "protocol": "UDP"}]
    key = ItemKey((("port", 80), ("protocol", "UDP")))
    changed = patched({"ports": ports}, [FieldChange(("ports", key, "name"), ABSENT, "dns")])
    assert changed["ports"] == [ports[0], {**ports[1], "name": "dns"}]


def test_what_the_server_keeps_for_itself_is_left_out() -> None:
    live = {"metadata": {"name": "x", "resourceVersion": "7", "managedFields": []}, "data": {}, "status": {"ready": True}}
    assert without_noise(live) == {"metadata": {"name": "x"}, "data": {}}
