"""What follows the graph in objects that are only ever created."""

from __future__ import annotations

from typing import Any

import pytest

from applier.desired import Policy
from applier.outcome import ABSENT, Action, dotted
from applier.plan.follow import follow

from ..things import desired
from .test_planner import live, step, there

GATE = "/spec/schedulingGates/x~1ours"
POD: dict[str, Any] = {"metadata": {"labels": {"a": "1"}}, "spec": {"schedulingGates": [{"name": "theirs"}, {"name": "x/ours"}]}}


def test_an_item_that_is_no_longer_wanted_is_taken_out_where_it_stands_now() -> None:
    found = follow({"spec": {}}, POD, [GATE])
    assert found.patch == [
        {"op": "test", "path": "/spec/schedulingGates/1", "value": {"name": "x/ours"}},
        {"op": "remove", "path": "/spec/schedulingGates/1"},
    ]
    assert [(dotted(change.path), change.old, change.new) for change in found.changes] == [
        ("spec.schedulingGates[name=x/ours]", {"name": "x/ours"}, ABSENT)
    ]


@pytest.mark.parametrize(
    ("wanted", "pointer"),
    [
        (POD, GATE),
        ({"spec": {}}, "/spec/schedulingGates/another"),
        ({}, "/spec/nothing/below"),
        ({"metadata": {"labels": {"a": "1"}}}, "/metadata/labels"),
        ({"spec": {"priority": 1}}, "/status/phase"),
    ],
)
def test_nothing_is_patched_where_nothing_differs(wanted: dict[str, Any], pointer: str) -> None:
    assert follow(wanted, POD, [pointer]) == ([], [])


def test_an_item_that_is_wanted_and_missing_is_put_at_the_end() -> None:
    wanted = {"spec": {"schedulingGates": [{"name": "new"}]}}
    assert follow(wanted, POD, ["/spec/schedulingGates/new"]).patch == [
        {"op": "add", "path": "/spec/schedulingGates/-", "value": {"name": "new"}}
    ]


def test_entries_of_a_map_are_set_and_those_of_others_left() -> None:
    found = follow({"metadata": {"labels": {"b/c": "2"}}}, POD, ["/metadata/labels"])
    assert found.patch == [{"op": "add", "path": "/metadata/labels/b~1c", "value": "2"}]


def test_labels_come_back_also_where_somebody_has_taken_all() -> None:
    wanted = {"metadata": {"labels": {"a/b": "1", "c": "2"}}}
    found = follow(wanted, {"metadata": {}}, ["/metadata/labels/a~1b", "/metadata/labels/c"])
    assert found.patch == [
        {"op": "add", "path": "/metadata/labels", "value": {}},
        {"op": "add", "path": "/metadata/labels/a~1b", "value": "1"},
        {"op": "add", "path": "/metadata/labels/c", "value": "2"},
    ]
    assert follow(wanted, wanted, ["/metadata/labels/a~1b", "/metadata/labels/c", "/metadata/labels/d"]) == ([], [])


def test_a_pod_gets_no_gate_that_it_had_not() -> None:
    """No server takes one, and with it no other change."""
    pod = there("a", "Pod", spec={"nodeName": "n"})
    wanted = desired("a", "Pod", spec={"schedulingGates": [{"name": "x/ours"}]}, policy=Policy(create_only=True, follows=(GATE,)))
    assert step(live(pod), wanted).action is Action.UNCHANGED


def test_a_step_for_an_object_that_is_only_created_patches_what_follows() -> None:
    pod = there("a", "Pod", spec=POD["spec"] | {"nodeName": "n"})
    found = step(live(pod), desired("a", "Pod", spec={"other": "1"}, policy=Policy(create_only=True, follows=(GATE,))))
    assert (found.action, found.reason) == (Action.CONFIGURED, "spec.schedulingGates[name=x/ours]")
