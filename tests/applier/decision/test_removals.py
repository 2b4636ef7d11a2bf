"""Fields that are taken out: some are gone for good, and some the server fills in again."""

from __future__ import annotations

import pytest

from applier.decision import Verdict
from applier.outcome import Path
from applier.ref import Manifest

from .building import applied, config, decided, deployment, gadget


@pytest.mark.parametrize(
    ("live", "intent", "path"),
    [
        (deployment({"replicas": 3}), deployment(), ("spec", "replicas")),
        (deployment({"strategy": {"type": "Recreate"}}), deployment(), ("spec", "strategy", "type")),
    ],
)
def test_a_declared_field_may_come_back(live: Manifest, intent: Manifest, path: Path) -> None:
    found = decided(intent, applied(live))
    assert (found.verdict, found.unsure, [change.path for change in found.defaultable]) == (Verdict.CHANGE, True, [path])


def test_what_is_no_longer_sent_and_is_the_default_changes_no_value() -> None:
    found = decided(deployment(), applied(deployment({"replicas": 1})))
    assert (found.verdict, found.changes) == (Verdict.CHANGE, [])


def test_a_field_that_nothing_fills_in_is_gone_for_good() -> None:
    found = decided(deployment({"paused": False}), applied(deployment({"paused": False, "minReadySeconds": 5, "replicas": 3})))
    assert [change.path[-1] for change in found.defaultable] == ["replicas"]


@pytest.mark.parametrize(
    ("live", "intent"),
    [
        (config({"a": "1", "b": "2"}), config({"a": "1"})),
        (config(labels={"a": "1", "b": "2"}), config(labels={"a": "1"})),
        (deployment(env=[{"name": "A", "value": "1"}, {"name": "B"}]), deployment(env=[{"name": "B"}])),
        (gadget(amount=1, chosen=["a"]), gadget(amount=1)),
    ],
)
def test_keys_items_and_fields_of_custom_kinds_are_gone_for_good(live: Manifest, intent: Manifest) -> None:
    found = decided(intent, applied(live))
    assert (found.verdict, found.unsure, found.defaultable) == (Verdict.CHANGE, False, [])


def test_what_is_changed_besides_is_no_removal() -> None:
    live, intent = deployment({"replicas": 3}), deployment({"minReadySeconds": 5})
    found = decided(intent, applied(live))
    assert [change.path for change in found.changes] == [("spec", "minReadySeconds"), ("spec", "replicas")]
    assert [change.path for change in found.defaultable] == [("spec", "replicas")]
