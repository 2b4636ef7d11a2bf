"""A PodGang's podgroups and levels, whatever its manifest looks like."""

from __future__ import annotations

from typing import Any

import pytest

from grove_compiler.gangs.clique import read_cliques
from grove_compiler.gangs.gang import CompiledGang, LevelConstraint, read_gang, read_gangs
from grove_compiler.graph.node import Manifest


def gang(**spec: Any) -> CompiledGang:
    return read_gang({"kind": "PodGang", "metadata": {"name": "demo-0", "namespace": "ml"}, "spec": spec})


def clique(name: str, namespace: str = "ml", **labels: str) -> Manifest:
    return {"kind": "PodClique", "metadata": {"name": name, "namespace": namespace, "labels": labels}, "spec": {}}


def pack(**keys: str) -> Manifest:
    return {"topologyConstraint": {"packConstraint": keys}}


def test_levels_come_from_outside_to_inside() -> None:
    found = gang(
        podgroups=[{"name": "a", "minReplicas": 2, **pack(required="host")}, {"name": "b"}],
        topologyConstraintGroupConfigs=[{"name": "demo-0-g-0", "podGroupNames": ["b"], **pack(required="rack", preferred="host")}],
        **pack(preferred="zone"),
    )
    assert found.minimums == {"a": 2, "b": 0}
    assert found.levels == [
        LevelConstraint("gang", "demo-0", ["a", "b"], "", "zone"),
        LevelConstraint("group", "demo-0-g-0", ["b"], "rack", "host"),
        LevelConstraint("podgroup", "a", ["a"], "host", ""),
        LevelConstraint("podgroup", "b", ["b"], "", ""),
    ]


@pytest.mark.parametrize("podgroups", [None, [], ["odd", {}], "odd"])
def test_odd_podgroups_do_not_count(podgroups: Any) -> None:
    assert gang(podgroups=podgroups).minimums == {}


def test_an_empty_manifest_is_a_gang_without_anything() -> None:
    found = read_gang({})
    assert (found.name, found.minimums, found.levels, found.replica) == ("", {}, [LevelConstraint("gang", "", [], "", "")], 0)


def test_a_gang_has_the_cliques_of_its_namespace_that_there_are() -> None:
    manifests = [
        {"kind": "PodGang", "metadata": {"name": "g", "namespace": "ml"}, "spec": {"podgroups": [{"name": name} for name in "abc"]}},
        clique("b", **{"grove.io/podcliqueset-replica-index": "4", "grove.io/base-podgang": "demo-4"}),
        clique("a", namespace="other"),
    ]
    [found] = read_gangs(manifests, read_cliques(manifests))
    assert ([one.name for one in found.cliques], found.replica, found.scaled) == (["b"], 4, True)
