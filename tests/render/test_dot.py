"""`-o dot`: the graph for Graphviz."""

from __future__ import annotations

import html
import re
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_cli.render.as_dot import as_dot, quoted
from grove_compiler.graph.graph import CompiledGraph
from tests.suite.rows import rows

from .sample import for_people, node, ref, workload

STRING = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
LABEL = re.compile(r'label="((?:[^"\\]|\\.)*)"', re.DOTALL)


def text(graph: CompiledGraph, hidden: int = 0) -> str:
    return as_dot(for_people(graph), hidden)


def lines(graph: CompiledGraph) -> list[str]:
    return [line.strip() for line in text(graph).splitlines()]


def shown(string: str) -> list[str]:
    """The lines of a label as Graphviz draws them."""
    parts = re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], string, flags=re.DOTALL)
    return [html.unescape(part) for part in parts.split("\n")]


def labels(graph: CompiledGraph) -> list[list[str]]:
    return [shown(label) for label in LABEL.findall(text(graph))]


def test_every_object_is_a_node_with_kind_and_name() -> None:
    graph = workload()
    found = labels(graph)
    assert all([each.object["kind"], each.object["metadata"]["name"]] in found for each in graph.nodes)


def test_levels_and_gangs_are_clusters() -> None:
    titles = [shown(found) for found in re.findall(r"subgraph cluster_\d+ \{\s+label=" + STRING.pattern, text(workload(domains=False)))]
    assert titles == [["declared"], ["step 1"], ["gang demo-0"], ["gang demo-0-model-0"]]


def test_owners_are_solid_lines_and_order_dashed_ones() -> None:
    graph = CompiledGraph([node("A", "a", "a", None), node("B", "b", "b", ref("A", "a")), node("C", "c", "c", None)], {"c": [("b", 1)]})
    assert [line for line in lines(graph) if "->" in line] == ["n0 -> n1", "n1 -> n2 [style=dashed]"]


def test_many_to_many_goes_by_way_of_a_point() -> None:
    nodes = [node("A", f"a{i}", "a", None) for i in range(2)] + [node("B", f"b{i}", "b", None) for i in range(2)]
    assert lines(CompiledGraph(nodes, {"b": [("a", 1)]}))[-4:-1] == [
        "j0 [shape=point]",
        "{n0 n1} -> j0 [style=dashed, arrowhead=none]",
        "j0 -> {n2 n3} [style=dashed]",
    ]


def test_gangs_of_one_topology_key_have_one_colour() -> None:
    fills = re.findall(r'style="rounded,filled"; fillcolor="(#\w+)"', text(workload(replicas=2)))
    assert len(fills) == 4
    assert len(set(fills)) == 1


def test_each_domain_has_a_colour() -> None:
    fills = re.findall(r'fillcolor="(#\w+)", color=', text(workload(members=3)))
    assert len(set(fills)) == 3


def test_a_comment_counts_what_is_not_drawn() -> None:
    assert text(workload(), hidden=7).startswith("// 7 similar objects are counted, not drawn; --all draws them\ndigraph")
    assert text(workload()).startswith("digraph")


@given(st.text(st.characters(exclude_categories=["Cc", "Cs", "Cn", "Co"])))
def test_a_quoted_text_is_drawn_as_it_was(written: str) -> None:
    (string,) = STRING.fullmatch(quoted([written])).groups()  # type: ignore[union-attr]
    assert shown(string) == [written]


@given(st.lists(st.text(st.characters(exclude_categories=[])), min_size=1))
def test_a_quoted_text_is_one_string_on_one_line(written: list[str]) -> None:
    string = quoted(written)
    assert STRING.fullmatch(string)
    assert "\n" not in string
    string.encode()


@given(st.text(st.characters(exclude_categories=[])), st.text(st.characters(exclude_categories=[])))
def test_no_name_changes_the_structure(kind: str, name: str) -> None:
    def structure(graph: CompiledGraph) -> str:
        return STRING.sub('""', text(graph))

    assert structure(CompiledGraph([node(kind, name)], {})) == structure(CompiledGraph([node("Service", "plain")], {}))


@pytest.mark.skipif(not shutil.which("dot"), reason="Graphviz is not installed")
@rows("name", ["demo", 'a"b', "a\\", "&lt;b&gt;", "</svg>", "ü → 😀", "\\N\\G", "-->", "a\x00b"])
def test_graphviz_takes_any_name(name: str) -> None:
    drawn = subprocess.run(
        ["dot", "-Tplain"], input=text(CompiledGraph([node("Service", name)], {})).encode(), capture_output=True, check=False
    )
    assert (drawn.returncode, drawn.stderr) == (0, b"")
