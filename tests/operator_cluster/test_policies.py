"""What rules say of their objects, in the applier's words."""

from __future__ import annotations

from applier.desired import DEFAULT_POLICY
from applier.ref import Manifest
from grove_operator.cluster.desired import Policies
from tests.suite.rows import rows


def test_nothing_said_is_the_default() -> None:
    assert Policies().of({}) is DEFAULT_POLICY


@rows(
    ("said", "field", "value"),
    [
        ({"create": "only"}, "create_only", True),
        ({}, "create_only", False),
        ({"adopt": False}, "adopt", False),
        ({"adopt": True}, "adopt", True),
        ({"recreate": True}, "recreate", True),
        ({"yield": "/spec/replicas"}, "yields", ("/spec/replicas",)),
        ({"yield": ["/spec/a", "/spec/b"]}, "yields", ("/spec/a", "/spec/b")),
        ({"follow": "/spec/a"}, "follows", ("/spec/a",)),
        ({"optional": "/spec/a"}, "optional", ("/spec/a",)),
    ],
)
def test_what_is_said_is_what_may_be_done(said: Manifest, field: str, value: object) -> None:
    assert getattr(Policies().of(said), field) == value


def test_what_an_autoscaler_drives_is_yielded_beside_what_the_rule_yields() -> None:
    assert Policies().of({"yield": "/spec/a"}, "/spec/replicas").yields == ("/spec/a", "/spec/replicas")


def test_what_both_yield_is_yielded_once() -> None:
    assert Policies().of({"yield": "/spec/replicas"}, "/spec/replicas").yields == ("/spec/replicas",)


def test_equal_policies_are_one() -> None:
    policies = Policies()
    assert policies.of({"recreate": True}) is policies.of({"recreate": True})


def test_managers_whose_fields_may_be_taken_hold_for_all() -> None:
    assert Policies(("helm",)).of({}).force == ("helm",)
