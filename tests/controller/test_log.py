"""The operator's log: a line for each decision, in two forms, and no line twice for what stays as it is."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from applier.errors import Forbidden
from applier.loop import Result
from applier.outcome import Action, Outcome, Step
from applier.ref import Ref
from grove_compiler.step import Key
from grove_operator.controller.log import Log

KEY = Key("PodCliqueSet", "team-a", "chat", 0)
NOW = datetime(2026, 11, 23, 5, 50, 55, 123_000, tzinfo=UTC)


def outcome(action: Action, kind: str, name: str, reason: str = "") -> Outcome:
    error = Forbidden(403, "Forbidden", reason) if action is Action.FAILED else None
    return Outcome(Step(Ref("", kind, "team-a", name), action, reason), action, reason, error=error)


def logged(config: dict[str, Any], *results: Result[Key]) -> list[str]:
    stream = io.StringIO()
    log = Log(stream, config, lambda: NOW)
    for result in results:
        log.result(result)
    return stream.getvalue().splitlines()


WROTE = Result(
    KEY,
    [outcome(Action.CREATED, "Pod", "a"), outcome(Action.CREATED, "Pod", "b"), outcome(Action.PRUNED, "Service", "c", "no longer wanted")],
)


def test_a_look_that_wrote_something_is_one_line() -> None:
    line = json.loads(logged({"logFormat": "json"}, WROTE)[0])
    assert line == {
        "ts": "2026-11-23T05:50:55.123Z",
        "level": "info",
        "msg": "decided",
        "key": "PodCliqueSet/team-a/chat[0]",
        "created": "2 Pod",
        "pruned": "1 Service",
    }


def test_text_can_be_cut_into_its_fields() -> None:
    assert logged({"logFormat": "text"}, WROTE) == [
        '2026-11-23T05:50:55.123Z info  decided key=PodCliqueSet/team-a/chat[0] created="2 Pod" pruned="1 Service"'
    ]


def test_debug_adds_a_line_for_each_object_with_the_reason() -> None:
    lines = logged({"logFormat": "text", "logLevel": "debug"}, WROTE)
    assert len(lines) == 4
    assert lines[3].endswith('debug pruned key=PodCliqueSet/team-a/chat[0] object=Service/team-a/c reason="no longer wanted"')


@pytest.mark.parametrize("result", [Result(KEY), Result(KEY, [outcome(Action.UNCHANGED, "Pod", "a")])])
def test_a_look_that_changed_nothing_is_no_line(result: Result[Key]) -> None:
    assert logged({"logLevel": "debug"}, result) == []


def test_what_stays_undone_is_told_once_until_it_changes() -> None:
    first, second = Result(KEY, held="no such class"), Result(KEY, [outcome(Action.FAILED, "Pod", "a", "quota")])
    lines = logged({"logFormat": "text"}, first, first, second, second, Result(KEY), second)
    assert [line.split(" ", 2)[2] for line in lines] == [
        'held key=PodCliqueSet/team-a/chat[0] reason="no such class"',
        'not done key=PodCliqueSet/team-a/chat[0] reason="Pod/team-a/a: quota"',
        'not done key=PodCliqueSet/team-a/chat[0] reason="Pod/team-a/a: quota"',
    ]


def test_errors_alone_are_told_where_nothing_else_is_wanted() -> None:
    assert logged({"logLevel": "error"}, WROTE) == []


def test_a_value_never_ends_a_line() -> None:
    assert len(logged({"logFormat": "text"}, Result(KEY, held="one\ntwo"))) == 1


def test_a_warning_that_the_server_gives_with_each_write_of_a_kind_is_one_line() -> None:
    stream = io.StringIO()
    log = Log(stream, {"logFormat": "json"}, lambda: NOW)
    for name in ("chat-0", "chat-1"):
        log.warning(Ref("", "Service", "team-a", name), "spec.SessionAffinity is ignored for headless services")
    [line] = map(json.loads, stream.getvalue().splitlines())
    assert line == {
        "ts": "2026-11-23T05:50:55.123Z",
        "level": "info",
        "msg": "the server warns",
        "object": "Service/team-a/chat-0",
        "warning": "spec.SessionAffinity is ignored for headless services",
    }
