"""Which nodes a pod may run on."""

from __future__ import annotations

from typing import Any

import pytest

from grove_compiler.fit.cluster import ClusterNode, Taint
from grove_compiler.fit.eligibility import Requirements
from tests.suite.rows import rows

NODE = ClusterNode("n1", {"disk": "ssd", "gpus": "8", "zone": "a"})


def affinity(*terms: dict[str, Any]) -> dict[str, Any]:
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}}}


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def may_run(spec: dict[str, Any], node: ClusterNode = NODE) -> bool:
    return not Requirements(spec).objection(node)


@rows(
    ("spec", "expected"),
    [
        ({}, True),
        ({"nodeSelector": {"disk": "ssd"}}, True),
        ({"nodeSelector": {"disk": "hdd"}}, False),
        ({"nodeSelector": {"absent": ""}}, False),
        ({"nodeName": "n1"}, True),
        ({"nodeName": "n2"}, False),
        (affinity(expression("zone", "In", "a", "b")), True),
        (affinity(expression("zone", "In", "b")), False),
        (affinity(expression("absent", "In", "b")), False),
        (affinity(expression("zone", "NotIn", "b")), True),
        (affinity(expression("zone", "NotIn", "a")), False),
        (affinity(expression("absent", "NotIn", "a")), True),
        (affinity(expression("zone", "Exists")), True),
        (affinity(expression("absent", "Exists")), False),
        (affinity(expression("absent", "DoesNotExist")), True),
        (affinity(expression("zone", "DoesNotExist")), False),
        (affinity(expression("gpus", "Gt", "4")), True),
        (affinity(expression("gpus", "Gt", "8")), False),
        (affinity(expression("gpus", "Lt", "9")), True),
        (affinity(expression("zone", "Gt", "4")), False),
        (affinity(expression("gpus", "Lt", "x")), False),
        (affinity(expression("gpus", "Resembles", "8")), False),
        (affinity(expression("zone", "In", "b"), expression("disk", "Exists")), True),
        (affinity(), False),
        (affinity({}), False),
        (affinity({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}), True),
        (affinity({"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["n1"]}]}), False),
        ({"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{}]}}}, True),
    ],
)
def test_a_node_must_match_name_selector_and_required_affinity(spec: dict[str, Any], expected: bool) -> None:
    assert may_run(spec) is expected


def test_the_expressions_of_one_term_must_all_match() -> None:
    both = {"matchExpressions": [{"key": "disk", "operator": "Exists"}, {"key": "absent", "operator": "Exists"}]}
    assert not may_run(affinity(both))


TAINT = Taint("gpu", "yes", "NoSchedule")


@rows(
    ("toleration", "expected"),
    [
        ({"key": "gpu", "operator": "Exists"}, True),
        ({"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}, True),
        ({"key": "gpu", "operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "gpu", "value": "yes"}, True),
        ({"key": "gpu", "operator": "Equal", "value": "no"}, False),
        ({"key": "cpu", "operator": "Exists"}, False),
        ({"operator": "Exists"}, True),
        ({}, False),
        ({"key": "gpu", "operator": "Whatever"}, False),
    ],
)
def test_a_taint_keeps_pods_away_that_do_not_tolerate_it(toleration: dict[str, Any], expected: bool) -> None:
    node = ClusterNode("n1", taints=[TAINT])
    assert not may_run({}, node)
    assert may_run({"tolerations": [toleration]}, node) is expected


@pytest.mark.parametrize(("operator", "expected"), [("Gt", True), ("Lt", False)])
def test_a_toleration_may_compare_numbers(operator: str, expected: bool) -> None:
    node = ClusterNode("n1", taints=[Taint("sla", "950", "NoSchedule")])
    assert may_run({"tolerations": [{"key": "sla", "operator": operator, "value": "900"}]}, node) is expected


def test_a_taint_that_only_prefers_keeps_nobody_away() -> None:
    assert may_run({}, ClusterNode("n1", taints=[Taint("gpu", "", "PreferNoSchedule")]))


def test_a_cordoned_node_takes_only_pods_that_tolerate_it() -> None:
    node = ClusterNode("n1", unschedulable=True)
    assert str(Requirements({}).objection(node)) == "unschedulable"
    assert may_run({"tolerations": [{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}]}, node)


@pytest.mark.parametrize(
    ("spec", "node", "words"),
    [
        ({"nodeName": "n2"}, NODE, "other than the node n2"),
        ({"nodeSelector": {"disk": "hdd"}}, NODE, "without the label disk=hdd"),
        (affinity(), NODE, "outside the required node affinity"),
        ({}, ClusterNode("n", taints=[TAINT]), "with the taint gpu=yes:NoSchedule"),
        ({}, ClusterNode("n", taints=[Taint("gpu", "", "NoExecute")]), "with the taint gpu:NoExecute"),
    ],
)
def test_an_objection_says_why(spec: dict[str, Any], node: ClusterNode, words: str) -> None:
    assert str(Requirements(spec).objection(node)) == words


@rows("value", [3, "text", [1], [[]], {"a": 1}])
@rows("field", ["nodeSelector", "tolerations", "affinity"])
def test_odd_shapes_raise_nothing(field: str, value: Any) -> None:
    assert str(Requirements({field: value}).objection(NODE))
