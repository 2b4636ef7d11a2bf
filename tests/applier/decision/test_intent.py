"""What people copy from a cluster is applied without what only the server sets."""

from __future__ import annotations

from typing import Any

import pytest

from applier.decision import Verdict, prepared
from tests.suite.rows import rows

from .building import config, decided
from .schemas import type_of
from .typical import MANAGER, manifests, stored


def test_a_clean_manifest_stays_the_same_object() -> None:
    manifest = config({"a": "1"}, labels={"a": "b"}, annotations={"a": "b"})
    assert prepared(manifest) is manifest


@rows("name", ["creationTimestamp", "uid", "resourceVersion", "generation", "managedFields", "selfLink", "deletionTimestamp"])
def test_what_the_server_sets_is_taken_out(name: str) -> None:
    assert prepared(config(**{name: None})) == config()


@pytest.mark.parametrize(("others", "left"), [({}, {}), ({"a": "b"}, {"annotations": {"a": "b"}})])
def test_kubectls_annotation_is_taken_out(others: Any, left: Any) -> None:
    manifest = config(annotations={"kubectl.kubernetes.io/last-applied-configuration": "{}", **others})
    assert prepared(manifest) == config(**left)


@pytest.mark.parametrize(("kind", "kept"), [("Deployment", False), ("ConfigMap", True)])
def test_status_is_taken_out_where_it_is_a_subresource(kind: str, kept: bool) -> None:
    schema = type_of({"Deployment": "apps/v1", "ConfigMap": "v1"}[kind], kind)
    assert ("status" in prepared({"kind": kind, "metadata": {}, "status": {}}, schema)) is kept


def test_the_manifest_itself_is_not_changed() -> None:
    manifest = config(uid="1")
    prepared(manifest)
    assert manifest["metadata"]["uid"] == "1"


@rows("number", range(len(manifests())), ids=[manifest["kind"] for manifest in manifests()])
def test_an_object_as_it_was_read_differs_in_no_value(number: int) -> None:
    live = stored()[number]
    decision = decided(stored()[number], live, by=MANAGER)
    assert decision.changes == [] and decision.verdict in (Verdict.SAME, Verdict.CHANGE)
