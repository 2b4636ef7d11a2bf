"""The object that the server would store."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from applier.decision import merged, owners_at, prepared
from applier.errors import Cause, FieldConflict, Invalid
from applier.outcome import ItemKey, Owner
from applier.ref import Manifest
from tests.suite.rows import rows

from .building import NOW, applied, config, deployment, gadget, owned, updated
from .manifests import KINDS, Some
from .schemas import type_of
from .typical import MANAGER, manifests, stored

LATER = "2026-02-02T00:00:00Z"


def test_what_is_new_is_owned_by_who_applied_it() -> None:
    entry = applied(config({"a": "1"}))["metadata"]["managedFields"]
    fields: Manifest = {"f:data": {"f:a": {}}}
    assert entry == [{"manager": "us", "operation": "Apply", "apiVersion": "v1", "time": NOW, "fieldsType": "FieldsV1", "fieldsV1": fields}]


@rows("manifest", manifests(), ids=lambda manifest: manifest["kind"])
def test_applying_the_same_again_gives_the_very_object(manifest: Any) -> None:
    live = applied(manifest)
    assert merged(manifest, live, type_of(manifest["apiVersion"], manifest["kind"]), manager="us", now=LATER) is live


def test_the_time_is_that_of_the_last_change() -> None:
    live = merged(config({"a": "2"}), applied(config({"a": "1"})), type_of("v1", "ConfigMap"), manager="us", now=LATER)
    assert live["metadata"]["managedFields"][0]["time"] == LATER


@rows(
    ("first", "second", "spec"),
    [
        ({"words": {"a": "x", "b": "y"}}, {"words": {"a": "z"}}, {"words": {"a": "z"}}),
        ({"listed": ["a", "b"]}, {"listed": ["c"]}, {"listed": ["c"]}),
        ({"chosen": ["a", "b"]}, {"chosen": ["c", "b"]}, {"chosen": ["c", "b"]}),
        ({"keyed": [{"id": "a", "value": "x"}]}, {"keyed": [{"id": "a"}]}, {"keyed": [{"id": "a", "port": 80}]}),
        ({"whole": {"a": "x"}}, {"whole": {"b": "y"}}, {"whole": {"b": "y"}}),
        ({"struct": {"first": "x"}}, {"struct": {"second": 1}}, {"struct": {"second": 1}}),
        ({"untyped": {"a": 1}}, {"untyped": [1]}, {"untyped": [1]}),
    ],
)
def test_what_is_no_longer_sent_is_removed(first: Any, second: Any, spec: Any) -> None:
    assert applied(gadget(**second), applied(gadget(**first)))["spec"] == {**spec, "level": 3}


def test_items_of_others_keep_their_places() -> None:
    live = applied(gadget(chosen=["a", "b", "c"]), by="them")
    assert applied(gadget(chosen=["c", "x", "b"]), live)["spec"]["chosen"] == ["a", "c", "x", "b"]


def test_an_item_that_somebody_else_has_a_part_in_stays_with_that_part() -> None:
    live = applied(gadget(keyed=[{"id": "a", "value": "x"}]))
    live = applied(gadget(keyed=[{"id": "a", "inner": {"deep": 1}}]), live, by="them")
    assert applied(gadget(level=1), live)["spec"]["keyed"] == [{"id": "a", "port": 80, "inner": {"deep": 1}}]


def test_a_field_that_others_own_too_stays() -> None:
    live = applied(config({"a": "1"}), applied(config({"a": "1"})), by="them")
    assert applied(config({"b": "2"}), live)["data"] == {"a": "1", "b": "2"}


def test_what_nobody_ever_owned_stays() -> None:
    live = applied(deployment(image="busybox:1"))
    live["spec"]["template"]["spec"]["containers"][0]["imagePullPolicy"] = "Always"
    container = applied(deployment(image="busybox:2"), live)["spec"]["template"]["spec"]["containers"][0]
    assert container == {"name": "main", "image": "busybox:2", "imagePullPolicy": "Always"}


def test_force_takes_fields_away_from_their_owners() -> None:
    live = applied(config({"a": "2"}), applied(config({"a": "1", "b": "1"}), by="them"), force=True)
    assert (live["data"], owned(live, "them")) == ({"a": "2", "b": "1"}, {"f:data": {"f:b": {}}})


def test_an_owner_that_loses_everything_is_forgotten() -> None:
    assert owned(applied(config({"a": "2"}), applied(config({"a": "1"}), by="them"), force=True), "them") is None


def test_force_may_name_managers() -> None:
    live = applied(config({"a": "1"}), by="them")
    taken = merged(config({"a": "2"}), live, type_of("v1", "ConfigMap"), manager="us", now=NOW, force=("them",))
    assert taken["data"] == {"a": "2"}


def test_a_conflict_is_told_as_the_server_tells_it() -> None:
    with pytest.raises(FieldConflict) as caught:
        applied(config({"a": "2"}), applied(config({"a": "1"}), by="them"))
    assert caught.value.message == 'Apply failed with 1 conflict: conflict with "them": .data.a'
    assert caught.value.causes == (Cause("FieldManagerConflict", ".data.a", 'conflict with "them"'),)


def test_conflicts_are_grouped_by_manager() -> None:
    live = updated(
        gadget(keyed=[{"id": "x", "port": 80, "value": "a"}], chosen=["s"], level=1),
        {"f:spec": {"f:level": {}, "f:keyed": {'k:{"id":"x","port":80}': {"f:value": {}}}}},
        subresource="status",
    )
    with pytest.raises(FieldConflict) as caught:
        applied(gadget(keyed=[{"id": "x", "value": "b"}], level=2), live)
    assert caught.value.message == (
        'Apply failed with 2 conflicts: conflicts with "editor" with subresource "status" using decision.example/v1:\n'
        '- .spec.level\n- .spec.keyed[id="x",port=80].value'
    )


def test_what_breaks_the_schema_is_refused() -> None:
    with pytest.raises(Invalid, match=r"\.spec\.mystery: field not declared in schema"):
        applied(gadget(mystery=1))


def test_declared_defaults_are_filled_in() -> None:
    spec = applied(gadget(struct={"first": "x"}, keyed=[{"id": "a"}]))["spec"]
    assert spec == {"struct": {"first": "x", "second": 5}, "keyed": [{"id": "a", "port": 80}], "level": 3}


def test_what_go_leaves_out_is_left_out() -> None:
    container = applied(deployment(args=[], securityContext={}, env=None, resources={"limits": {}}))["spec"]["template"]["spec"][
        "containers"
    ][0]
    assert container == {"name": "main", "image": "busybox:1", "securityContext": {}, "resources": {}}


def test_stringdata_of_a_secret_becomes_data() -> None:
    live = applied({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "stringData": {"a": "a"}})
    assert (live["data"], "stringData" in live) == ({"a": "YQ=="}, False)


def test_an_object_without_owners_gets_one_for_what_was_there() -> None:
    live = applied(config({"b": "1"}), config({"a": "1"}))
    assert [entry["manager"] for entry in live["metadata"]["managedFields"]] == ["us", "before-first-apply"]


@given(st.sampled_from(sorted(KINDS)), st.randoms(use_true_random=False))
def test_applying_twice_is_applying_once(kind: str, random: Any) -> None:
    manifest = prepared(KINDS[kind](Some(random), "a"))
    live = applied(manifest, applied(KINDS[kind](Some(random), "a"), by="them"), force=True)
    assert applied(manifest, live, force=True) is live


@given(st.sampled_from(sorted(KINDS)), st.randoms(use_true_random=False))
def test_merging_changes_neither_object(kind: str, random: Any) -> None:
    first, second = KINDS[kind](Some(random), "a"), KINDS[kind](Some(random), "a")
    live = applied(first, by="them")
    before = copy.deepcopy((second, live))
    applied(second, live, force=True)
    assert (second, live) == before


def test_owners_are_found_by_path() -> None:
    live = applied(config({"a": "1"}), applied(config({"a": "1"}), by="them"))
    assert owners_at(live, ("data", "a")) == (Owner("them", "Apply", NOW), Owner("us", "Apply", NOW))


@rows(
    ("path", "names"),
    [
        (("spec", "chosen", ItemKey((("", "a"),))), ["us"]),
        (("spec", "keyed", ItemKey((("id", "x"), ("port", 80))), "value"), ["us"]),
        (("spec", "listed", 0), ["us"]),
        (("spec",), ["us"]),
        (("spec", "level"), []),
        (("spec", "keyed", ItemKey((("id", "x"), ("port", 81)))), []),
    ],
)
def test_owners_of_items_of_atomic_lists_and_of_what_lies_below(path: Any, names: list[str]) -> None:
    live = applied(gadget(chosen=["a"], keyed=[{"id": "x", "value": "v"}], listed=["l"]))
    assert [owner.manager for owner in owners_at(live, path)] == names


def test_what_has_unreadable_entries_has_no_owners() -> None:
    assert owners_at({"metadata": {"managedFields": [{"manager": "a"}]}}, ("data",)) == ()


@rows("number", range(len(manifests())), ids=[manifest["kind"] for manifest in manifests()])
def test_what_a_server_keeps_in_another_spelling_is_no_difference(number: int) -> None:
    manifest, live = prepared(manifests()[number]), stored()[number]
    manifest["metadata"]["labels"] = {"changed": "yes"}
    after = merged(manifest, live, type_of(manifest["apiVersion"], manifest["kind"]), manager=MANAGER, now=LATER)
    expected = {**live, "metadata": {**live["metadata"], "labels": {"changed": "yes"}, "managedFields": after["metadata"]["managedFields"]}}
    assert after == expected


def test_an_empty_value_that_the_server_left_out_stays_out() -> None:
    live = applied(deployment({"paused": False}))
    del live["spec"]["paused"]
    assert "paused" not in applied(deployment({"paused": False, "replicas": 2}), live)["spec"]


def test_sizes_keep_their_spelling_until_they_change() -> None:
    live = applied(deployment(resources={"limits": {"cpu": "1", "memory": "1Gi"}}))
    container = applied(deployment(resources={"limits": {"cpu": "1000m", "memory": "2048Mi"}}), live)["spec"]["template"]["spec"][
        "containers"
    ][0]
    assert container["resources"] == {"limits": {"cpu": "1", "memory": "2048Mi"}}
