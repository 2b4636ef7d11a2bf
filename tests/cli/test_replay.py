"""`grove replay`: what it says of bundles, for whom, and with which exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from grove_compiler.replay.bundle import encode
from tests.cli.running import Ended, run
from tests.replay.kept import taken

RULE = 'rule: own/told\ndoc: Tells of each set.\nevent: Normal\nof: set.ref\nreason: Seen\nmessage: "{{ set.name }}"\n'
KEY = "PodCliqueSet/default/demo"


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """A bundle of a set as a whole, which knows by what rules it was made."""
    path = tmp_path / "chat.json"
    kept = taken(None)
    kept.rules = "by-others"
    path.write_bytes(encode(kept))
    return path


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "told.yaml").write_text(RULE)
    return folder


def test_the_same_decision_is_told_in_a_line(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    path.write_bytes(encode(taken()))
    assert run("replay", str(path)) == Ended(0, f"same     {KEY}[0]  2027-01-15T08:00:00Z  {path}\n", "")


def test_other_rules_are_named_as_such(bundle: Path) -> None:
    ended = run("replay", str(bundle))
    assert ended.code == 0
    assert ended.out.splitlines()[1:] == ["  recorded with different rules; pass those with --rules"]


def test_another_decision_is_told_as_a_diff(bundle: Path, rules: Path) -> None:
    ended = run("replay", str(bundle), "--rules", str(rules))
    lines = ended.out.splitlines()
    assert ended.code == 1
    assert lines[0].startswith(f"differs  {KEY}  ")
    assert lines[2:4] == [f"--- recorded/{KEY}", f"+++ here/{KEY}"]
    assert "+  reason: Seen" in lines
    assert not [line for line in lines[4:] if line.startswith("-")]


def test_programs_are_told_the_same_as_json_and_yaml(bundle: Path, rules: Path) -> None:
    arguments = "replay", str(bundle), "--rules", str(rules), "-o"
    [report] = json.loads(run(*arguments, "json").out)
    assert yaml.load(run(*arguments, "yaml").out, yaml.CSafeLoader) == report
    assert (report["key"], report["equal"], report["rules"]["recorded"]) == (KEY, False, "by-others")
    assert [one["reason"] for one in report["decision"]["events"]] == ["Seen"]
    assert "events" not in report["recorded"]


def test_a_bad_file_keeps_no_other_from_being_replayed(bundle: Path, tmp_path: Path) -> None:
    bad, missing = tmp_path / "bad.json", tmp_path / "missing.json"
    bad.write_bytes(bundle.read_bytes()[:-500])
    ended = run("replay", str(bad), str(missing), str(bundle))
    assert ended.code == 2
    assert ended.err.splitlines() == [f"grove: {bad}: it is truncated", f"grove: {missing}: no such file or directory"]
    assert ended.out.startswith("same ")


def test_wrong_rules_are_told_and_nothing_is_replayed(bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "wrong").mkdir()
    (tmp_path / "wrong" / "rule.yaml").write_text("rule: own/wrong\n")
    ended = run("replay", str(bundle), "--rules", str(tmp_path / "wrong"))
    assert (ended.code, ended.out) == (2, "")
    assert "rule.yaml" in ended.err
