"""Who owns a value of a Secret that was sent as text."""

from __future__ import annotations

from typing import Any

import pytest

from applier.decision import Verdict, hide_secrets
from applier.ref import Manifest
from applier.testing.control_plane import ControlPlane

from .building import NOW, decided
from .oracle import Server


def secret(**fields: Any) -> Manifest:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, **fields}


def applied_as_text(manager: str) -> Manifest:
    """As a server keeps a Secret whose manager sent `stringData`: under `data`, but owned under the name that was sent."""
    entry = {"manager": manager, "operation": "Apply", "apiVersion": "v1", "time": NOW, "fieldsType": "FieldsV1"}
    live = secret(data={"user": "YQ=="}, type="Opaque")
    live["metadata"] = {"name": "a", "managedFields": [{**entry, "fieldsV1": {"f:stringData": {"f:user": {}}}}]}
    return live


@pytest.mark.parametrize("sent", [{"stringData": {"user": "b"}}, {"data": {"user": "Yg=="}}])
def test_a_value_that_another_manager_sent_as_text_is_a_conflict(sent: Any) -> None:
    decision = decided(secret(**sent), hide_secrets(applied_as_text("them")))
    assert decision.verdict is Verdict.CONFLICT
    assert [(conflict.path, conflict.owner.manager) for conflict in decision.conflicts] == [(("data", "user"), "them")]


def test_the_same_value_is_shared() -> None:
    assert decided(secret(stringData={"user": "a"}), applied_as_text("them")).conflicts == []


def test_force_takes_it() -> None:
    decision = decided(secret(stringData={"user": "b"}), applied_as_text("them"), force=("them",))
    assert (decision.verdict, decision.force) == (Verdict.CHANGE, True)


def test_what_we_sent_as_text_ourselves_only_changes_its_owner() -> None:
    decision = decided(secret(stringData={"user": "a"}), applied_as_text("us"))
    assert (decision.verdict, decision.changes) == (Verdict.CHANGE, [])


@pytest.mark.cluster
def test_the_server_keeps_owners_of_texts_so(control_plane: ControlPlane, namespace: str) -> None:
    server = Server(control_plane)
    path = server.path_of(secret(), namespace)
    server.apply(path, secret(stringData={"user": "a"}), "them")
    live = server.ask("GET", path).body
    assert live["metadata"]["managedFields"][0]["fieldsV1"] == {"f:stringData": {"f:user": {}}}
    assert decided(secret(stringData={"user": "b"}), live).verdict is Verdict.CONFLICT
