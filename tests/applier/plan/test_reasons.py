"""The sentences of a plan."""

from __future__ import annotations

import pytest

from applier.outcome import ABSENT, Conflict, FieldChange, ItemKey, Owner
from applier.plan.reasons import manager_names, what_conflicts, what_differs, what_is_fixed, who

from ..things import manifest

EDIT = Owner("kubectl-edit", "Update", "2026-01-01T00:00:00Z")
SCALE = Owner("hpa", "Update", "", "scale")
MAIN = ItemKey((("name", "main"),))


@pytest.mark.parametrize(
    ("owner", "text"),
    [
        (EDIT, "kubectl-edit (Update at 2026-01-01T00:00:00Z)"),
        (SCALE, "hpa (Update of scale)"),
        (Owner("helm", "Apply", ""), "helm (Apply)"),
    ],
)
def test_an_owner_is_named_with_what_it_did_and_when(owner: Owner, text: str) -> None:
    assert who(owner) == text


def test_drift_names_who_caused_it() -> None:
    change = FieldChange(("spec", "replicas"), 3, 2, (EDIT,))
    assert what_differs([change]) == "spec.replicas; last set by kubectl-edit (Update at 2026-01-01T00:00:00Z)"


@pytest.mark.parametrize("owners", [(), (EDIT,)])
def test_a_new_field_blames_nobody(owners: tuple[Owner, ...]) -> None:
    assert what_differs([FieldChange(("data", "a"), ABSENT, 1, owners)]) == "data.a"


def test_a_change_of_ownership_alone_is_said() -> None:
    assert what_differs([]) == "only the ownership of its fields changes"


def test_conflicts_are_grouped_by_owner_with_the_three_ways_out() -> None:
    conflicts = [Conflict(("spec", "replicas"), EDIT), Conflict(("spec", "paused"), EDIT), Conflict(("data",), SCALE)]
    assert what_conflicts(conflicts) == (
        "kubectl-edit (Update at 2026-01-01T00:00:00Z) owns spec.replicas, spec.paused; "
        "hpa (Update of scale) owns data with another value: "
        "take it (force), drop it (remove it from the manifest), or share it (use the same value)"
    )


def test_fixed_fields_are_named() -> None:
    assert what_is_fixed([("spec", "selector")]) == "spec.selector cannot be changed once set"


def test_makers_are_named_once() -> None:
    live = manifest("a", metadata={"managedFields": [{"manager": "x"}, {"manager": "x"}, {"manager": "y"}]})
    assert (manager_names(live), manager_names(manifest("a"))) == ("x, y", "somebody else")
