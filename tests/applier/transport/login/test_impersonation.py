"""Acting as somebody else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from applier.errors import CredentialsError
from applier.transport.login.find import find_target
from applier.transport.login.kubeconfig import KubeconfigEntry
from applier.transport.login.target import impersonation
from tests.suite.rows import rows

from .test_kubeconfig import write

ACTING: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "nobody": ({"token": "t"}, []),
    "a user": ({"as": "jane"}, [("Impersonate-User", "jane")]),
    "a user with groups": (
        {"as": "jane", "as-groups": ["a", "b, c"]},
        [("Impersonate-User", "jane"), ("Impersonate-Group", "a"), ("Impersonate-Group", "b, c")],
    ),
    "a user with a UID": ({"as": "jane", "as-uid": "1"}, [("Impersonate-User", "jane"), ("Impersonate-Uid", "1")]),
    "a user with more": (
        {"as": "jane", "as-user-extra": {"example.com/team%": ["x", "y"], "scopes": []}},
        [("Impersonate-User", "jane"), ("Impersonate-Extra-example.com%2Fteam%25", "x"), ("Impersonate-Extra-example.com%2Fteam%25", "y")],
    ),
}


@pytest.mark.parametrize("case", ACTING.values(), ids=ACTING)
def test_a_kubeconfig_says_for_whom_we_act(case: tuple[dict[str, Any], list[tuple[str, str]]], tmp_path: Path) -> None:
    user, headers = case
    assert list(find_target(str(write(tmp_path / "config", "one", user=user)), "", {}).headers) == headers


BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "groups of nobody": ({"as-groups": ["a"]}, "has as-uid, as-groups or as-user-extra, but no `as`"),
    "a UID of nobody": ({"as-uid": "1"}, "but no `as`"),
    "a name that is no text": ({"as": 7}, "the as of user 'a' of c is not a string in YAML"),
    "groups that are no list": ({"as": "jane", "as-groups": "a"}, "the as-groups of user 'a' of c must be a list of strings"),
    "groups that are no texts": ({"as": "jane", "as-groups": [1]}, "the as-groups of user 'a' of c must be a list of strings"),
    "more that is not a map": ({"as": "jane", "as-user-extra": ["a"]}, "has an as-user-extra that is not a map of lists"),
    "more that is no list": (
        {"as": "jane", "as-user-extra": {"a": "b"}},
        "the a of as-user-extra of user 'a' of c must be a list of strings",
    ),
    "a line break": ({"as": "jane\nImpersonate-Group: system:masters"}, "which cannot be sent in a header"),
}


@rows("case", BROKEN.values(), ids=BROKEN)
def test_what_makes_no_sense_is_one_sentence(case: tuple[dict[str, Any], str]) -> None:
    user, says = case
    with pytest.raises(CredentialsError) as raised:
        impersonation(KubeconfigEntry(user, Path("c"), "user 'a' of c"))
    assert says in str(raised.value)
    assert "user 'a' of c" in str(raised.value)
    assert "\n" not in str(raised.value)
