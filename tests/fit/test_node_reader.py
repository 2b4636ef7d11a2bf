"""Nodes and the pods that run on them, as they are read from a file."""

from __future__ import annotations

from typing import Any

import pytest

from grove_compiler.fit.cluster import Taint
from grove_compiler.fit.node_reader import Nodes, read_nodes
from grove_compiler.source.reader import read_text
from tests.suite.rows import rows

NODE = """\
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {rack: r1}
spec:
  unschedulable: true
  taints:
    - {key: gpu, value: "yes", effect: NoSchedule}
status:
  allocatable: {cpu: 4, memory: 1Ki, pods: "10", nvidia.com/gpu: "8"}
"""


def read(text: str, own: set[tuple[str, str]] = frozenset()) -> Nodes:  # type: ignore[assignment]  # an empty set of pairs
    documents, problems = read_text(text, "nodes.yaml")
    assert problems == []
    return read_nodes(documents, own)


def codes(nodes: Nodes) -> list[tuple[str, str, int]]:
    return [(finding.code, finding.severity, finding.line) for finding in nodes.findings]


def pod(name: str = "p", host: str = "n1", phase: str = "Running", **labels: str) -> str:
    return f"""\
---
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: ml, labels: {labels}}}
spec:
  nodeName: {host}
  containers:
    - name: main
      ports: [{{containerPort: 80, hostPort: 80}}]
      resources: {{requests: {{cpu: 500m, nvidia.com/gpu: 2}}}}
status: {{phase: {phase}}}
"""


def test_a_node_has_labels_taints_and_what_it_offers() -> None:
    (node,) = read(NODE).cluster
    assert (node.name, node.labels, node.taints, node.unschedulable) == ("n1", {"rack": "r1"}, [Taint("gpu", "yes", "NoSchedule")], True)
    assert node.allocatable == {"cpu": 4000, "memory": 1024, "pods": 10, "nvidia.com/gpu": 8}
    assert node.has_gpus


def test_nothing_is_wrong_with_a_sound_node() -> None:
    assert codes(read(NODE)) == []


@pytest.mark.parametrize("head", ["kind: List\nitems:\n", "kind: NodeList\nitems:\n"])
def test_the_items_of_a_list_are_nodes(head: str) -> None:
    nodes = read(head + "  - {kind: Node, metadata: {name: a}, status: {allocatable: {pods: 1}}}\n  - {kind: Node, metadata: {}}\n")
    assert [node.name for node in nodes.cluster] == ["a"]
    assert codes(nodes) == [("node/no-name", "error", 4)]


def test_the_items_of_a_node_list_need_no_kind() -> None:
    assert [node.name for node in read("kind: NodeList\nitems: [{metadata: {name: a}, status: {allocatable: {pods: 1}}}]").cluster] == ["a"]


def test_a_running_pod_takes_what_it_asks_for() -> None:
    (node,) = read(NODE + pod() + pod("q")).cluster
    assert node.used == {"cpu": 1000, "nvidia.com/gpu": 4, "pods": 2}
    assert (node.free("cpu"), node.free("nvidia.com/gpu"), node.free("pods"), node.free("rdma/ib")) == (3000, 4, 8, 0)
    assert node.ports == {("0.0.0.0", "TCP", 80)}


@pytest.mark.parametrize("text", [pod(phase="Succeeded"), pod(phase="Failed"), pod(host="''")])
def test_a_pod_that_ended_or_has_no_node_takes_nothing(text: str) -> None:
    nodes = read(NODE + text)
    assert (nodes.cluster[0].used, nodes.findings) == ({}, [])


def test_a_pod_of_a_gang_that_is_asked_about_takes_nothing() -> None:
    text = NODE + pod(**{"grove.io/podgang": "demo-0"})
    nodes = read(text, {("ml", "demo-0")})
    assert nodes.cluster[0].used == {}
    assert read(text, {("other", "demo-0")}).cluster[0].used["pods"] == 1


def test_nodes_are_overfull_but_never_less_than_empty() -> None:
    (node,) = read(NODE + "".join(pod(f"p{number}") for number in range(6))).cluster
    assert node.free("nvidia.com/gpu") == 0


def test_pods_on_nodes_that_are_not_there_are_one_finding() -> None:
    nodes = read(NODE + pod("a", "elsewhere") + pod("b", "elsewhere"))
    (finding,) = nodes.findings
    assert (finding.code, finding.line) == ("node/pod-elsewhere", 17)
    assert finding.message == "2 pods run on nodes that are not in the file: a, b"


BAD = {
    "labels that are no map": ("metadata: {name: n1, labels: [a]}\nstatus: {allocatable: {pods: 1}}", ("node/labels", "error", 2)),
    "a label that is a number": ("metadata: {name: n1, labels: {rack: 7}}\nstatus: {allocatable: {pods: 1}}", ("node/labels", "error", 2)),
    "taints that are no list": (
        "metadata: {name: n1}\nspec: {taints: x}\nstatus: {allocatable: {pods: 1}}",
        ("node/taints", "error", 3),
    ),
    "a taint without effect": (
        "metadata: {name: n1}\nspec: {taints: [{key: a}]}\nstatus: {allocatable: {pods: 1}}",
        ("node/taints", "error", 3),
    ),
    "a quantity that is none": ("metadata: {name: n1}\nstatus:\n  allocatable: {pods: 1,\n    cpu: some}", ("node/quantity", "error", 5)),
    "no allocatable but a capacity": ("metadata: {name: n1}\nstatus: {capacity: {pods: 1}}", ("node/no-allocatable", "warning", 3)),
    "neither": ("metadata: {name: n1}", ("node/no-allocatable", "error", 2)),
    "no limit of pods": ("metadata: {name: n1}\nstatus: {allocatable: {cpu: 1}}", ("node/no-pod-limit", "warning", 3)),
    "no name": ("metadata: {name: 7}", ("node/no-name", "error", 2)),
}


@rows(("text", "finding"), BAD.values(), ids=BAD)
def test_what_is_wrong_with_a_node_is_told_with_its_line(text: str, finding: tuple[str, str, int]) -> None:
    assert codes(read(f"kind: Node\n{text}\n")) == [finding]


def test_a_capacity_stands_in_for_what_is_allocatable() -> None:
    assert read("kind: Node\nmetadata: {name: n1}\nstatus: {capacity: {pods: 3}}").cluster[0].allocatable == {"pods": 3}


def test_a_node_without_a_limit_of_pods_takes_as_many_as_a_kubelet() -> None:
    assert read("kind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: 1}}").cluster[0].allocatable["pods"] == 110


def test_a_pod_that_asks_for_no_quantity_is_an_error() -> None:
    nodes = read(NODE + pod().replace("500m", "lots"))
    assert [code for code, _, _ in codes(nodes)] == ["node/quantity"]


def test_other_kinds_are_ignored_with_a_word() -> None:
    nodes = read(NODE + "---\nkind: Nodes\nmetadata: {name: x}\n")
    (finding,) = nodes.findings
    assert (finding.code, finding.severity, finding.nearest) == ("node/ignored", "warning", "Node")


def test_ignored_objects_of_one_kind_are_one_finding() -> None:
    nodes = read(NODE + "---\nkind: Event\nmetadata: {name: x}\n" * 119)
    (finding,) = nodes.findings
    message = "119 objects of the kind Event are neither Nodes nor Pods and have no effect on the answer"
    assert (finding.message, finding.line) == (message, 13)


@pytest.mark.parametrize("text", ["just text", "[1, 2]", "metadata: {name: a}"])
def test_what_is_no_object_is_an_error(text: str) -> None:
    assert [code for code, _, _ in codes(read(text))] == ["node/not-an-object"]


def test_a_file_without_nodes_is_an_error() -> None:
    assert codes(read(pod(phase="Failed"))) == [("node/none", "error", 0)]


@rows("value", ["null", "7", "text", "[]", "{}", "[[]]", "{a: [1]}"])
@rows("field", ["metadata", "spec", "status"])
def test_odd_shapes_are_findings_and_raise_nothing(field: str, value: str) -> None:
    sound: dict[str, Any] = {"metadata": "{name: n1}", "spec": "{}", "status": "{allocatable: {pods: 1}}"}
    text = "".join(f"{key}: {shape}\n" for key, shape in {**sound, field: value}.items())
    nodes = read(f"kind: Node\n{text}")
    assert [code for code, _, _ in codes(nodes)] == {"metadata": ["node/no-name"], "spec": [], "status": ["node/no-allocatable"]}[field]
