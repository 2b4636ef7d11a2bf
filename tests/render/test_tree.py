"""`-o tree`: owners and what they own, for a terminal."""

from __future__ import annotations

import pytest

from grove_cli.render.as_tree import as_tree
from grove_cli.terminal import Terminal, fitted
from grove_compiler.graph.graph import CompiledGraph

from .sample import node, picture, ref, workload

FILE = Terminal(colours=False, width=160, wraps=False)


def tree(graph: CompiledGraph, terminal: Terminal = FILE, whole: bool = False) -> list[str]:
    text = as_tree(picture(graph), terminal, whole)
    assert text.endswith("\n")
    return text.splitlines()


def names(lines: list[str]) -> list[str]:
    """Without what stands beside the names."""
    return [line.split("  step")[0].split("  declared")[0].rstrip() for line in lines]


def configs(*names: str, owner: str = "") -> list[object]:
    return [node("ConfigMap", name, owner=ref("Service", owner) if owner else None) for name in names]


def test_owned_objects_hang_below_their_owner() -> None:
    graph = CompiledGraph([node("Service", "a"), *configs("x", "y", owner="a"), node("Service", "b")], {})  # type: ignore[list-item]
    assert names(tree(graph)) == [
        "PodCliqueSet demo",
        "├─ Service a",
        "│  ├─ ConfigMap x",
        "│  └─ ConfigMap y",
        "└─ Service b",
    ]


def test_what_nobody_owns_is_a_tree_of_its_own() -> None:
    assert names(tree(CompiledGraph(configs("x", "y"), {}))) == ["ConfigMap x", "ConfigMap y"]  # type: ignore[arg-type]


def test_siblings_that_are_alike_are_counted() -> None:
    graph = CompiledGraph([node("Service", f"demo-{number}") for number in range(5)], {})
    assert names(tree(graph)) == ["PodCliqueSet demo", "├─ Service demo-0", "└─ … 4 more like it: demo-1 to demo-4"]


def test_siblings_that_own_different_things_are_not_alike() -> None:
    graph = CompiledGraph([*(node("Service", f"demo-{number}") for number in range(5)), *configs("x", owner="demo-3")], {})  # type: ignore[list-item]
    assert "├─ … 3 more like it: demo-1 to demo-4" in names(tree(graph))
    assert "└─ Service demo-3" in names(tree(graph))


def test_the_whole_tree_has_a_line_for_each_object() -> None:
    graph = workload(replicas=3, members=4, worker_pods=6)
    assert len(tree(graph, whole=True)) == len(graph.nodes) + 1


def test_beside_a_name_stand_step_gang_and_what_holds_it_together() -> None:
    (line,) = (line for line in tree(workload()) if "demo-0-model-0-worker  " in line and "PodClique " in line)
    assert line.partition("  step")[2].split(", ") == [
        " 2",
        "gang demo-0",
        "topology.kubernetes.io/rack required",
        "kubernetes.io/hostname required",
        "MNNVL domain demo-0-cd",
    ]


def test_a_constraint_is_said_once_on_the_way_down() -> None:
    lines = tree(workload(), whole=True)
    assert not [line for line in lines if "Pod " in line and " required" in line]
    assert [line.endswith("rack required, kubernetes.io/hostname preferred") for line in lines if "PodGang " in line] == [True, True]


def test_details_stand_in_one_column() -> None:
    lines = [line for line in tree(workload()) if "  step " in line]
    assert len({line.rindex("  step ") for line in lines}) == 1


def test_a_file_gets_no_escape_sequences() -> None:
    assert "\x1b" not in "".join(tree(workload()))


def test_a_terminal_gets_colours() -> None:
    assert "\x1b[2mPodCliqueSet\x1b[0m demo" in tree(workload(), FILE._replace(colours=True))[0]


def test_names_cannot_steer_the_terminal() -> None:
    graph = CompiledGraph([node("Evil\x1b[2J", "name\x1b]0;title\x07")], {})
    assert tree(graph)[1].startswith(r"└─ Evil\x1b[2J name\x1b]0;title\x07")


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    lines = tree(workload(replicas=2, members=4), Terminal(colours=False, width=width, wraps=True))
    assert max(map(len, lines)) <= width


def test_a_narrow_terminal_still_tells_names_apart() -> None:
    lines = tree(workload(), Terminal(colours=False, width=50, wraps=True), whole=True)
    shown = [line for line in lines if "Pod " in line]
    assert len(set(shown)) == len(shown)


def test_a_file_gets_whole_names() -> None:
    long = "x" * 300
    assert any(long in line for line in tree(CompiledGraph([node("Service", long)], {})))


@pytest.mark.parametrize(
    ("text", "width", "short"), [("abcdefghij", 10, "abcdefghij"), ("abcdefghij", 7, "abc…hij"), ("abcdefghij", 6, "abc…ij")]
)
def test_a_text_loses_its_middle(text: str, width: int, short: str) -> None:
    assert fitted(text, width) == short
