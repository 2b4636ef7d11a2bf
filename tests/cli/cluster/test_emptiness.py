"""What is left of a variable that nobody set, or of an input that came out empty, deletes nothing and goes nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from .in_memory import Bench, config_map

EMPTY = "the value is empty, perhaps from an unset variable"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A set of two members."""
    bench = Bench(tmp_path)
    ended = bench.run("apply", bench.file(config_map("a"), config_map("b")), "--prune", "--applyset", "web", "-n", "shop")
    assert ended.code == 0, ended.err
    bench.writes()
    return bench


@pytest.mark.parametrize(
    "arguments",
    [
        ("apply", "--force-conflicts="),
        ("apply", "--field-manager="),
        ("apply", "--applyset=web", "--prune", "--prune-limit="),
        ("apply", "--applyset=web", "--prune", "--prune-limit", ""),
        ("apply", "--applyset=web", "--prune", "--approve="),
        ("apply", "--applyset="),
        ("apply", "--namespace="),
        ("apply", "-n", ""),
        ("apply", "--context="),
        ("apply", "--kubeconfig="),
        ("apply", "--selector="),
        ("apply", "--kube-version="),
        ("plan", "--applyset=web", "--prune", "--prune-limit="),
        ("diff", "--applyset=web", "--prune", "--prune-limit="),
        ("delete", "--applyset="),
        ("delete", "-l", ""),
        ("delete", "-n", ""),
        ("delete", "--context", ""),
        ("delete", "--kubeconfig", ""),
        ("delete", "--field-manager="),
        ("delete", "--timeout="),
        ("delete", "--cascade="),
        ("delete", "--dry-run="),
        ("adopt", "--from="),
        ("adopt", "--from=helm", "--field-manager="),
    ],
)
def test_an_empty_value_is_not_an_option_that_was_left_out(bench: Bench, arguments: tuple[str, ...]) -> None:
    ended = bench.run(*arguments, bench.file(config_map("a"), config_map("c")))
    assert (ended.code, ended.out, bench.writes()) == (2, "", [])
    assert EMPTY in ended.err or arguments[1] in ("--timeout=", "--cascade=", "--dry-run="), ended.err


@pytest.mark.parametrize("option", ["--rules=", "--config=", "-f="])
def test_an_empty_name_of_a_file_is_refused(bench: Bench, option: str) -> None:
    name, _, value = option.partition("=")
    ended = bench.run("apply", bench.file(config_map("a")), "-n", "shop", "--applyset=web", "--prune", name, value)
    assert (ended.code, "the name of a file is empty" in ended.err, bench.writes()) == (2, True, [])


@pytest.mark.parametrize("command", ["apply", "plan", "diff"])
@pytest.mark.parametrize(
    "stdin",
    [b"", b"---\n", b"# nothing\n", b'{"apiVersion": "v1", "kind": "List", "items": []}', b"apiVersion: v1\nkind: List\nitems: []\n"],
)
def test_an_input_without_objects_is_no_wish_that_all_members_go(bench: Bench, command: str, stdin: bytes) -> None:
    ended = bench.run(command, "-", "-n", "shop", "--applyset=web", "--prune", stdin=stdin)
    assert (ended.code, ended.out, bench.writes()) == (2, "", [])
    assert "there are no objects in -" in ended.err or "it contains no manifest" in ended.err


@pytest.mark.parametrize("command", ["apply", "plan", "diff"])
def test_what_a_selector_leaves_out_is_not_pruned(bench: Bench, command: str) -> None:
    ended = bench.run(command, bench.file(config_map("a"), config_map("b")), "-l", "app=web", "--applyset=web", "--prune")
    assert (ended.code, "--prune and -l are mutually exclusive" in ended.err, bench.writes()) == (2, True, [])


def test_a_selector_may_stand_beside_a_set_that_is_not_pruned(bench: Bench) -> None:
    labelled = config_map("b")
    labelled["metadata"]["labels"] = {"app": "web"}
    ended = bench.run("apply", bench.file(config_map("c"), labelled), "-l", "app=web", "--applyset=web", "-n", "shop")
    assert (ended.code, ended.out) == (0, "configmap/b configured\n")
