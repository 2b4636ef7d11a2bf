"""Label selectors mean what they mean to the API server."""

from __future__ import annotations

import pytest

from applier.cache import Selector
from tests.suite.rows import rows

LABELS = {"app": "web", "tier": "", "example.com/part-of": "shop"}


@rows(
    ("selector", "matches"),
    [
        ("", True),
        ("app=web", True),
        ("app==web", True),
        ("app = web", True),
        ("app=db", False),
        ("app!=db", True),
        ("none!=db", True),
        ("app", True),
        ("!app", False),
        ("none", False),
        ("!none", True),
        ("tier=", True),
        ("app in (web, db)", True),
        ("app in (db)", False),
        ("app notin (db)", True),
        ("none notin (db)", True),
        ("none in (db)", False),
        ("app in (web,db),example.com/part-of=shop", True),
        ("app in (web,db),tier=x", False),
    ],
)
def test_a_selector_picks(selector: str, matches: bool) -> None:
    assert Selector(selector).matches({"metadata": {"labels": LABELS}}) is matches


def test_an_object_without_labels_has_none() -> None:
    assert not Selector("app").matches({"metadata": {}})


@pytest.mark.parametrize("text", ["app=a=b", "app in web", "a,,b", "app in (a", "= x"])
def test_what_is_no_selector_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a label selector"):
        Selector(text)
