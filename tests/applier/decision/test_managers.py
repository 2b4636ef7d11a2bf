"""Patches that set managedFields right."""

from __future__ import annotations

import copy
import json
import time
from typing import Any

import jsonpatch
import pytest

from applier.decision import Verdict, prepared, rewrite_old_versions, take_over
from applier.ref import Manifest
from applier.testing.control_plane import ControlPlane

from .building import applied, config, decided, deployment, owned, updated
from .oracle import Server

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def _patched(live: Manifest, patch: list[dict[str, Any]]) -> Manifest:
    result: Manifest = jsonpatch.apply_patch(copy.deepcopy(live), patch)
    return result


def _live(*, version: str = "7") -> Manifest:
    live = applied(deployment({"replicas": 2}))
    live["metadata"]["resourceVersion"] = version
    return live


def test_nothing_is_patched_where_all_versions_are_served() -> None:
    assert rewrite_old_versions(_live(), {"apps/v1"}) == []


def test_entries_in_versions_that_are_gone_become_ones_of_the_live_version() -> None:
    live = _live()
    live["metadata"]["managedFields"][0]["apiVersion"] = "apps/v1beta1"
    assert decided(deployment({"replicas": 2}), _patched(live, rewrite_old_versions(live, {"apps/v1"}))).verdict is Verdict.SAME


def test_two_entries_that_become_one_are_joined() -> None:
    live = updated(_live(), {"f:spec": {"f:paused": {}}})
    live = updated(live, {"f:spec": {"f:replicas": {}}})
    live["metadata"]["managedFields"][1]["apiVersion"] = "apps/v1beta1"
    entries = _patched(live, rewrite_old_versions(live, {"apps/v1"}))["metadata"]["managedFields"]
    assert [entry["fieldsV1"] for entry in entries if entry["manager"] == "editor"] == [{"f:spec": {"f:paused": {}, "f:replicas": {}}}]


def test_a_patch_fails_on_an_object_that_has_moved_on() -> None:
    live = _live()
    patch = take_over(updated(live, {"f:data": {}}), ["editor"], "us")
    with pytest.raises(jsonpatch.JsonPatchTestFailed):
        _patched(_live(version="8"), patch)


def test_nothing_is_patched_where_there_is_nothing_to_take() -> None:
    assert take_over(_live(), ["them"], "us") == []


def test_what_another_manager_owned_is_ours() -> None:
    live = applied(config({"a": "1", "b": "1"}), by="them")
    live["metadata"]["resourceVersion"] = "1"
    taken = _patched(live, take_over(live, ["them"], "us"))
    assert (owned(taken), owned(taken, "them")) == ({"f:data": {"f:a": {}, "f:b": {}}}, None)


def test_what_was_taken_and_is_not_sent_is_removed() -> None:
    live = applied(config({"a": "1", "b": "1"}), by="them")
    taken = _patched(live | {"metadata": {**live["metadata"], "resourceVersion": ""}}, take_over(live, ["them"], "us"))
    assert applied(config({"a": "1"}), taken)["data"] == {"a": "1"}


def test_subresources_are_not_taken() -> None:
    live = updated(_live(), {"f:status": {}}, by="them", subresource="status")
    assert take_over(live, ["them"], "us") == []


def test_client_side_apply_goes_with_its_annotation() -> None:
    live = config({"a": "1"}, annotations={LAST_APPLIED: "{}"}, resourceVersion="1")
    fields = {"f:data": {"f:a": {}}, "f:metadata": {"f:annotations": {".": {}, f"f:{LAST_APPLIED}": {}}}}
    live = updated(live, fields, by="kubectl-client-side-apply")
    taken = _patched(live, take_over(live, ["kubectl-client-side-apply"], "us"))
    assert taken["metadata"]["annotations"] == {} and f"f:{LAST_APPLIED}" not in json.dumps(owned(taken))


@pytest.mark.cluster
def test_a_server_accepts_a_take_over_from_client_side_apply(control_plane: ControlPlane, namespace: str) -> None:
    first, second = (config({"a": "1", "b": value}, namespace=namespace) for value in ("1", "2"))
    control_plane.kubectl("apply", "-n", namespace, "-f", "-", input=json.dumps(first))
    server = Server(control_plane)
    path = server.path_of(first, namespace)
    live = server.ask("GET", path).body
    assert decided(second, live).verdict is Verdict.CONFLICT
    live = server.ask("PATCH", path, take_over(live, ["kubectl-client-side-apply"], "us"), "application/json-patch+json").body
    assert decided(prepared(second), live).verdict is Verdict.CHANGE
    del second["data"]["b"]
    assert server.apply(path, second, "us").body["data"] == {"a": "1"}


def _definition(group: str, *versions: str) -> Manifest:
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "additionalProperties": {"type": "string"}}}}}
    served = [{"name": name, "served": True, "storage": name == "v1", "schema": schema} for name in versions]
    names = {"kind": "Old", "plural": "olds", "singular": "old", "listKind": "OldList"}
    spec = {"group": group, "scope": "Namespaced", "names": names, "versions": served}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"olds.{group}"},
        "spec": spec,
    }


def _until(server: Server, path: str, status: int) -> None:
    """Waits for a path to be served, or no longer."""
    until = time.monotonic() + 60
    while server.ask("GET", path).status != status:
        assert time.monotonic() < until, f"{path} does not become {status}"
        time.sleep(0.1)


@pytest.mark.cluster
def test_a_server_keeps_owners_whose_version_was_repaired(control_plane: ControlPlane, namespace: str) -> None:
    server, group = Server(control_plane), f"{namespace}.example"
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    server.ask("POST", definitions, _definition(group, "v1alpha1", "v1"))
    start = f"/apis/{group}/{{}}/namespaces/{namespace}/olds"
    try:
        for version in ("v1alpha1", "v1"):
            _until(server, start.format(version), 200)
        manifest = {"apiVersion": f"{group}/v1alpha1", "kind": "Old", "metadata": {"name": "a"}, "spec": {"a": "1", "b": "1"}}
        server.apply(start.format("v1alpha1") + "/a", manifest, "us")
        server.merge(f"{definitions}/olds.{group}", _definition(group, "v1"), "us")
        _until(server, start.format("v1alpha1"), 404)
        path = start.format("v1") + "/a"
        patch = rewrite_old_versions(server.ask("GET", path).body, {f"{group}/v1"})
        server.ask("PATCH", path, patch, "application/json-patch+json")
        now = {**manifest, "apiVersion": f"{group}/v1", "spec": {"a": "1"}}
        assert server.apply(path, now, "us").body["spec"] == {"a": "1"}
    finally:
        server.ask("DELETE", f"{definitions}/olds.{group}")
