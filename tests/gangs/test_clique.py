"""A PodClique's facts, whatever its manifest looks like."""

from __future__ import annotations

from typing import Any

import pytest

from grove_compiler.gangs.clique import NO_INDEX, devices_of, read_clique, read_cliques
from grove_compiler.graph.node import Manifest
from tests.suite.rows import rows

LABELS = {
    "app.kubernetes.io/part-of": "demo",
    "grove.io/podcliqueset-replica-index": "1",
    "grove.io/podgang": "demo-1",
}
IN_A_GROUP = {"grove.io/podcliquescalinggroup": "demo-1-pd", "grove.io/podcliquescalinggroup-replica-index": "3"}


def manifest(name: str = "demo-1-web", labels: dict[str, str] | None = None, **spec: Any) -> Manifest:
    return {"kind": "PodClique", "metadata": {"name": name, "namespace": "ml", "labels": labels or {}}, "spec": spec}


def test_a_clique_says_whose_it_is() -> None:
    clique = read_clique(manifest(labels=LABELS))
    assert (clique.namespace, clique.set_name, clique.replica, clique.gang, clique.scaled) == ("ml", "demo", 1, "demo-1", False)
    assert (clique.group, clique.group_replica, clique.template_name) == ("", NO_INDEX, "web")


def test_a_clique_of_a_scaling_group_has_the_groups_index() -> None:
    clique = read_clique(manifest("demo-1-pd-3-worker", {**LABELS, **IN_A_GROUP, "grove.io/base-podgang": "demo-1"}))
    assert (clique.group, clique.group_replica, clique.template_name, clique.scaled) == ("demo-1-pd", 3, "worker", True)


@pytest.mark.parametrize(("spec", "expected"), [({}, (0, 0)), ({"replicas": 3}, (3, 3)), ({"replicas": 3, "minAvailable": 2}, (3, 2))])
def test_all_pods_start_together_unless_the_clique_says_less(spec: dict[str, Any], expected: tuple[int, int]) -> None:
    clique = read_clique(manifest(**spec))
    assert (clique.pods, clique.minimum) == expected


@pytest.mark.parametrize("label", ["", "-1", "x", "²"])
def test_a_label_without_a_number_is_no_index(label: str) -> None:
    assert read_clique(manifest(labels={"grove.io/podcliqueset-replica-index": label})).replica == NO_INDEX


@pytest.mark.parametrize("odd", [{"kind": "PodClique"}, {"kind": "PodClique", "metadata": None, "spec": []}])
def test_odd_objects_of_a_users_rule_have_empty_facts(odd: Manifest) -> None:
    [clique] = read_cliques([odd, {"kind": "Pod"}, {}]).values()
    assert (clique.name, clique.pods, clique.gpus) == ("", 0, 0)


def containers(**gpus: int) -> list[Manifest]:
    return [{"name": name, "resources": {"limits": {"nvidia.com/gpu": number}}} for name, number in gpus.items()]


@rows(
    ("pod_spec", "expected"),
    [
        ({}, 0),
        ({"containers": None}, 0),
        ({"containers": containers(a=2, b=3)}, 5),
        ({"containers": containers(a=2), "initContainers": containers(check=8)}, 8),
        ({"containers": containers(a=4), "initContainers": containers(check=1)}, 4),
        ({"containers": containers(a=4), "initContainers": [{**containers(side=1)[0], "restartPolicy": "Always"}]}, 5),
        ({"containers": [{"resources": {"requests": {"nvidia.com/gpu": "8"}, "limits": {"nvidia.com/gpu": "8"}}}]}, 8),
        ({"containers": [{"resources": {"requests": {"amd.com/gpu": 2}}}]}, 2),
        ({"containers": [{"resources": {"limits": {"cpu": 4, "memory": "1Gi"}}}]}, 0),
        ({"containers": [{"resources": {"limits": {"nvidia.com/gpu": "many"}}}]}, 0),
        ({"containers": [{"resources": {"limits": {"nvidia.com/gpu": 8}, "requests": {"memory": "8GB"}}}]}, 8),
        (
            {"containers": containers(a=1), "initContainers": [{**containers(side=1)[0], "restartPolicy": "Always"}, *containers(check=4)]},
            5,
        ),
    ],
)
def test_the_gpus_of_a_pod(pod_spec: Manifest, expected: int) -> None:
    assert devices_of(pod_spec) == ({"GPU": expected} if expected else {})


def test_mig_devices_of_a_pod_are_counted_apart_from_gpus() -> None:
    limits = {"nvidia.com/mig-1g.5gb": 2, "nvidia.com/mig-3g.20gb": "1", "nvidia.com/gpu": 1}
    assert devices_of({"containers": [{"resources": {"limits": limits}}]}) == {"GPU": 1, "MIG device": 3}
