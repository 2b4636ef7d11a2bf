"""What `grove diff` prints for people."""

from __future__ import annotations

from typing import Any

import pytest

from applier.outcome import ABSENT, Action, Conflict, FieldChange, ItemKey, Owner, Step
from applier.ref import Manifest, Ref
from grove_cli.cluster.diff.unified import Shown, diff_text, summary, unified
from grove_cli.terminal import Terminal
from tests.suite.rows import rows

PLAIN = Terminal(colours=False, width=100, wraps=False)
COLOURED = Terminal(colours=True, width=100, wraps=True)
REF = Ref("apps", "Deployment", "shop", "web")
EDIT = Owner("kubectl-edit", "Update", "2026-01-01T00:00:00Z")
IMAGE = ("spec", "containers", ItemKey((("name", "main"),)), "image")


def config(**data: str) -> Manifest:
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "x"}, "data": data}


def step(action: Action = Action.CONFIGURED, reason: str = "", *changes: FieldChange, conflicts: Any = ()) -> Step:
    return Step(REF, action, reason, list(changes), list(conflicts))


def lines(before: Manifest | None, after: Manifest | None) -> list[str]:
    return list(unified(before, after, "x", PLAIN))


def test_a_change_is_a_unified_diff_of_yaml() -> None:
    assert lines(config(a="1", b="2"), config(a="1", b="3")) == [
        "--- live/x",
        "+++ wanted/x",
        "@@ -4,4 +4,4 @@",
        "   name: x",
        " data:",
        '   a: "1"',
        '-  b: "2"',
        '+  b: "3"',
    ]


def test_the_order_of_keys_means_nothing() -> None:
    assert lines({"b": 1, "a": {"y": 1, "x": 2}}, {"a": {"x": 2, "y": 1}, "b": 1}) == []


def test_the_order_of_lists_does() -> None:
    assert lines({"a": [1, 2]}, {"a": [2, 1]}) != []


def test_what_is_new_has_only_added_lines() -> None:
    assert {line[0] for line in lines(None, config())[3:]} == {"+"}


def test_what_goes_away_has_only_removed_lines() -> None:
    assert {line[0] for line in lines(config(), None)[3:]} == {"-"}


def test_values_cannot_command_the_terminal() -> None:
    assert not any("\x1b" in line for line in lines(None, config(a="\x1b[2J")))


@pytest.mark.parametrize(("number", "code"), [(0, "1"), (2, "36"), (-2, "31"), (-1, "32")])
def test_lines_are_coloured_by_what_they_say(number: int, code: str) -> None:
    found = list(unified(config(a="1"), config(a="2"), "x", COLOURED))
    assert found[number].startswith(f"\x1b[{code}m")


def told(one: Step, before: Manifest | None = None, after: Manifest | None = None) -> str:
    return diff_text([Shown(one, before, after)], {one.action: 1}, PLAIN)


def test_an_object_is_named_with_what_would_happen_to_it() -> None:
    assert told(step(Action.CREATED)).startswith("created Deployment.apps/shop/web\n")


def test_who_changed_a_field_is_named_with_the_field() -> None:
    change = FieldChange(IMAGE, "a:1", "a:2", (EDIT,))
    assert "  kubectl-edit (Update at 2026-01-01T00:00:00Z) set spec.containers[name=main].image\n" in told(
        step(Action.CONFIGURED, "", change)
    )


def test_a_field_that_is_not_there_was_set_by_nobody() -> None:
    assert "set" not in told(step(Action.CONFIGURED, "", FieldChange(IMAGE, ABSENT, "a:2", (EDIT,))))


def test_each_field_in_conflict_is_named_with_its_owner() -> None:
    held = step(Action.HELD, "others own it", conflicts=[Conflict(IMAGE, EDIT)])
    assert "held Deployment.apps/shop/web: others own it\n" in told(held)
    assert "  spec.containers[name=main].image belongs to kubectl-edit" in told(held)


@pytest.mark.parametrize("action", [Action.HELD, Action.FAILED, Action.RECREATED, Action.PRUNED])
def test_what_a_diff_cannot_show_has_its_reason(action: Action) -> None:
    assert told(step(action, "because")).startswith(f"{action} Deployment.apps/shop/web: because\n")


@rows(
    ("counts", "text"),
    [
        ({Action.UNCHANGED: 5}, "No differences: 5 unchanged"),
        ({}, "nothing"),
        ({Action.UNCHANGED: 2, Action.YIELDED: 1}, "No differences: 2 unchanged, 1 yielded"),
        ({Action.CREATED: 1, Action.UNCHANGED: 2}, "1 object differs: 1 created; 2 unchanged"),
        ({Action.CREATED: 1, Action.CONFIGURED: 2}, "3 objects differ: 1 created, 2 configured"),
        ({Action.FAILED: 2}, "2 failed"),
        ({Action.FAILED: 2, Action.HELD: 1, Action.UNCHANGED: 3}, "1 object differs: 1 held; 2 failed; 3 unchanged"),
    ],
)
def test_a_summary_ends_it(counts: dict[Action, int], text: str) -> None:
    assert summary(counts, PLAIN) == text
