"""Owner references that get their UIDs."""

from __future__ import annotations

from typing import Any

import pytest

from applier.ref import Ref, is_reference_to, refers_to, with_owner

from .things import manifest

OWNER = Ref("apps", "Deployment", "shop", "web")
ENTRY = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}


def owned(*entries: dict[str, Any]) -> dict[str, Any]:
    return manifest("a", metadata={"ownerReferences": list(entries)})


def test_the_uid_is_filled_in() -> None:
    assert with_owner(owned(ENTRY), OWNER, "u1")["metadata"]["ownerReferences"] == [{**ENTRY, "uid": "u1"}]


def test_all_else_is_kept_when_the_uid_is_filled_in() -> None:
    given = manifest("a", metadata={"ownerReferences": [ENTRY], "labels": {"x": "1"}}, data={"y": "2"})
    filled = {**given["metadata"], "ownerReferences": [{**ENTRY, "uid": "u1"}]}
    assert with_owner(given, OWNER, "u1") == {**given, "metadata": filled}


def test_other_owners_are_left_alone() -> None:
    other = {**ENTRY, "name": "other"}
    assert with_owner(owned(other, ENTRY), OWNER, "u1")["metadata"]["ownerReferences"] == [other, {**ENTRY, "uid": "u1"}]


def test_a_wrong_uid_is_replaced() -> None:
    assert with_owner(owned({**ENTRY, "uid": "u0"}), OWNER, "u1")["metadata"]["ownerReferences"] == [{**ENTRY, "uid": "u1"}]


def test_the_manifest_that_is_given_stays_as_it_is() -> None:
    given = owned(ENTRY)
    with_owner(given, OWNER, "u1")
    assert given == owned(ENTRY)


@pytest.mark.parametrize("given", [manifest("a"), owned({**ENTRY, "uid": "u1"}), owned({**ENTRY, "name": "other"})])
def test_nothing_is_copied_when_there_is_nothing_to_fill_in(given: dict[str, Any]) -> None:
    assert with_owner(given, OWNER, "u1") is given


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (ENTRY, True),
        ({**ENTRY, "apiVersion": "apps/v1beta1"}, True),
        ({**ENTRY, "apiVersion": "v1"}, False),
        ({**ENTRY, "kind": "StatefulSet"}, False),
        ({**ENTRY, "name": "other"}, False),
    ],
)
def test_an_owner_is_known_by_group_kind_and_name(entry: dict[str, Any], expected: bool) -> None:
    assert is_reference_to(entry, OWNER) is expected


def test_only_an_object_with_the_reference_needs_the_uid() -> None:
    assert (refers_to(owned(ENTRY), OWNER), refers_to(manifest("a"), OWNER)) == (True, False)
