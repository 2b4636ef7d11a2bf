"""Fields that belong to whoever else sets them."""

from __future__ import annotations

from typing import Any

import pytest

from applier.decision import Verdict, hide_secrets
from applier.decision.intent import revealed
from applier.outcome import FieldChange, Owner
from applier.ref import Manifest
from applier.testing.control_plane import ControlPlane

from .building import NOW, applied, config, decided, deployment, owned, updated
from .oracle import Server

REPLICAS = ("/spec/replicas",)


def _scaled(live: Manifest, replicas: int) -> Manifest:
    """An autoscaler has set the replicas: it owns them now, and nobody else does."""
    entries = live["metadata"].get("managedFields", [])
    for entry in entries:
        entry["fieldsV1"].get("f:spec", {}).pop("f:replicas", None)
    spec = {**live["spec"], "replicas": replicas}
    return updated(live, {"f:spec": {"f:replicas": {}}}, by="autoscaler", subresource="scale", spec=spec)


def test_a_yielded_field_is_set_on_creation() -> None:
    assert decided(deployment({"replicas": 2}), None, yields=REPLICAS).intent["spec"]["replicas"] == 2


def test_a_field_that_somebody_else_has_set_is_left_to_them() -> None:
    live = _scaled(applied(deployment({"replicas": 2})), 5)
    decision = decided(deployment({"replicas": 2}), live, yields=REPLICAS)
    owner = Owner("autoscaler", "Update", NOW, "scale")
    assert (decision.verdict, decision.changes) == (Verdict.YIELDED, [FieldChange(("spec", "replicas"), 5, 2, (owner,))])


def test_what_is_yielded_is_not_sent() -> None:
    live = _scaled(applied(deployment({"replicas": 2})), 5)
    assert "replicas" not in decided(deployment({"replicas": 2, "paused": True}), live, yields=REPLICAS).intent["spec"]


def test_with_the_same_value_nothing_is_yielded() -> None:
    live = _scaled(applied(deployment({"replicas": 2})), 2)
    assert decided(deployment({"replicas": 2}), live, yields=REPLICAS).verdict is Verdict.SAME


def test_the_only_owner_keeps_the_live_value() -> None:
    live = applied(deployment({"replicas": 2}))
    decision = decided(deployment({"replicas": 7}), live, yields=REPLICAS)
    assert (decision.verdict, decision.intent["spec"]["replicas"]) == (Verdict.YIELDED, 2)


def test_a_share_in_it_is_given_up_without_changing_the_value() -> None:
    live = applied(deployment({"replicas": 2}), applied(deployment({"replicas": 2})), by="them")
    decision = decided(deployment({"replicas": 7}), live, yields=REPLICAS)
    after = applied(decision.intent, live)
    assert (decision.verdict, after["spec"]["replicas"], "f:replicas" in owned(after)["f:spec"]) == (Verdict.CHANGE, 2, False)


def test_one_that_nobody_owns_is_not_claimed() -> None:
    live = applied(deployment())
    live["spec"] = {**live["spec"], "replicas": 1}
    assert decided(deployment({"replicas": 7}), live, yields=REPLICAS).verdict is Verdict.YIELDED


def test_other_changes_are_made_without_it() -> None:
    live = _scaled(applied(deployment({"replicas": 2})), 5)
    decision = decided(deployment({"replicas": 2}, image="busybox:2"), live, yields=REPLICAS)
    assert (decision.verdict, [change.path[-1] for change in decision.changes]) == (Verdict.CHANGE, ["image"])


def test_a_map_that_yielding_empties_is_not_sent() -> None:
    live = applied(config({"a": "theirs"}), by="them")
    decision = decided(config({"a": "ours"}), live, yields=("/data/a",))
    assert ("data" in decision.intent, decision.verdict) == (False, Verdict.YIELDED)


@pytest.mark.parametrize("pointer", ["/spec/paused", "/spec/template/spec/containers/9", "", "/spec/template/spec/containers/main"])
def test_a_pointer_to_nothing_yields_nothing(pointer: str) -> None:
    assert decided(deployment(), applied(deployment()), yields=(pointer,)).verdict is Verdict.SAME


def test_pointers_lead_into_lists_and_through_slashes() -> None:
    manifest = config(annotations={"a/b": "1"}, finalizers=["x/a", "x/b"])
    live = applied(config(annotations={"a/b": "2"}, finalizers=["x/a"]), by="them")
    decision = decided(manifest, live, yields=("/metadata/annotations/a~1b", "/metadata/finalizers/0"))
    assert decision.intent["metadata"] == {"name": "a", "finalizers": ["x/b"]}


@pytest.mark.parametrize(
    ("pointers", "left"),
    [
        (("/data/a", "/data/a"), {"b": "1"}),
        (("/data/a", "/data/b"), None),
        (("/data", "/data/a"), None),
        (("/data/a", "/data"), None),
    ],
    ids=["twice", "all of a map", "inside another", "around another"],
)
def test_pointers_may_name_one_place_several_times(pointers: tuple[str, ...], left: Any) -> None:
    decision = decided(config({"a": "1", "b": "1"}), applied(config({"a": "2", "b": "2"}), by="them"), yields=pointers)
    assert decision.intent.get("data") == left


ITEMS = [f"x/{number}" for number in range(12)]


def test_every_position_of_a_list_is_that_of_the_manifest() -> None:
    live = applied(config(finalizers=ITEMS), by="them")
    decision = decided(config(finalizers=ITEMS), live, yields=("/metadata/finalizers/2", "/metadata/finalizers/11"))
    assert decision.intent["metadata"]["finalizers"] == [item for item in ITEMS if item not in ("x/2", "x/11")]


def test_a_list_that_yielding_empties_is_not_sent() -> None:
    live = applied(config(finalizers=["x/a"]), by="them")
    assert "finalizers" not in decided(config(finalizers=["x/a"]), live, yields=("/metadata/finalizers/0",)).intent["metadata"]


def test_changes_that_are_yielded_stand_in_the_order_of_their_places() -> None:
    live = applied(config({"a": "2", "b": "2"}), by="them")
    decision = decided(config({"a": "1", "b": "1"}), live, yields=("/data/b", "/data/a"))
    assert [change.path[-1] for change in decision.changes] == ["a", "b"]


def test_an_item_of_a_list_is_the_one_with_its_key_wherever_it_stands() -> None:
    live = applied(deployment(image="busybox:9"))
    pod = live["spec"]["template"]["spec"]
    pod["containers"] = [{"name": "side", "image": "sidecar:1"}, *pod["containers"]]
    decision = decided(deployment(image="busybox:1"), live, yields=("/spec/template/spec/containers/0/image",))
    assert (decision.verdict, decision.intent["spec"]["template"]["spec"]["containers"][0]["image"]) == (Verdict.YIELDED, "busybox:9")


@pytest.mark.parametrize("pointer", ["/data/a", "/data"])
def test_a_hash_of_a_secret_value_is_never_sent_for_it(pointer: str) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "data": {"a": "YQ=="}}
    manifest = {**secret, "data": {"a": "Yg=="}}
    decision = decided(manifest, hide_secrets(applied(secret)), yields=(pointer,))
    assert revealed(decision.intent, manifest)["data"] == {"a": "Yg=="}


def test_a_secret_yields_by_hash_and_sends_plain_values() -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "data": {"a": "YQ==", "b": "Yg=="}}
    live = applied({**secret, "data": {"a": "eHg="}}, by="them")
    decision = decided(secret, live, yields=("/data/a",))
    assert (decision.verdict, revealed(decision.intent, secret)["data"]) == (Verdict.CHANGE, {"b": "Yg=="})


@pytest.mark.cluster
def test_a_server_keeps_what_was_scaled_through_our_next_changes(control_plane: ControlPlane, namespace: str) -> None:
    server, first = Server(control_plane), deployment({"replicas": 2, "paused": True})
    path = server.path_of(first, namespace)
    server.apply(path, decided(first, None, yields=REPLICAS).intent, "us")
    server.merge(path + "/scale", {"spec": {"replicas": 5}}, "autoscaler")
    decision = decided(first, server.ask("GET", path).body, yields=REPLICAS)
    assert decision.verdict is Verdict.YIELDED
    second = deployment({"replicas": 2, "paused": True, "minReadySeconds": 3})
    decision = decided(second, server.ask("GET", path).body, yields=REPLICAS)
    live = server.apply(path, decision.intent, "us").body
    assert (live["spec"]["replicas"], live["spec"]["minReadySeconds"]) == (5, 3)
    assert decided(second, server.ask("GET", path).body, yields=REPLICAS).verdict is Verdict.YIELDED


@pytest.mark.cluster
def test_a_server_keeps_the_replicas_of_their_only_owner(control_plane: ControlPlane, namespace: str) -> None:
    server, first = Server(control_plane), deployment({"replicas": 3, "paused": True})
    path = server.path_of(first, namespace)
    server.apply(path, first, "us")
    second = deployment({"replicas": 7, "paused": True, "minReadySeconds": 3})
    decision = decided(second, server.ask("GET", path).body, yields=REPLICAS)
    assert server.apply(path, decision.intent, "us").body["spec"]["replicas"] == 3
