"""What pods ask of nodes, in units that a scheduler counts in."""

from __future__ import annotations

from typing import Any

import pytest

from grove_compiler.kube.pod_request import amount, amounts, host_ports, request
from kube_objects.quantity import QuantityError
from tests.suite.rows import rows


def container(restart: str = "", limits: dict[str, Any] | None = None, **asked: Any) -> dict[str, Any]:
    return {"name": "c", "resources": {"requests": asked, "limits": limits or {}}, **({"restartPolicy": restart} if restart else {})}


@rows(
    ("resource", "text", "number"),
    [
        ("cpu", "2", 2000),
        ("cpu", "250m", 250),
        ("cpu", "0.1", 100),
        ("cpu", "100u", 1),
        ("cpu", 3, 3000),
        ("memory", "1Ki", 1024),
        ("memory", "1500m", 2),
        ("memory", "1e3", 1000),
        ("nvidia.com/gpu", "8", 8),
        ("nvidia.com/gpu", 8, 8),
        ("memory", "1e400", 2**63 - 1),
        ("cpu", "-1e400", 1 - 2**63),
    ],
)
def test_a_quantity_becomes_whole_units_rounded_up(resource: str, text: Any, number: int) -> None:
    assert amount(resource, text) == number


@rows("value", [None, True, [], {}, "many", ""])
def test_what_is_no_quantity_is_an_error(value: Any) -> None:
    with pytest.raises(QuantityError):
        amount("cpu", value)


def test_the_error_names_the_resource() -> None:
    with pytest.raises(QuantityError, match="memory: "):
        amounts({"memory": "8GB"})


@pytest.mark.parametrize("value", [None, 3, "text", []])
def test_amounts_of_what_is_no_map_are_empty(value: Any) -> None:
    assert amounts(value) == {}


CASES = {
    "containers are added up": ({"containers": [container(cpu="1"), container(cpu="2", memory="1Ki")]}, {"cpu": 3000, "memory": 1024}),
    "a limit stands in for a request": ({"containers": [container(limits={"nvidia.com/gpu": 4})]}, {"nvidia.com/gpu": 4}),
    "a request goes before its limit": ({"containers": [container(limits={"cpu": 4}, cpu=1)]}, {"cpu": 1000}),
    "a large init container is the peak": (
        {"initContainers": [container(cpu="5")], "containers": [container(cpu="2"), container(cpu="1")]},
        {"cpu": 5000},
    ),
    "a small init container costs nothing": ({"initContainers": [container(cpu="1")], "containers": [container(cpu="2")]}, {"cpu": 2000}),
    "a sidecar runs beside the containers": (
        {"initContainers": [container("Always", cpu="1")], "containers": [container(cpu="2")]},
        {"cpu": 3000},
    ),
    "an init container after a sidecar runs beside it": (
        {"initContainers": [container("Always", cpu="1"), container(cpu="4")], "containers": [container(cpu="2")]},
        {"cpu": 5000},
    ),
    "an init container before a sidecar does not": (
        {"initContainers": [container(cpu="4"), container("Always", cpu="1")], "containers": [container(cpu="2")]},
        {"cpu": 4000},
    ),
    "requests of the pod replace those of its containers": (
        {"resources": {"requests": {"cpu": "8"}}, "containers": [container(cpu="2", memory="1")]},
        {"cpu": 8000, "memory": 1},
    ),
    "overhead comes on top": ({"overhead": {"cpu": "250m"}, "containers": [container(cpu="1")]}, {"cpu": 1250}),
    "what is nought is not asked for": ({"containers": [container(cpu="0")]}, {}),
    "an empty spec asks for its place": ({}, {}),
    "odd shapes ask for nothing": ({"containers": [3, {"resources": []}], "initContainers": {}}, {}),
}


@rows(("spec", "asked"), CASES.values(), ids=CASES)
def test_a_pod_asks_for_what_the_scheduler_sets_aside(spec: dict[str, Any], asked: dict[str, int]) -> None:
    assert request(spec) == {**asked, "pods": 1}


def test_a_host_port_is_taken_from_the_node() -> None:
    spec = {"containers": [{"ports": [{"containerPort": 80, "hostPort": 8080}, {"containerPort": 81}]}]}
    assert host_ports(spec) == {("0.0.0.0", "TCP", 8080)}


def test_on_the_host_network_every_port_is_taken_from_the_node() -> None:
    spec = {"hostNetwork": True, "containers": [{"ports": [{"containerPort": 53, "protocol": "UDP", "hostIP": "10.0.0.1"}]}]}
    assert host_ports(spec) == {("10.0.0.1", "UDP", 53)}


def test_an_init_container_gives_its_port_back_and_a_sidecar_does_not() -> None:
    port = {"ports": [{"containerPort": 1, "hostPort": 1}]}
    assert host_ports({"initContainers": [port]}) == set()
    assert host_ports({"initContainers": [{**port, "restartPolicy": "Always"}]}) == {("0.0.0.0", "TCP", 1)}
