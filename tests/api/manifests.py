"""Manifests for the tests of the API's types, and what the tables say about them."""

from __future__ import annotations

import copy
from typing import Any

from grove_compiler.graph.field_path import parse
from grove_compiler.kube.definitions import DEFINITIONS, KINDS
from grove_compiler.kube.structure import check

CLIQUE = {"name": "a", "spec": {"roleName": "a", "replicas": 1, "podSpec": {"containers": [{"name": "c", "image": "i"}]}}}
SET = {
    "apiVersion": "grove.io/v1alpha1",
    "kind": "PodCliqueSet",
    "metadata": {"name": "s"},
    "spec": {"replicas": 1, "template": {"cliques": [CLIQUE], "podCliqueScalingGroups": [{"name": "g", "cliqueNames": ["a"]}]}},
}


def changed(manifest: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy with another value at a path; objects on the way are made."""
    copied = copy.deepcopy(manifest)
    at: Any = copied
    *steps, last = parse(path)
    for step in steps:
        at = at[step] if isinstance(step, int) else at.setdefault(step, {})
    at[last] = value
    return copied


def without(manifest: dict[str, Any], path: str) -> dict[str, Any]:
    """A copy that lacks the field at a path."""
    copied = copy.deepcopy(manifest)
    at: Any = copied
    *steps, last = parse(path)
    for step in steps:
        at = at[step]
    del at[last]
    return copied


def faults(manifest: dict[str, Any]) -> list[str]:
    """Paths at which the structural check refuses the manifest."""
    found = check(manifest, KINDS[manifest["apiVersion"], manifest["kind"]], DEFINITIONS)
    return [diagnostic.path for _, diagnostic in found if diagnostic.severity == "error"]
