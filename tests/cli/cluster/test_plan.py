"""`grove plan`, and carrying out what it kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from .in_memory import Bench, config_map, deployment


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_a_plan_says_what_would_be_done(bench: Bench) -> None:
    ended = bench.run("plan", bench.file(config_map("a")))
    assert ended == (0, "wave 1\n  created     ConfigMap/shop/a\n\nPlan: 1 created\n", "")
    assert bench.writes() == []


def test_a_plan_with_what_would_not_be_done_is_an_error_and_shows_it(bench: Bench) -> None:
    bench.cluster.seed(config_map("c", x="theirs"), manager="helm")
    ended = bench.run("plan", bench.file(config_map("c", x="ours")))
    assert (ended.code, "held        ConfigMap/shop/c  helm (Update" in ended.out) == (2, True)


@pytest.mark.parametrize("command", [("diff",), ("plan",), ("apply", "--dry-run"), ("apply", "--dry-run=server"), ("apply",)])
def test_a_namespace_that_is_missing_is_an_error_of_every_command(bench: Bench, command: tuple[str, ...]) -> None:
    ended = bench.run(*command, bench.file(config_map("a", "nowhere")))
    assert (ended.code, "created" in ended.out, "failed" in ended.out + ended.err) == (2, False, True)


def kept(bench: Bench, *names: str) -> str:
    path = str(bench.folder / "change.plan")
    assert bench.run("plan", bench.file(*(config_map(name, x="1") for name in names)), "-o", path).code == 0
    return path


def test_a_plan_that_was_kept_is_carried_out(bench: Bench) -> None:
    ended = bench.run("apply", "--plan", kept(bench, "a", "b"))
    assert ended == (0, "configmap/a created\nconfigmap/b created\n", "")
    assert bench.find("ConfigMap", "a")["data"] == {"x": "1"}


def test_a_plan_that_no_longer_holds_is_refused_with_every_reason(bench: Bench) -> None:
    path = kept(bench, "a", "b", "c")
    bench.cluster.seed(config_map("a"), config_map("b"))
    bench.writes()
    ended = bench.run("apply", "--plan", path)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.splitlines() == [f"grove: {path}: is no longer valid: ConfigMap/shop/{name} exists now" for name in "ab"]
    assert bench.writes() == []


def test_reasons_why_a_plan_no_longer_holds_are_folded(bench: Bench) -> None:
    names = [f"a{number}" for number in range(9)]
    path = kept(bench, *names)
    bench.cluster.seed(*map(config_map, names))
    assert bench.run("apply", "--plan", path).err.splitlines()[3:] == ["grove: and 6 more: exists now"]


def test_what_was_planned_to_fail_is_not_told_as_if_it_were_so_now(bench: Bench) -> None:
    path = str(bench.folder / "change.plan")
    bench.run("plan", bench.file(config_map("a", "nowhere")), "-o", path)
    bench.cluster.seed({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "nowhere"}})
    ended = bench.run("apply", "--plan", path)
    said = "was planned to fail: namespace 'nowhere' does not exist; create a new plan if this is fixed"
    assert ended == (2, "", f"grove: ConfigMap/nowhere/a: failed: {said}\n")


def test_a_plan_of_another_input_is_refused(bench: Bench) -> None:
    path = kept(bench, "a")
    ended = bench.run("apply", "--plan", path, bench.file(config_map("z")))
    assert (ended.code, ended.out, "a different input" in ended.err) == (2, "", True)


def test_a_plan_with_secrets_needs_the_files_again(bench: Bench) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "shop"}, "data": {"key": "aHVudGVyMg=="}}
    path, file = str(bench.folder / "change.plan"), bench.file(secret)
    bench.run("plan", file, "-o", path)
    assert "aHVudGVyMg" not in Path(path).read_text()
    assert "pass the input again" in bench.run("apply", "--plan", path).err
    assert bench.run("apply", "--plan", path, file).out == "secret/s created\n"


@pytest.mark.parametrize(("content", "message"), [("{", "not a saved plan"), ("{}", "version"), ("[1]", "version")])
def test_what_is_no_plan_is_refused(bench: Bench, content: str, message: str) -> None:
    path = bench.folder / "bad.plan"
    path.write_text(content)
    ended = bench.run("apply", "--plan", str(path))
    assert (ended.code, ended.out, message in ended.err) == (2, "", True)
    assert ended.err.startswith(f"grove: {path}: ")


def test_a_plan_without_an_end_is_not_read_to_its_end(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grove_cli.cluster.apply.run.MAX_PLAN", 1 << 20)
    assert bench.run("apply", "--plan", "/dev/zero") == (2, "", "grove: /dev/zero: larger than 1 MiB, the limit of saved plans\n")


def test_a_plan_that_is_not_there_is_one_line(bench: Bench) -> None:
    assert bench.run("apply", "--plan", "none.plan") == (2, "", "grove: none.plan: no such file or directory\n")


# Sets.

WEB = ("--applyset", "web", "--prune", "-n", "shop")


@pytest.fixture
def pair(bench: Bench) -> Bench:
    """A set of `a` and `b`."""
    bench.run("apply", *WEB, bench.file(config_map("a"), config_map("b")))
    bench.writes()
    return bench


def test_a_plan_shows_what_would_be_pruned(pair: Bench) -> None:
    ended = pair.run("plan", *WEB, pair.file(config_map("a")))
    assert ended == (0, "wave 2\n  pruned      ConfigMap/shop/b  is no longer in the ApplySet\n\nPlan: 1 unchanged, 1 pruned\n", "")
    assert pair.writes() == []


def test_a_plan_that_was_kept_prunes(pair: Bench) -> None:
    path = str(pair.folder / "change.plan")
    pair.run("plan", *WEB, pair.file(config_map("a")), "-o", path)
    assert pair.run("apply", "--plan", path) == (0, "configmap/a unchanged\nconfigmap/b pruned\n", "")


def test_a_plan_that_prunes_is_refused_once_the_set_has_changed(pair: Bench) -> None:
    path = str(pair.folder / "change.plan")
    pair.run("plan", *WEB, pair.file(config_map("a")), "-o", path)
    pair.run("apply", "--applyset", "web", "-n", "shop", pair.file(config_map("c")))
    ended = pair.run("apply", "--plan", path)
    reason = "ConfigMap/shop/c is a member of the ApplySet that the plan does not contain"
    assert ended == (2, "", f"grove: {path}: is no longer valid: {reason}\n")


def test_deletes_that_are_held_come_with_what_approves_them(pair: Bench) -> None:
    limited = ("plan", *WEB, "--prune-limit", "0", pair.file(config_map("a")))
    ended = pair.run(*limited)
    assert ended.err.startswith("grove: deletions exceed the limit and are held")
    assert "1 unchanged, 1 pruned" in pair.run(*limited, "--approve", ended.err.split()[-1]).out


def test_a_set_is_given_when_planning(bench: Bench) -> None:
    ended = bench.run("apply", "--plan", "x", "--applyset", "web")
    assert (ended.code, "pass --applyset to `grove plan`" in ended.err) == (2, True)


@pytest.mark.parametrize(
    "command", [("diff",), ("diff", "-o", "json"), ("plan",), ("apply", "--dry-run"), ("apply",), ("apply", "-o", "json")]
)
def test_every_command_names_its_own_option_for_the_way_by_force(bench: Bench, command: tuple[str, ...]) -> None:
    bench.cluster.seed(config_map("c", x="theirs"), manager="helm")
    ended = bench.run(*command, bench.file(config_map("c", x="ours")))
    assert ("--force-conflicts=helm" in ended.out + ended.err, "(force)" in ended.out + ended.err) == (True, False)


def planned_in(bench: Bench, namespace: str) -> tuple[str, str]:
    """A plan for an object that names no namespace, and its file."""
    path, file = str(bench.folder / "change.plan"), bench.file(config_map("a", "", x="1"))
    assert bench.run("plan", file, "-n", namespace, "-o", path).code == 0
    return path, file


def test_another_namespace_beside_a_plan_is_an_error(bench: Bench) -> None:
    path, _ = planned_in(bench, "shop")
    ended = bench.run("apply", "--plan", path, "-n", "default")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == f"grove: {path}: was planned for the namespace shop, not for -n default; create a new plan\n"
    assert bench.writes() == []


@pytest.mark.parametrize("options", [(), ("-n", "shop")], ids=["none", "its own"])
def test_the_files_of_a_plan_are_read_in_its_namespace(bench: Bench, options: tuple[str, ...]) -> None:
    path, file = planned_in(bench, "shop")
    assert bench.run("apply", "--plan", path, file, *options) == (0, "configmap/a created\n", "")
    assert bench.find("ConfigMap", "a")


@pytest.mark.parametrize("option", ["--field-manager=me", "--force-conflicts", "--force-conflicts=helm"])
def test_what_a_plan_has_answered_is_not_asked_again(bench: Bench, option: str) -> None:
    path, _ = planned_in(bench, "shop")
    ended = bench.run("apply", "--plan", path, option)
    assert (ended.code, f"{option.partition('=')[0]} is part of the plan: pass it to `grove plan`" in ended.err) == (2, True)
    assert bench.writes() == []


def test_a_plan_of_another_cluster_is_refused(bench: Bench, tmp_path: Path) -> None:
    other = Bench(tmp_path)
    for number, one in enumerate((bench, other)):
        one.cluster.seed({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system", "uid": f"cluster-{number}"}})
    path, _ = planned_in(bench, "shop")
    ended = other.run("apply", "--plan", path)
    assert (ended.code, ended.out, "was created for another cluster" in ended.err, other.writes()) == (2, "", True, [])


def test_a_plan_may_be_waited_for(bench: Bench) -> None:
    path, file = str(bench.folder / "change.plan"), bench.file(deployment("web"))
    bench.run("plan", file, "-o", path)
    ended = bench.run("apply", "--plan", path, "--wait=1s")
    assert (ended.code, ended.out) == (2, "deployment.apps/web created\n")
    assert "not ready after 1 s" in ended.err
