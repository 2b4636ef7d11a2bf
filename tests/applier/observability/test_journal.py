"""A journal has one line for each event, survives crashes, and holds no values."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from applier.events import Finished, WaveStarted
from applier.observability.journal import Journal, Sync
from applier.outcome import Action, FieldChange, Outcome, Step
from tests.suite.journals import read_journal

from .conftest import DENIED, RUN, WEB

THEN = datetime(2026, 1, 1, 12, tzinfo=UTC)


def journal(path: Path, **options: Any) -> Journal:
    return Journal(path, run="r1", now=lambda: THEN, **options)


def written(path: Path) -> list[dict[str, Any]]:
    with journal(path) as sink:
        for event in RUN:
            sink(event)
    return list(read_journal(path))


def test_each_event_is_a_line_of_json(tmp_path: Path) -> None:
    written(tmp_path / "journal")
    lines = (tmp_path / "journal").read_text().splitlines()
    assert len([json.loads(text) for text in lines]) == len(RUN)


def test_each_line_says_when_and_in_which_run(tmp_path: Path) -> None:
    assert {(said["time"], said["run"]) for said in written(tmp_path / "journal")} == {("2026-01-01T12:00:00.000+00:00", "r1")}


def test_events_come_in_order(tmp_path: Path) -> None:
    said = [line["event"] for line in written(tmp_path / "journal")]
    assert said[:3] + said[-2:] == ["planned", "wave", "started", "ready", "ended"]


def test_what_became_of_an_object_is_told_with_fields_and_who_held_them(tmp_path: Path) -> None:
    failed = next(line for line in written(tmp_path / "journal") if line.get("meant"))
    del failed["time"], failed["run"]
    assert failed == {
        "event": "finished",
        "object": "Deployment.apps/shop/web",
        "action": "failed",
        "meant": "configured",
        "reason": "a webhook denied it",
        "error": "Forbidden",
        "uid": "u1",
        "wave": 1,
        "seconds": 0.25,
        "fields": [
            {
                "path": "spec.containers[name=main].args[0]",
                "owners": [{"manager": "kubectl-edit", "operation": "Update", "time": "2026-01-01T00:00:00Z"}],
            }
        ],
    }


def test_no_value_of_a_field_is_written(tmp_path: Path) -> None:
    written(tmp_path / "journal")
    assert "hunter" not in (tmp_path / "journal").read_text()


def test_a_journal_is_appended_to(tmp_path: Path) -> None:
    written(tmp_path / "journal")
    assert len(written(tmp_path / "journal")) == 2 * len(RUN)


def test_a_line_that_a_crash_cut_off_spoils_no_other(tmp_path: Path) -> None:
    (tmp_path / "journal").write_text('{"event":"ended"}\n{"event":"plan')
    assert [line["event"] for line in written(tmp_path / "journal")][:2] == ["ended", "planned"]


def test_folders_are_made(tmp_path: Path) -> None:
    assert written(tmp_path / "a" / "b" / "journal")


@pytest.mark.parametrize(("sync", "times"), [("never", 0), ("run", 2), ("always", len(RUN))])
def test_the_disk_is_forced_as_often_as_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sync: Sync, times: int) -> None:
    calls: list[int] = []
    monkeypatch.setattr(os, "fsync", calls.append)
    with journal(tmp_path / "journal", sync=sync) as sink:
        for event in RUN:
            sink(event)
    assert len(calls) <= times
    assert bool(calls) is bool(times)


def test_a_full_disk_hinders_nobody_and_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    sink = journal(tmp_path / "journal", sync="always")
    sink(Finished(DENIED))
    sink.close()
    assert (sink.lost, str(sink.error)) == (1, "[Errno 28] No space left on device")


def test_closing_twice_does_no_harm(tmp_path: Path) -> None:
    sink = journal(tmp_path / "journal")
    sink(WaveStarted(0, 1))
    sink.close()
    sink.close()
    assert len(list(read_journal(tmp_path / "journal"))) == 1


def test_fields_are_named_as_in_plans(tmp_path: Path) -> None:
    step = Step(WEB, Action.CONFIGURED, changes=[FieldChange(("metadata", "labels", "app.kubernetes.io/name"), "a", "b")])
    with journal(tmp_path / "journal") as sink:
        sink(Finished(Outcome(step, Action.CONFIGURED)))
    assert [line["fields"] for line in read_journal(tmp_path / "journal")] == [[{"path": 'metadata.labels["app.kubernetes.io/name"]'}]]
