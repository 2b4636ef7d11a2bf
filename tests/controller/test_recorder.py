"""What an operator keeps of its looks: the last few in memory, all of them in a folder, and those that failed in any case."""

from __future__ import annotations

import json
import os
import stat
from io import StringIO
from pathlib import Path

import pytest

from applier.errors import NotSynced, Unreachable
from applier.loop import Result
from grove_cli.operator.replay_retention import replay_retention
from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.replay.bundle import RecordedStep, decode
from grove_compiler.step import Key, StepContext, StepHold, step
from grove_operator.controller.log import Log
from grove_operator.controller.recorder import BundleFolder, Retention, StepRecorder, Trigger
from tests.features.compiling import program_with
from tests.replay.kept import SETTINGS, cluster, taken
from tests.step.world import NOW, context, key_of

FAILING = 'rule: own/fails\ndoc: Fails.\nevent: Normal\nof: set.ref\nreason: Never\nmessage: "{{ 1 // 0 }}"\n'


class Looks:
    """A recorder, and what it hands over. With `failing`, a rule fails in every look at a set."""

    def __init__(self, in_memory: int = 0, *, every: bool = False, failing: bool = False) -> None:
        self.kept: list[tuple[RecordedStep, Trigger]] = []
        self.recorder = StepRecorder(Retention(in_memory, every, lambda one, why: self.kept.append((one, why))))
        self.sound, self.failing = context(SETTINGS), StepContext(program_with(FAILING), SETTINGS)
        self.fails = failing

    def look(self, replica: int | None = None, error: Exception | None = None) -> None:
        objects = cluster()
        key = key_of(objects[0], replica)
        shared = self.failing if self.fails else self.sound
        outcome = self.recorder.record(step, ObjectList(objects), key, NOW, shared)
        held = outcome.reason if isinstance(outcome, StepHold) else str(error or "")
        self.recorder.finish(Result(key, held=held, error=error))

    def triggers(self) -> list[Trigger]:
        return [why for _, why in self.kept]


def test_of_many_looks_the_last_few_are_held() -> None:
    looks = Looks(2)
    for replica in (None, 0, 1):
        looks.look(replica)
    assert looks.kept == []
    looks.recorder.flush()
    assert [(one.key.replica, why) for one, why in looks.kept] == [(0, "asked"), (1, "asked")]


def test_what_was_handed_over_is_not_held_any_more() -> None:
    looks = Looks(2)
    looks.look()
    looks.recorder.flush()
    looks.recorder.flush()
    assert looks.triggers() == ["asked"]


def test_every_look_is_handed_over_where_that_is_wanted() -> None:
    looks = Looks(every=True)
    looks.look(0)
    looks.look(1)
    assert looks.triggers() == ["step", "step"]


def test_a_look_in_which_a_rule_fails_is_handed_over_once() -> None:
    looks = Looks(failing=True)
    looks.look()
    looks.look()
    assert looks.triggers() == ["failed"]
    assert "own/fails" in looks.kept[0][0].held


def test_it_is_so_again_after_a_look_that_went_well() -> None:
    looks = Looks(failing=True)
    looks.look()
    looks.fails = False
    looks.look()
    looks.fails = True
    looks.look()
    assert looks.triggers() == ["failed", "failed"]


def test_an_error_that_nobody_has_foreseen_is_a_failure() -> None:
    looks = Looks()
    looks.look(error=ZeroDivisionError("of ours"))
    assert looks.triggers() == ["failed"]


@pytest.mark.parametrize("error", [Unreachable("away"), NotSynced("Pod")], ids=["unreachable", "not-synced"])
def test_a_server_that_does_not_answer_is_none(error: Exception) -> None:
    looks = Looks()
    looks.look(error=error)
    assert looks.kept == []


def test_a_look_that_waits_for_its_watch_is_not_held() -> None:
    looks = Looks(5)
    looks.look(error=NotSynced("Pod"))
    looks.recorder.flush()
    assert looks.kept == []


def test_a_step_in_which_the_program_stumbles_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def stumble(*_: object) -> None:
        raise ZeroDivisionError("of ours")

    monkeypatch.setattr("grove_compiler.step.ExpandedSet", stumble)
    looks = Looks()
    looks.look()
    assert looks.triggers() == ["failed"]
    assert looks.kept[0][0].held == "ZeroDivisionError: of ours"


# -- the folder


def test_a_folder_holds_no_more_than_it_is_told_to_and_the_newest(tmp_path: Path) -> None:
    folder = BundleFolder(str(tmp_path / "kept"), 3)
    written = [folder.write(taken(replica), "step").name for replica in (None, 0, 1, None, 0)]
    assert sorted(os.listdir(tmp_path / "kept")) == sorted(written[-3:])


def test_what_an_earlier_process_wrote_counts(tmp_path: Path) -> None:
    first = [BundleFolder(str(tmp_path), 2).write(taken(), "step") for _ in range(1)]
    later = BundleFolder(str(tmp_path), 2)
    for _ in range(2):
        later.write(taken(1), "step")
    assert len(os.listdir(tmp_path)) == 2
    assert not first[0].exists()


def test_looks_that_failed_do_not_go_because_of_others(tmp_path: Path) -> None:
    folder = BundleFolder(str(tmp_path), 1)
    failed = folder.write(taken(), "failed")
    for _ in range(3):
        folder.write(taken(), "step")
    assert failed.exists()
    assert len(os.listdir(tmp_path)) == 2


def test_strangers_in_the_folder_stay(tmp_path: Path) -> None:
    (tmp_path / "notes.json").write_text("mine")
    (tmp_path / "notes.tmp").write_text("mine")
    folder = BundleFolder(str(tmp_path), 1)
    folder.write(taken(), "step")
    folder.write(taken(), "step")
    assert {one for one in os.listdir(tmp_path) if one.startswith("notes")} == {"notes.json", "notes.tmp"}


def test_what_was_half_written_when_a_process_ended_goes(tmp_path: Path) -> None:
    whole = BundleFolder(str(tmp_path), 5).write(taken(), "step")
    whole.rename(half := whole.with_suffix(".tmp"))
    BundleFolder(str(tmp_path), 5).write(taken(1), "step")
    assert not half.exists()


def test_only_its_owner_may_read_a_bundle(tmp_path: Path) -> None:
    path = BundleFolder(str(tmp_path / "kept"), 1).write(taken(), "step")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_file_is_named_after_its_time_and_key(tmp_path: Path) -> None:
    path = BundleFolder(str(tmp_path), 1).write(taken(), "step")
    assert path.name == "step-20270115T080000Z-000001-PodCliqueSet_default_demo_0.json"
    assert decode(path.read_bytes()).key == Key("PodCliqueSet", "default", "demo", 0)


# -- as the configuration asks


def configured(**config: object) -> tuple[Retention, StringIO]:
    stream = StringIO()
    return replay_retention({"folder": "", "bundles": 5, "inMemory": 2, **config}, Log(stream, {"logFormat": "json"})), stream


def test_without_a_folder_only_failures_are_written_and_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    retention, log = configured()
    assert (retention.in_memory, retention.every) == (2, False)
    retention.write(taken(), "failed")
    line = json.loads(log.getvalue())
    assert (line["level"], line["msg"], line["key"]) == ("error", "bundle written", "PodCliqueSet/default/demo[0]")
    assert decode(Path(line["file"]).read_bytes()).key.name == "demo"
    assert tmp_path in Path(line["file"]).parents


def test_with_a_folder_all_are_written_and_not_told_of(tmp_path: Path) -> None:
    retention, log = configured(folder=str(tmp_path))
    assert retention.every
    retention.write(taken(), "step")
    assert len(os.listdir(tmp_path)) == 1
    assert log.getvalue() == ""


def test_a_folder_that_cannot_be_written_is_told_once_and_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    retention, log = configured(folder=str(tmp_path / "file"))
    retention.write(taken(), "step")
    retention.write(taken(), "step")
    [line] = log.getvalue().splitlines()
    assert json.loads(line)["msg"] == "bundle not written"
    assert str(tmp_path / "file") in json.loads(line)["why"]


def test_a_step_that_cannot_be_recorded_is_told_and_stops_nothing(tmp_path: Path) -> None:
    retention, log = configured(folder=str(tmp_path))
    strange = taken()
    strange.answers["get", "", "Pod", "default", "strange"] = object()
    retention.write(strange, "failed")
    line = json.loads(log.getvalue())
    assert (line["msg"], line["why"].split(":")[0]) == ("bundle not written", "AttributeError")
