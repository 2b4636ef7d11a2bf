"""`-o mermaid`: a flowchart for Markdown."""

from __future__ import annotations

import html
import re

from hypothesis import given
from hypothesis import strategies as st

from grove_cli.render.as_mermaid import PLAIN, as_mermaid, escaped
from grove_compiler.graph.graph import CompiledGraph

from .sample import for_people, node, ref, workload

LABEL = re.compile(r'"([^"]*)"')


def lines(graph: CompiledGraph, hidden: int = 0) -> list[str]:
    return as_mermaid(for_people(graph), hidden).splitlines()


def shown(label: str) -> list[str]:
    """The lines of a label as a browser shows them: Mermaid turns `#1;` into `&#1;`."""
    return [html.unescape(part.replace("#", "&#")) for part in label.split("<br/>")]


def labels(graph: CompiledGraph) -> list[list[str]]:
    return [shown(label) for line in lines(graph) for label in LABEL.findall(line)]


def test_every_object_is_a_node_with_kind_and_name() -> None:
    graph = workload()
    found = labels(graph)
    assert all([each.object["kind"], each.object["metadata"]["name"]] in found for each in graph.nodes)


def test_levels_and_gangs_are_subgraphs() -> None:
    titles = [shown(LABEL.findall(line)[0]) for line in lines(workload()) if "subgraph" in line]
    keys = "topology.kubernetes.io/rack required, kubernetes.io/hostname preferred"
    assert titles == [["declared"], ["step 1"], ["gang demo-0", keys], ["gang demo-0-model-0", keys]]


def test_every_subgraph_ends() -> None:
    text = lines(workload(replicas=2))
    assert sum("subgraph" in line for line in text) == sum(line.strip() == "end" for line in text)


def test_owners_are_solid_lines_and_order_dotted_ones() -> None:
    graph = CompiledGraph([node("A", "a", "a", None), node("B", "b", "b", ref("A", "a")), node("C", "c", "c", None)], {"c": [("b", 1)]})
    assert [line.strip() for line in lines(graph) if "-" in line and "subgraph" not in line] == ["n0 --> n1", "n1 -.-> n2"]


def test_many_to_many_goes_by_way_of_a_point() -> None:
    nodes = [node("A", f"a{i}", "a", None) for i in range(3)] + [node("B", f"b{i}", "b", None) for i in range(3)]
    assert lines(CompiledGraph(nodes, {"b": [("a", 1)]}))[-1].strip() == "n0 & n1 & n2 -.- j0(( )) -.-> n3 & n4 & n5"


def test_topology_and_domains_are_colours() -> None:
    styles = [line.split()[1] for line in lines(workload()) if line.strip().startswith("style ")]
    assert [style for style in styles if style[0] == "b"] == ["b2", "b3"]
    assert len([style for style in styles if style[0] == "n"]) == 14
    assert not [line for line in lines(workload(domains=False)) if "style" in line]


def test_a_comment_counts_what_is_not_drawn() -> None:
    assert lines(workload(), hidden=7)[1].strip() == "%% 7 similar objects are counted, not drawn; --all draws them"
    assert not [line for line in lines(workload()) if "%%" in line]


def test_a_comment_warns_of_what_mermaid_refuses_to_draw() -> None:
    comments = [line for line in lines(workload(replicas=9, members=9, worker_pods=9)) if "%%" in line]
    assert "maxEdges (500)" in comments[0]


@given(st.text(st.characters(exclude_categories=["Cc", "Cs", "Cn", "Co"])))
def test_an_escaped_text_is_shown_as_it_was(text: str) -> None:
    assert shown(escaped(text)) == [text]


@given(st.text())
def test_an_escaped_text_has_nothing_that_means_something(text: str) -> None:
    assert set(re.sub(r"#[0-9]+;", "", escaped(text))) <= PLAIN
    assert not PLAIN & set("\"<>&#;`|{}[]\\%~\n\r\t$@!*'")


@given(st.text(st.characters(exclude_categories=[]), min_size=1), st.text(st.characters(exclude_categories=[]), min_size=1))
def test_no_name_changes_the_structure(kind: str, name: str) -> None:
    def structure(graph: CompiledGraph) -> str:
        return LABEL.sub('""', "\n".join(lines(graph)))

    assert structure(CompiledGraph([node(kind, name)], {})) == structure(CompiledGraph([node("Service", "plain")], {}))
