"""Objects whose deletion has begun."""

from __future__ import annotations

import pytest

from applier.ref import being_deleted, is_being_deleted


@pytest.mark.parametrize(
    ("metadata", "expected"), [({"deletionTimestamp": "2026-01-01T00:00:00Z"}, True), ({"deletionTimestamp": None}, False), (None, False)]
)
def test_an_object_is_being_deleted_from_when_that_is_asked_for(metadata: object, expected: bool) -> None:
    assert is_being_deleted({"metadata": metadata}) is expected


def test_who_holds_up_a_deletion_is_said() -> None:
    live = {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["example.com/wait"]}}
    assert being_deleted(live) == "is being deleted since 2026-01-01T00:00:00Z, held by example.com/wait"
