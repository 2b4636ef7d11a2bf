"""Ownership moved from other managers to ours."""

from __future__ import annotations

from typing import Any

from applier.decision.managers import CLIENT_SIDE, after_takeover, applied_by, managers_to_take_over, ownership_patch
from kube_objects.manifest import LAST_APPLIED
from tests.suite.rows import rows

from ..things import manifest

KUBECTL = CLIENT_SIDE[0]


def entry(manager: str, operation: str = "Apply", *fields: str, subresource: str = "", **more: Any) -> dict[str, Any]:
    """An entry of managedFields that owns keys of `data`."""
    owned: dict[str, Any] = {"f:data": {f"f:{name}": {} for name in fields}}
    given = {"manager": manager, "operation": operation, "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": owned, **more}
    return {**given, "subresource": subresource} if subresource else given


def live(*entries: dict[str, Any]) -> dict[str, Any]:
    return manifest("a", metadata={"uid": "u", "resourceVersion": "5", "managedFields": list(entries)})


def owners(found: dict[str, Any]) -> list[tuple[str, str, list[str]]]:
    """Manager, operation, and the owned keys of `data`."""
    entries = found["metadata"]["managedFields"]
    return [(one["manager"], one["operation"], sorted(key[2:] for key in one["fieldsV1"]["f:data"])) for one in entries]


def taken(given: dict[str, Any], managers: tuple[str, ...] = CLIENT_SIDE) -> dict[str, Any]:
    return after_takeover(given, ownership_patch(given, "me", managers))


def moved(*entries: dict[str, Any], managers: tuple[str, ...] = CLIENT_SIDE) -> list[tuple[str, str, list[str]]]:
    return owners(taken(live(*entries), managers))


def test_what_client_side_apply_owns_becomes_ours() -> None:
    assert moved(entry(KUBECTL, "Update", "a", "b")) == [("me", "Apply", ["a", "b"])]


def test_it_is_joined_with_what_we_own_already() -> None:
    assert moved(entry("me", "Apply", "a"), entry(KUBECTL, "Update", "b")) == [("me", "Apply", ["a", "b"])]


def test_others_keep_what_they_own() -> None:
    kept = ("kubectl-edit", "Update", ["c"])
    assert kept in moved(entry(KUBECTL, "Update", "a"), entry("kubectl-edit", "Update", "c"))


def test_what_a_plain_create_of_ours_owns_becomes_applied() -> None:
    """Otherwise applying would conflict with, or never get rid of, what we made ourselves (kubernetes#107417)."""
    assert moved(entry("me", "Update", "a")) == [("me", "Apply", ["a"])]


def test_another_tool_is_taken_over_by_name_whatever_it_did() -> None:
    entries = (entry("helm", "Apply", "a"), entry("helm", "Update", "b"))
    assert moved(*entries, managers=("helm",)) == [("me", "Apply", ["a", "b"])]


def test_whoever_keeps_the_annotation_of_client_side_apply_counts_as_it() -> None:
    assert moved(keeps_annotation("Update")) == [("me", "Apply", ["a"])]


def keeps_annotation(operation: str) -> dict[str, Any]:
    """Somebody who owns the annotation of client-side apply."""
    return {**entry("deployer", operation), "fieldsV1": {"f:data": {"f:a": {}}, "f:metadata": {"f:annotations": {f"f:{LAST_APPLIED}": {}}}}}


def test_whoever_keeps_the_annotation_counts_only_where_client_side_apply_is_taken_over() -> None:
    assert managers_to_take_over(live(keeps_annotation("Update")), "me", ("helm",)) == []


NOT_TAKEN = [
    keeps_annotation("Apply"),
    {"manager": "deployer", "operation": "Update"},
    entry("me", "Apply", "a"),
    entry("helm", "Apply", "a"),
    entry("kubectl-edit", "Update", "a"),
    entry(KUBECTL, "Update", "a", subresource="status"),
    entry("me", "Update", "a", subresource="scale"),
]


@rows("one", NOT_TAKEN)
def test_an_object_with_nothing_to_take_stays_the_same(one: dict[str, Any]) -> None:
    given = live(one)
    assert taken(given) is given


@rows("one", NOT_TAKEN)
def test_nobody_is_named_where_nothing_is_taken(one: dict[str, Any]) -> None:
    assert managers_to_take_over(live(one), "me", CLIENT_SIDE) == []


def test_those_who_are_taken_over_are_named() -> None:
    assert managers_to_take_over(live(entry(KUBECTL, "Update"), entry("helm")), "me", (*CLIENT_SIDE, "helm")) == [KUBECTL, "helm"]


def test_nothing_is_taken_over_when_nobody_is_named() -> None:
    given = live(entry(KUBECTL, "Update", "a"))
    assert taken(given, ()) is given


def test_the_object_that_is_given_stays_as_it_is() -> None:
    given = live(entry(KUBECTL, "Update", "a"))
    taken(given)
    assert given == live(entry(KUBECTL, "Update", "a"))


def test_a_field_that_is_owned_as_a_whole_stays_so_next_to_one_inside_it() -> None:
    whole, inside = entry(KUBECTL, "Update"), entry("me", "Apply", "a")
    whole["fieldsV1"] = {"f:data": {}}
    found = taken(live(inside, whole))["metadata"]["managedFields"]
    assert found[0]["fieldsV1"] == {"f:data": {".": {}, "f:a": {}}}


@rows(
    ("entries", "expected"),
    [
        ([entry("me")], True),
        ([entry("me", "Update")], True),
        ([entry("other"), entry("me")], True),
        ([entry("me", "Update", subresource="status")], False),
        ([entry("other")], False),
        ([], False),
    ],
)
def test_an_object_is_ours_when_we_have_written_it(entries: list[dict[str, Any]], expected: bool) -> None:
    assert applied_by(live(*entries), "me") is expected


def test_an_object_without_managed_fields_has_nothing_to_take() -> None:
    given = manifest("a", metadata={"resourceVersion": "5"})
    assert (taken(given), managers_to_take_over(given, "me", CLIENT_SIDE)) == (given, [])


def test_the_annotation_of_client_side_apply_goes_with_it() -> None:
    given = live(entry(KUBECTL, "Update", "a"))
    given["metadata"]["annotations"] = {LAST_APPLIED: "{}", "other": "kept"}
    assert taken(given)["metadata"]["annotations"] == {"other": "kept"}


def test_ownership_is_moved_on_the_version_that_was_read_and_no_other() -> None:
    patch = ownership_patch(live(entry(KUBECTL, "Update", "a")), "me", CLIENT_SIDE)
    assert patch[0] == {"op": "test", "path": "/metadata/resourceVersion", "value": "5"}
