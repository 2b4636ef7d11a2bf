"""Manifests that nobody has validated are read without an error."""

from __future__ import annotations

from typing import Any

from kube_objects.manifest import (
    Manifest,
    by_label,
    group_of,
    is_terminating,
    labels_of,
    managers_of_field,
    mapping,
    maps,
    namespaced_name,
    section,
)
from tests.suite.rows import rows

TERMINATING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


@rows(("version", "group"), [("v1", ""), ("apps/v1", "apps"), ("", ""), ("grove.io/v1alpha1", "grove.io")])
def test_the_group_is_what_stands_before_the_slash(version: str, group: str) -> None:
    assert group_of(version) == group


@rows(("metadata", "expected"), [({}, False), (TERMINATING, True), ({"deletionTimestamp": None}, False), (None, False)])
def test_an_object_is_terminating_once_its_deletion_was_requested(metadata: Any, expected: bool) -> None:
    assert is_terminating({"metadata": metadata}) is expected


@rows("value", [None, "text", 1, ["a"]])
def test_what_is_no_map_is_an_empty_one(value: Any) -> None:
    assert mapping(value) == section({"spec": value}, "spec", "replicas") == labels_of({"metadata": value}) == {}


def test_a_section_is_the_map_at_a_path() -> None:
    assert section({"metadata": {"labels": {"a": "b"}}}, "metadata", "labels") == {"a": "b"}


def test_of_a_list_the_maps_are_read() -> None:
    assert maps([{"name": "a"}, "b", None]) == [{"name": "a"}]
    assert maps("no list") == []


REPLICAS: Manifest = {"f:spec": {"f:replicas": {}}}


@rows(
    ("entries", "managers"),
    [
        ([{"manager": "a", "fieldsV1": REPLICAS}, {"manager": "b", "fieldsV1": {"f:spec": {"f:other": {}}}}], {"a"}),
        ([{"manager": "a", "fieldsV1": REPLICAS}, {"manager": "b", "subresource": "scale", "fieldsV1": REPLICAS}], {"a", "b"}),
        ([{"manager": "a", "fieldsV1": "garbage"}, "garbage", {"manager": "a"}], set()),
        (None, set()),
        ("garbage", set()),
    ],
)
def test_who_owns_a_field_is_what_managed_fields_say(entries: Any, managers: set[str]) -> None:
    assert managers_of_field({"metadata": {"managedFields": entries}}, "spec", "replicas") == managers


def test_objects_are_grouped_by_namespace_and_label() -> None:
    def pod(name: str, namespace: str, **labels: str) -> Manifest:
        return {"metadata": {"name": name, "namespace": namespace, "labels": labels}}

    groups = by_label([pod("a", "one", set="x"), pod("b", "two", set="x"), pod("c", "one", set="x"), pod("d", "one")], "set")
    assert {key: [one["metadata"]["name"] for one in found] for key, found in groups.items()} == {
        ("one", "x"): ["a", "c"],
        ("two", "x"): ["b"],
        ("one", ""): ["d"],
    }
    assert groups["three", "x"] == []


@rows("manifest", [{}, {"metadata": None}, {"metadata": "text"}, {"metadata": {"name": None, "labels": []}}])
def test_an_object_without_a_name_has_an_empty_one(manifest: Manifest) -> None:
    assert namespaced_name(manifest) == ("", "")
    assert list(by_label([manifest], "set")) == [("", "")]
