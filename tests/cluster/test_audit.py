"""The audit log is read while a server writes it: an offset may be in the middle of a line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from applier.testing import audit


def line(uri: str, user: str = "admin") -> bytes:
    event = {"stage": "ResponseComplete", "verb": "get", "requestURI": uri, "user": {"username": user}, "responseStatus": {"code": 200}}
    return json.dumps(event).encode() + b"\n"


FIRST, SECOND = line("/first"), line("/second")


@pytest.mark.parametrize(
    ("start", "written", "found"),
    [
        (0, FIRST + SECOND, ["/first", "/second"]),
        (len(FIRST), FIRST + SECOND, ["/second"]),
        (len(FIRST) - 1, FIRST + SECOND, ["/second"]),
        (10, FIRST + SECOND, ["/second"]),
        (10, FIRST[:-5], []),
        (0, FIRST + SECOND[:-5], ["/first"]),
    ],
    ids=["all", "from a line", "from the end of a line", "from within a line", "from within one that is being written", "half a line"],
)
def test_only_whole_lines_from_an_offset_count(start: int, written: bytes, found: list[str], tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    log.write_bytes(written)
    assert [uri for _, uri in audit.read(log, start)] == found


def test_requests_of_the_servers_are_not_counted_where_their_writes_are_logged(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    log.write_bytes(line("/theirs", "system:kwok") + FIRST)
    assert [uri for _, uri in audit.read(log)] == ["/first"]


def test_writes_of_some_resources_are_logged_with_their_objects_before_anything_is_left_out() -> None:
    first, *others = audit.policy(("pods", "deployments.apps"))["rules"]
    assert first["level"] == "RequestResponse"
    assert first["resources"] == [
        {"group": "", "resources": ["pods", "pods/*"]},
        {"group": "apps", "resources": ["deployments", "deployments/*"]},
    ]
    assert others == audit.policy()["rules"]
