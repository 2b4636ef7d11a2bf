"""Sets of owned fields that are older than the schema: what was owned inside of a value that is atomic by now."""

from __future__ import annotations

import pytest

from applier.decision.fields import Fields, reconciled
from tests.suite.rows import rows

from .schemas import type_of

GADGET = type_of("decision.example/v1", "Gadget")


def of_spec(fields: Fields) -> Fields:
    return {"f:spec": {"f:level": {}, **fields}}


@pytest.mark.parametrize(
    ("owned", "now"),
    [
        ({"f:whole": {"f:a": {}}}, {"f:whole": {}}),
        ({"f:whole": {".": {}, "f:a": {}, "f:b": {}}}, {"f:whole": {}}),
    ],
    ids=["map", "map with itself"],
)
def test_what_was_owned_inside_of_what_is_atomic_is_owned_as_a_whole(owned: Fields, now: Fields) -> None:
    assert reconciled(of_spec(owned), GADGET) == of_spec(now)


def test_that_holds_for_lists_too() -> None:
    def of_main(fields: Fields) -> Fields:
        return {"f:spec": {"f:template": {"f:spec": {"f:containers": {'k:{"name":"main"}': {".": {}, "f:args": fields}}}}}}

    assert reconciled(of_main({'v:"a"': {}}), type_of("apps/v1", "Deployment")) == of_main({})


@rows(
    "owned",
    [
        {"f:whole": {}},
        {"f:whole": {".": {}}},
        {"f:keyed": {".": {}, 'k:{"id":"a"}': {".": {}, "f:id": {}}}},
        {"f:untyped": {"f:a": {"f:b": {}}}},
        {"f:level": {"f:a": {}}},
        {"f:unknown": {"f:a": {}}},
    ],
    ids=["whole", "itself alone", "items by key", "without a schema", "inside of a scalar", "no field of the schema"],
)
def test_all_other_sets_stay_the_same(owned: Fields) -> None:
    fields = of_spec(owned)
    assert reconciled(fields, GADGET) is fields
