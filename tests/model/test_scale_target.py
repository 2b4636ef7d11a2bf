"""Which field of a set the scale subresource of an object stands for."""

from __future__ import annotations

from grove_compiler.graph.field_path import render
from grove_compiler.model.checks.scale_target import declared_replicas_path
from grove_compiler.model.spec.podcliqueset import PodCliqueSet
from tests.suite.rows import rows

from .sets import clique, expand, group, pcs

SET = PodCliqueSet(pcs([clique("router"), clique("a-0-b"), clique("worker"), clique("b")], [group("a", ["b"]), group("g-1", ["worker"])]))
CLIQUES = "spec.template.cliques"
GROUPS = "spec.template.podCliqueScalingGroups"

FOUND = {
    ("PodCliqueSet", "demo"): "spec.replicas",
    ("PodCliqueScalingGroup", "demo-0-a"): f"{GROUPS}[0].replicas",
    ("PodCliqueScalingGroup", "demo-17-g-1"): f"{GROUPS}[1].replicas",
    ("PodClique", "demo-0-router"): f"{CLIQUES}[0].spec.replicas",
    ("PodClique", "demo-3-router"): f"{CLIQUES}[0].spec.replicas",
    ("PodClique", "demo-0-a-0-b"): f"{CLIQUES}[1].spec.replicas",
    ("PodClique", "demo-0-a-1-b"): f"{CLIQUES}[3].spec.replicas",
    ("PodClique", "demo-0-g-1-12-worker"): f"{CLIQUES}[2].spec.replicas",
}
UNKNOWN = [
    ("PodCliqueSet", "other"),
    ("PodCliqueScalingGroup", "demo-0-g"),
    ("PodCliqueScalingGroup", "demo-a"),
    ("PodCliqueScalingGroup", "demo-x-a"),
    ("PodCliqueScalingGroup", "other-0-a"),
    ("PodClique", "demo-0-worker"),
    ("PodClique", "demo-0-b"),
    ("PodClique", "demo-router"),
    ("PodClique", "my-demo-0-router"),
    ("PodClique", "demo-0-router-x"),
    ("PodClique", "demo-0-g-1-worker"),
    ("PodClique", "demo-²-router"),
    ("PodClique", "demo"),
    ("PodClique", ""),
    ("PodGang", "demo-0"),
    ("Deployment", "demo-0-router"),
]


@rows(("kind", "name", "path"), [(*key, path) for key, path in FOUND.items()])
def test_an_object_is_found_by_its_exact_name_in_any_replica(kind: str, name: str, path: str) -> None:
    found = declared_replicas_path(SET, kind, name)
    assert found is not None
    assert render(found) == path


@rows(("kind", "name"), UNKNOWN)
def test_what_is_no_child_of_the_set_has_no_field(kind: str, name: str) -> None:
    assert declared_replicas_path(SET, kind, name) is None


def test_every_clique_and_group_that_the_set_becomes_is_found() -> None:
    manifest = pcs([clique("x"), clique("y"), clique("z")], [group("g", ["z", "y"], replicas=3)], replicas=2)
    expanded = expand(manifest)
    for replica in expanded.replicas:
        for group_ in replica.scaling_groups:
            assert declared_replicas_path(expanded, "PodCliqueScalingGroup", group_.name) == (
                "spec",
                "template",
                "podCliqueScalingGroups",
                0,
                "replicas",
            )
        for clique_ in replica.all_cliques:
            path = declared_replicas_path(expanded, "PodClique", clique_.name)
            assert path == ("spec", "template", "cliques", clique_.template.index, "spec", "replicas")
