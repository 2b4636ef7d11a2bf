"""Which labels a LabelSelector chooses."""

from __future__ import annotations

from typing import Any

from kube_objects.label_selector import selects
from tests.suite.rows import rows

LABELS = {"team": "a", "empty": ""}


def needs(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, **({"values": list(values)} if values else {})}]}


CASES: list[tuple[dict[str, Any], bool]] = [
    ({}, True),
    ({"matchLabels": {"team": "a"}}, True),
    ({"matchLabels": {"team": "b"}}, False),
    ({"matchLabels": {"team": "a", "other": "a"}}, False),
    ({"matchLabels": {"other": ""}}, False),
    (needs("team", "In", "a", "b"), True),
    (needs("other", "In", "a"), False),
    (needs("team", "NotIn", "a"), False),
    (needs("other", "NotIn", "a"), True),
    (needs("empty", "Exists"), True),
    (needs("other", "Exists"), False),
    (needs("other", "DoesNotExist"), True),
    (needs("team", "DoesNotExist"), False),
    (needs("team", "Resembles", "a"), False),
    ({"matchLabels": {"team": "a"}} | needs("empty", "DoesNotExist"), False),
]


@rows(("selector", "chosen"), CASES)
def test_every_requirement_has_to_be_met(selector: dict[str, Any], chosen: bool) -> None:
    assert selects(selector, LABELS) is chosen
