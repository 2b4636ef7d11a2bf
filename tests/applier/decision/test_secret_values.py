"""Secrets are compared by hashes and never shown."""

from __future__ import annotations

import json
from typing import Any

import pytest

from applier.decision import Verdict, hide_secrets, prepared
from applier.decision.intent import revealed
from tests.suite.rows import rows

from .building import applied, config, decided


def _secret(data: Any = None, **rest: Any) -> Any:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, **({} if data is None else {"data": data}), **rest}


def test_values_become_hashes() -> None:
    hidden = hide_secrets(_secret({"a": "c2VjcmV0"}, stringData={"b": "secret"}))
    assert hidden["data"]["a"] == hidden["data"]["b"] != "c2VjcmV0" and hidden["data"]["a"].startswith("sha256:")


@pytest.mark.parametrize("data", [{"a": "c2VjcmV0"}, {"a": "c2Vj\ncmV0"}, {"a": "not base64: secret"}])
def test_no_value_is_left(data: Any) -> None:
    text = json.dumps(hide_secrets(_secret(data, metadata={"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "secret"}})))
    assert "secret" not in text and "c2V" not in text


def test_the_spelling_of_base64_does_not_count() -> None:
    assert hide_secrets(_secret({"a": "c2Vj\ncmV0"})) == hide_secrets(_secret({"a": "c2VjcmV0"}))


def test_hiding_twice_is_hiding_once() -> None:
    hidden = hide_secrets(_secret({"a": "YQ=="}))
    assert hide_secrets(hidden) is hidden


@pytest.mark.parametrize("manifest", [config({"a": "1"}), {"apiVersion": "example.com/v1", "kind": "Secret", "data": {"a": "b"}}])
def test_other_kinds_are_left_alone(manifest: Any) -> None:
    assert hide_secrets(manifest) is manifest


def test_nothing_but_values_is_hidden() -> None:
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": "secret", "a": "b"}
    secret = _secret({"a": "YQ=="}, type="Opaque", metadata={"name": "a", "labels": {"c": "d"}, "annotations": annotations})
    hidden = hide_secrets(secret)
    shown = {**hidden["metadata"]["annotations"], **annotations}
    assert {**hidden, "data": secret["data"], "metadata": {**hidden["metadata"], "annotations": shown}} == secret


def test_the_original_keeps_its_values() -> None:
    secret = _secret({"a": "YQ=="})
    hide_secrets(secret)
    assert secret["data"] == {"a": "YQ=="}


def test_stringdata_wins_over_data_as_on_the_server() -> None:
    assert prepared(_secret({"a": "eHg="}, stringData={"a": "a"}))["data"] == {"a": "YQ=="}


@pytest.mark.parametrize(
    ("value", "verdict"),
    [({"data": {"a": "YQ=="}}, Verdict.SAME), ({"stringData": {"a": "a"}}, Verdict.SAME), ({"data": {"a": "Yg=="}}, Verdict.CHANGE)],
)
def test_hidden_live_secrets_are_decided_on(value: Any, verdict: Verdict) -> None:
    assert decided(_secret(**value), hide_secrets(applied(_secret({"a": "YQ=="})))).verdict is verdict


def test_null_among_texts_is_the_empty_text_that_a_server_stores_for_it() -> None:
    assert decided(_secret(stringData={"a": None}), hide_secrets(applied(_secret({"a": ""})))).verdict is Verdict.SAME


def test_changes_of_secrets_show_hashes_only() -> None:
    change = decided(_secret({"a": "Yg=="}), applied(_secret({"a": "YQ=="}))).changes[0]
    assert all(str(value).startswith("sha256:") for value in (change.old, change.new))


def test_what_is_sent_holds_the_values() -> None:
    manifest = _secret(stringData={"a": "b"})
    assert revealed(decided(manifest, applied(_secret({"a": "YQ=="}))).intent, manifest)["data"] == {"a": "Yg=="}


@rows("texts", ["secret", ["secret"], {"a": 1, "b": "secret"}, {"a": ["secret"]}])
@rows("name", ["data", "stringData"])
def test_what_is_no_map_of_texts_is_hidden_too(name: str, texts: Any) -> None:
    assert "secret" not in json.dumps(hide_secrets(_secret(**{name: texts}))[name])


def test_a_number_in_stringdata_is_left_for_the_server_to_refuse() -> None:
    manifest = _secret(stringData={"port": 8080})
    decision = decided(manifest, applied(_secret({"a": "YQ=="})))
    assert (decision.verdict, revealed(decision.intent, manifest)["stringData"]) == (Verdict.UNKNOWN, {"port": 8080})
