"""What is worth showing of a difference."""

from __future__ import annotations

from typing import Any

import pytest

from applier.outcome import Action, Step
from applier.ref import Manifest, Ref
from applier.run.difference import Difference
from grove_cli.cluster.diff.unified import NOISE, differences
from tests.suite.rows import rows

REF = Ref("", "ConfigMap", "shop", "x")


def config(value: str = "1", status: Any = None, **metadata: Any) -> Manifest:
    return {"kind": "ConfigMap", "metadata": {"name": "x", **metadata}, "data": {"a": value}} | ({"status": status} if status else {})


def compared(live: Manifest | None, merged: Manifest | None, action: Action = Action.CONFIGURED) -> Difference:
    return Difference(Step(REF, action), live, merged)


@pytest.mark.parametrize("action", [Action.UNCHANGED, Action.YIELDED])
def test_what_stays_as_it_is_is_not_shown(action: Action) -> None:
    assert differences([compared(config(), config(), action)]) == []


@rows("key", NOISE)
def test_what_the_server_keeps_for_itself_is_not_shown(key: str) -> None:
    [found] = differences([compared(config("1", **{key: "old"}), config("2", **{key: "new"}))])
    assert (found.before, found.after) == (config("1"), config("2"))


def test_the_status_is_not_shown() -> None:
    [found] = differences([compared(config("1", {"ready": 1}), config("2", {"ready": 1}))])
    assert (found.before, found.after) == (config("1"), config("2"))


def test_an_object_of_which_only_the_owners_change_does_not_differ() -> None:
    one = compared(config(managedFields=[1]), config(managedFields=[2]))
    assert differences([one]) == []
    assert one.step.action is Action.UNCHANGED


def test_an_object_whose_status_changes_differs() -> None:
    one = compared(config(status={"ready": 1}), config(status={"ready": 2}))
    assert [found.step for found in differences([one])] == [one.step]


def test_an_object_of_which_nobody_can_say_what_it_would_be_differs() -> None:
    [found] = differences([compared(config(), None, Action.HELD)])
    assert (found.before, found.after) == (None, None)


def test_an_object_that_goes_away_is_shown_as_it_is() -> None:
    [found] = differences([compared(config(), None, Action.PRUNED)])
    assert (found.before, found.after) == (config(), None)


def test_a_new_object_differs() -> None:
    [found] = differences([compared(None, config(), Action.CREATED)])
    assert (found.before, found.after) == (None, config())
