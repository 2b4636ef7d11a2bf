"""Writes the `minAvailable` of cliques that do not name one: its default is their number of pods, and it cannot change (decisions §10)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grove_compiler.graph.node import Manifest
from kube_objects.manifest import mapping, maps, section


def with_former_minimums(manifest: Manifest, former: Manifest) -> Manifest:
    """Returns an edited set in which each clique that names no `minAvailable` keeps the one that it had, if it has as many pods.

    Otherwise an edit of `replicas` alone would be rejected, with the clients that send a list as they have it in a file (`kubectl apply`).
    So it is with what Kubernetes itself allocates, such as the IP of a Service.
    """
    minimums = minimums_of(former)
    kept = {
        clique.get("name"): minimum
        for clique in _cliques(manifest)
        if (minimum := minimums.get(clique.get("name"))) is not None and (mapping(clique.get("spec")).get("replicas") or 0) >= minimum
    }
    return with_minimums(manifest, kept)


def with_minimums(manifest: Manifest, minimums: Mapping[Any, int]) -> Manifest:
    """Returns a set in which the cliques that name no `minAvailable` have these, by name; the set itself where that changes nothing."""
    cliques = [_with_minimum(clique, minimums.get(clique.get("name"))) for clique in _cliques(manifest)]
    if cliques == _cliques(manifest):
        return manifest
    return {**manifest, "spec": {**manifest["spec"], "template": {**manifest["spec"]["template"], "cliques": cliques}}}


def minimums_of(manifest: Manifest) -> dict[Any, int]:
    """Returns the `minAvailable` of the cliques that name one, by name."""
    named = {clique.get("name"): mapping(clique.get("spec")).get("minAvailable") for clique in _cliques(manifest)}
    return {name: minimum for name, minimum in named.items() if minimum is not None}


def names_of(manifest: Manifest) -> set[Any]:
    """Returns the names of the cliques."""
    return {clique["name"] for clique in _cliques(manifest)}


def _cliques(manifest: Manifest) -> list[Manifest]:
    return [clique for clique in maps(section(manifest, "spec", "template").get("cliques")) if isinstance(clique.get("name"), str)]


def _with_minimum(clique: Manifest, minimum: int | None) -> Manifest:
    spec = mapping(clique.get("spec"))
    return clique if minimum is None or spec.get("minAvailable") is not None else {**clique, "spec": {**spec, "minAvailable": minimum}}
