"""Which containers ask for GPUs, and where they stand."""

from __future__ import annotations

from typing import Any

import pytest

from grove_compiler.model.spec.pod_spec import pod_spec_path
from grove_compiler.model.spec.podcliqueset import PodCliqueSet
from tests.suite.rows import rows

from .sets import clique, expand, find_clique, group, pcs


def asking(name: str, amount: Any, part: str = "limits", resource: str = "nvidia.com/gpu") -> dict[str, Any]:
    return {"name": name, "image": "x", "resources": {part: {resource: amount}}}


def read(**pod_spec: Any) -> list[tuple[str, str, str]]:
    template = PodCliqueSet(pcs([clique("other"), clique("a", podSpec=pod_spec)])).cliques[1]
    return [(found.name, found.pointer, found.path) for found in template.gpu_containers]


SOME: list[Any] = [1, 8, "1", "8", "1k", "0.5", "500m", "1e3", "not a quantity"]
NONE: list[Any] = [0, "0", "0.0", "0k", "-0", None]


@rows("amount", SOME)
@rows("part", ["limits", "requests"])
def test_any_amount_but_nothing_is_asking_for_gpus(amount: Any, part: str) -> None:
    assert [name for name, _, _ in read(containers=[asking("main", amount, part)])] == ["main"]


@rows("amount", NONE)
@rows("part", ["limits", "requests"])
def test_nothing_is_not_asking_for_gpus(amount: Any, part: str) -> None:
    assert read(containers=[asking("main", amount, part)]) == []


@pytest.mark.parametrize("resource", ["cpu", "memory", "nvidia.com/gpu.shared", "amd.com/gpu", "nvidia.com/mig-1g.5gb"])
def test_other_resources_are_not_gpus(resource: str) -> None:
    assert read(containers=[asking("main", 1, resource=resource)]) == []


@pytest.mark.parametrize("container", [{"name": "c"}, {"name": "c", "resources": None}, {"name": "c", "resources": {"limits": None}}])
def test_a_container_without_resources_asks_for_none(container: dict[str, Any]) -> None:
    assert read(containers=[container]) == []


def test_containers_come_before_init_containers_each_with_its_place() -> None:
    found = read(
        containers=[{"name": "plain"}, asking("main", 8)],
        initContainers=[asking("check", 1), {"name": "copy"}, {**asking("sidecar", 1), "restartPolicy": "Always"}],
    )
    assert found == [
        ("main", "/containers/1", "spec.template.cliques[1].spec.podSpec.containers[1]"),
        ("check", "/initContainers/0", "spec.template.cliques[1].spec.podSpec.initContainers[0]"),
        ("sidecar", "/initContainers/2", "spec.template.cliques[1].spec.podSpec.initContainers[2]"),
    ]


def test_a_clique_of_a_replica_has_the_gpus_of_its_template() -> None:
    manifest = pcs([clique("cpu"), clique("gpu", podSpec={"containers": [asking("main", 1)]})], [group("g", ["gpu"])])
    expanded = expand(manifest)
    assert [find_clique(expanded, name).uses_gpu for name in ("demo-0-cpu", "demo-0-g-0-gpu")] == [False, True]
    assert find_clique(expanded, "demo-0-g-0-gpu").gpu_containers is expanded.cliques[1].gpu_containers


@pytest.mark.parametrize(
    ("kind", "path"),
    [("PodClique", "/spec/podSpec"), ("Pod", "/spec"), ("Deployment", "/spec/template/spec"), ("Job", "/spec/template/spec")],
)
def test_the_pod_spec_stands_where_the_kind_has_it(kind: str, path: str) -> None:
    assert pod_spec_path({"kind": kind}) == path
