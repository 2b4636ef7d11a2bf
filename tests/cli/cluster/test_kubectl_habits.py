"""What fingers type that are used to kubectl."""

from __future__ import annotations

from pathlib import Path

import pytest

from grove_cli.suggestions import nearest
from tests.suite.rows import rows

from ..running import ROOT, run
from .in_memory import Bench, config_map


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


LIKE_NOTHING = [
    "--server-side",
    "--server-side=true",
    "--validate",
    "--validate=strict",
    "--validate=true",
    "--recursive=true",
    "-v=0",
    "-v 1",
]


@pytest.mark.parametrize("option", LIKE_NOTHING)
@pytest.mark.parametrize("command", ["apply", "diff"])
def test_what_is_always_so_may_be_asked_for(command: str, option: str, bench: Bench) -> None:
    ended = bench.run(command, bench.file(config_map("a")), *option.split())
    assert ended.err == ""
    assert "a" in ended.out


def test_there_is_no_apply_but_a_server_side_one(bench: Bench) -> None:
    ended = bench.run("apply", bench.file(config_map("a")), "--server-side=false")
    assert (ended.code, bench.writes()) == (2, [])
    assert "client-side apply is not supported; omit the option." in ended.err


def test_validation_that_cannot_be_turned_off_is_said(bench: Bench) -> None:
    ended = bench.run("apply", bench.file(config_map("a")), "--validate=ignore")
    assert ended.code == 0
    assert ended.err == "grove: --validate=ignore has no effect: the server rejects unknown fields in every server-side apply\n"


DRY = {
    "with a space": ("--dry-run", "client"),
    "with an equals sign": ("--dry-run=client",),
    "alone": ("--dry-run",),
}


@pytest.mark.parametrize("options", DRY.values(), ids=DRY)
def test_a_dry_run_may_name_who_tries_in_each_form(options: tuple[str, ...], bench: Bench) -> None:
    ended = bench.run("apply", bench.file(config_map("a")), *options)
    assert (ended.code, ended.err, bench.writes()) == (0, "", [])


@pytest.mark.parametrize("options", [("--wait", "10s"), ("--wait=10s",), ("--wait",), ("--wait", "1m30s")], ids=" ".join)
def test_a_time_to_wait_may_follow_in_each_form(options: tuple[str, ...], bench: Bench) -> None:
    ended = bench.run("apply", bench.file(config_map("a")), *options)
    assert (ended.code, ended.err) == (0, "configmap/a ready after 0.0 s\n")


@pytest.mark.parametrize("name", ["client", "10s"])
def test_a_file_of_that_name_is_a_file(name: str, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(bench.folder)
    bench.file(config_map("a"), name=name)
    ended = bench.run("apply", "--dry-run" if name == "client" else "--wait", name)
    assert (ended.code, ended.out.split()[0]) == (0, "configmap/a")


SWITCHED = {
    "--force-conflicts=true": ["apply a"],
    "--force-conflicts=false": ["apply a"],
    "--dry-run=false": ["apply a"],
    "--wait=false": ["apply a"],
    "--dry-run=true": [],
}


@pytest.mark.parametrize(("option", "writes"), SWITCHED.items(), ids=SWITCHED)
def test_flags_may_be_said_to_be_on_or_off(option: str, writes: list[str], bench: Bench) -> None:
    ended = bench.run("apply", bench.file(config_map("a")), option)
    assert (ended.code, ended.err, bench.writes()) == (0, "", writes)


@pytest.mark.parametrize(("option", "code"), [("--ignore-not-found=true", 0), ("--ignore-not-found", 0), ("--ignore-not-found=false", 2)])
def test_what_is_not_there_may_be_fine(option: str, code: int, bench: Bench) -> None:
    assert bench.run("delete", bench.file(config_map("a")), option).code == code


@pytest.mark.parametrize("option", ["--ignore-not-found", "--ignore-not-found=true"])
def test_a_tree_that_is_not_there_may_be_fine(option: str, bench: Bench) -> None:
    bench.define_ours()
    ended = bench.run("get", "tree", "nothing", option)
    assert (ended.code, ended.out, ended.err) == (0, "", "")


def test_groups_of_nobody_are_refused(bench: Bench) -> None:
    ended = bench.run("diff", bench.file(config_map("a")), "--as-group", "admins")
    assert ended.code == 2
    assert "--as-group requires --as, the user to impersonate." in ended.err


OPTIONS = ["--recursive", "--server", "--selector", "--dry-run", "--prune", "--force-conflicts", "-R"]
MEANT = {
    "--server-sid": ["--server"],
    "--server-dry-run": ["--server", "--dry-run"],
    "--recursiv": ["--recursive"],
    "--force-conflict": ["--force-conflicts"],
    "--dryrun": ["--dry-run"],
    "--force": ["--force-conflicts"],
    "--prune-allowlist": ["--prune"],
    "--overwrite": [],
    "--all": [],
    "-x": [],
}


@rows(("word", "meant"), MEANT.items(), ids=MEANT)
def test_a_misspelt_option_is_told_what_it_is_near_to(word: str, meant: list[str]) -> None:
    assert sorted(nearest(word, OPTIONS)) == sorted(meant)


def test_what_click_itself_finds_unlike_is_suggested_too() -> None:
    ended = run("apply", str(ROOT / "examples" / "minimal.yaml"), "--prune-allowlist=core/v1/ConfigMap")
    assert ended.err.endswith("Error: No such option '--prune-allowlist'. Did you mean '--prune'?\n")


def test_an_option_that_is_near_to_nothing_is_said_without_a_guess() -> None:
    ended = run("compile", str(ROOT / "examples" / "minimal.yaml"), "--server-side")
    assert ended.code == 2
    assert ended.err.endswith("Error: No such option '--server-side'.\n")
