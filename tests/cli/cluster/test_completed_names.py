"""What a shell offers as names: those in the cluster, and never a word of trouble."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.shell_completion import BashComplete

from grove_cli.commands import grove

from .in_memory import Bench
from .test_get_lists import OBJECTS


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    bench.define_ours()
    bench.cluster.seed(*OBJECTS)
    return bench


def offered(words: str) -> list[str]:
    """What is offered in the place of the last word, which may be empty."""
    *before, incomplete = words.split(" ")
    return [item.value for item in BashComplete(grove, {}, "grove", "_GROVE_COMPLETE").get_completions(before, incomplete)]


OFFERED = {
    "get sets -n shop ": ["chat", "code", "sft"],
    "get sets -n shop c": ["chat", "code"],
    "get sets -n shop chat c": ["code"],
    "get sets -n default ": [],
    "get gangs -n shop ": ["sft-0"],
    "describe -n shop s": ["sft"],
    "top -n shop s": ["sft"],
    "why -n shop s": ["sft"],
    "get tree -n shop s": ["sft"],
    "why -n shop pcs/s": ["pcs/sft"],
    "top -n shop pg/": [],
    "describe -n shop pg/": ["pg/sft-0"],
    "get tree -n shop podgang/s": ["podgang/sft-0"],
    "events -n shop nonsense/": [],
    "events -n shop s": ["sft"],
    "job suspend -n shop s": ["sft"],
    "why -n s": ["shop"],
    "get sets -n ": ["default", "shop"],
    "rollout status chat --namespace d": ["default"],
    "apply -n s": ["shop"],
    "get sets -o j": ["json", "jsonpath-as-json=", "jsonpath="],
}


@pytest.mark.parametrize(("words", "names"), OFFERED.items(), ids=OFFERED)
def test_names_that_are_there_are_offered(words: str, names: list[str], bench: Bench) -> None:
    with bench.connected():
        assert sorted(offered(words)) == sorted(names)


def test_contexts_are_those_of_the_kubeconfig(tmp_path: Path) -> None:
    kubeconfig = tmp_path / "config"
    kubeconfig.write_text("{contexts: [{name: prod, context: {}}, {name: staging, context: {}}]}")
    assert offered(f"get sets --kubeconfig {kubeconfig} --context ") == ["prod", "staging"]
    assert offered(f"apply --kubeconfig {kubeconfig} --context s") == ["staging"]


def test_files_are_the_shells_to_offer() -> None:
    for words in ("why --kubeconfig ", "describe chat --config ", "compile --config "):
        found = BashComplete(grove, {}, "grove", "_GROVE_COMPLETE").get_completions(words.split(" ")[:-1], "")
        assert [item.type for item in found] == ["file"], words


@pytest.mark.parametrize(
    "words", ["nosuch ", "nosuch --", "rollout nosuch ", "get nosuch -", "get sets --nosuch=1 ", "why -n A_b ", "rules nosuch "]
)
def test_after_a_mistake_nothing_is_said(
    words: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    offered(words)
    assert capfd.readouterr() == ("", "")


def test_without_a_cluster_nothing_is_offered_and_nothing_is_said(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert offered(f"get sets --kubeconfig {tmp_path}/none ") == []
    assert capfd.readouterr() == ("", "")
