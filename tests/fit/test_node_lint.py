"""Findings about the labels and the state of nodes."""

from __future__ import annotations

import pytest

from grove_compiler.fit.gang import DomainKey, GangDemand
from grove_compiler.fit.node_lint import lint_nodes
from grove_compiler.fit.node_reader import read_nodes
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.source.reader import read_text

from .clusters import HOST, gang, podgroup

ZONE, BLOCK, RACK = (f"topology.kubernetes.io/{level}" for level in ("zone", "block", "rack"))


def node(name: str, offered: str = "pods: 9", state: str = "", spec: str = "", **labels: str) -> str:
    """One node in one line; `_` in labels stands for the prefix of topology labels."""
    own = {key.replace("_", "topology.kubernetes.io/"): value for key, value in labels.items()}
    rendered = ", ".join(f"{key}: '{value}'" for key, value in {HOST: name, **own}.items())
    conditions = f", conditions: [{{type: Ready, status: '{state}'}}]" if state else ""
    metadata, status = f"{{name: {name}, labels: {{{rendered}}}}}", f"{{allocatable: {{{offered}}}{conditions}}}"
    return f"--- {{kind: Node, metadata: {metadata}, spec: {{{spec}}}, status: {status}}}"


def findings(*texts: str, gangs: tuple[GangDemand, ...] = ()) -> list[Diagnostic]:
    documents, problems = read_text("\n".join(texts), "nodes.yaml")
    assert problems == []
    nodes = read_nodes(documents)
    return nodes.findings + lint_nodes(nodes.cluster, gangs)


def short(*texts: str, gangs: tuple[GangDemand, ...] = ()) -> list[tuple[str, str, int]]:
    return [(finding.code, finding.severity, finding.line) for finding in findings(*texts, gangs=gangs)]


def by(*labels: str) -> GangDemand:
    """A gang packed by these labels, from outside to inside."""
    outer, inner = [*labels, ""][:2]
    return gang(podgroup(1, pack=inner), pack=outer)


def test_sound_nodes_have_no_findings() -> None:
    nodes = [node("a", _zone="z", _block="b", _rack="r1"), node("b", _zone="z", _block="b", _rack="r2")]
    assert short(*nodes, gangs=(by(BLOCK, RACK),)) == []


def test_two_nodes_of_one_name_are_told_with_both_lines() -> None:
    (finding,) = findings(node("a"), node("b"), node("a"))
    assert (finding.code, finding.severity, finding.line) == ("node/duplicate-name", "error", 3)
    assert finding.message == "the node a is declared twice, first in nodes.yaml:1"
    assert finding.type == "Duplicate value"


def test_two_nodes_with_one_host_name_are_told_with_both_lines() -> None:
    (finding,) = findings(node("a"), node("b").replace(f"{HOST}: 'b'", f"{HOST}: 'a'"))
    assert (finding.code, finding.severity, finding.line) == ("node/duplicate-hostname", "error", 2)
    assert finding.message == "the node b has the host name a of the node a in nodes.yaml:1"


def test_a_label_that_gangs_name_and_no_node_has_is_an_error_with_the_nearest_label() -> None:
    (finding,) = findings(node("a", _rack="r"), gangs=(by("topology.kubernetes.io/rak"),))
    assert (finding.code, finding.severity, finding.nearest) == ("node/no-such-label", "error", RACK)
    assert finding.message == "no node has the label topology.kubernetes.io/rak, which gangs or their topology need"


def test_nodes_without_a_label_that_gangs_name_are_one_finding() -> None:
    (finding,) = findings(node("a", _rack="r"), *(node(name) for name in "bcdef"), gangs=(by(RACK),))
    assert (finding.code, finding.severity, finding.line) == ("node/missing-label", "warning", 2)
    assert finding.message == f"5 nodes (b, c, d and 2 more) of 6 have no label {RACK}"
    assert finding.hint == "pods that are packed by it cannot run there"


def test_gpu_nodes_without_a_topology_label_are_told_even_when_no_gang_names_it() -> None:
    (finding,) = findings(node("a", _rack="r"), node("b", "pods: 9, nvidia.com/gpu: 8"), node("c"))
    assert finding.message == f"1 GPU node (b) of 3 has no label {RACK}"


def test_nodes_without_gpus_need_no_topology_label_that_no_gang_names() -> None:
    assert short(node("a", _rack="r"), node("b")) == []


def test_an_empty_label_makes_one_domain_of_strangers() -> None:
    assert short(node("a", _rack=""), node("b", _rack="r")) == [("node/empty-label", "warning", 1)]


def test_a_rack_in_two_blocks_is_told_with_a_node_of_each() -> None:
    (finding,) = findings(node("a", _block="b0", _rack="r"), node("b", _block="b1", _rack="r"))
    assert (finding.code, finding.severity, finding.line) == ("node/not-nested", "warning", 2)
    assert finding.message == f"{RACK}=r lies in two domains of {BLOCK}: b0 (node a) and b1 (node b)"
    assert finding.path == f"metadata.labels[{RACK}]"


def test_labels_of_other_prefixes_should_nest_when_a_gang_nests_them() -> None:
    nodes = [node("a", big="x", small="s"), node("b", big="y", small="s")]
    assert short(*nodes) == []
    assert short(*nodes, gangs=(by("big", "small"),)) == [("node/not-nested", "warning", 2)]


def test_the_levels_of_a_topology_should_nest_in_its_order() -> None:
    packed = gang(podgroup(1))
    packed.scope.required = DomainKey(("big",), ("big", "small"))
    assert short(node("a", big="x", small="s"), node("b", big="y", small="s"), gangs=(packed,)) == [("node/not-nested", "warning", 2)]


def test_many_split_values_are_counted_in_the_last_finding() -> None:
    nodes = [node(f"n{side}{rack}", _block=f"b{side}", _rack=f"r{rack}") for rack in range(9) for side in range(2)]
    found = findings(*nodes)
    assert len(found) == 5
    assert found[-1].message.endswith(f"; 4 more values of {RACK} do, too")


def test_the_labels_of_the_shipped_operators_test_cluster_do_not_nest() -> None:
    """28 nodes, block i÷20 and rack i÷7: rack 2 straddles both blocks (users' notes §5.3)."""
    nodes = [node(f"n{number}", _zone="0", _block=str(number // 20), _rack=str(number // 7)) for number in range(28)]
    (finding,) = findings(*nodes)
    assert finding.message == f"{RACK}=2 lies in two domains of {BLOCK}: 0 (node n14) and 1 (node n20)"


def test_a_node_that_is_not_ready_and_not_tainted_is_told() -> None:
    assert short(node("a", state="Unknown"), node("b", state="True")) == [("node/not-ready", "warning", 1)]


@pytest.mark.parametrize("spec", ["unschedulable: true", "taints: [{key: node.kubernetes.io/not-ready, effect: NoExecute}]"])
def test_a_node_that_pods_keep_off_anyway_may_be_unready(spec: str) -> None:
    assert short(node("a", state="False", spec=spec)) == []


def test_nodes_whose_pods_ask_for_more_than_there_is_are_told() -> None:
    pod = "--- {kind: Pod, metadata: {name: p}, spec: {nodeName: a, containers: [{resources: {requests: {cpu: 2}}}]}}"
    assert short(node("a", "pods: 9, cpu: 1"), pod) == [("node/overcommitted", "warning", 1)]
