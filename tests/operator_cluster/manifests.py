"""Small manifests, and sets that are compiled, for the tests of this folder."""

from __future__ import annotations

from typing import Any

from applier.ref import Manifest
from grove_cli.rulebook import read as read_rulebook
from grove_compiler.compile import VOCABULARY, Inputs
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.graph.graph import CompiledGraph
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.source.document import Document


def obj(kind: str, name: str, namespace: str = "shop", *, api: str = "v1", **rest: Any) -> Manifest:
    metadata: Manifest = {"name": name, **rest.pop("metadata", {})}
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **rest}


def a_set(name: str = "web", namespace: str = "shop", **clique: Any) -> Manifest:
    """A PodCliqueSet of one clique."""
    pod = {"containers": [{"name": "main", "image": "registry.example/app:1"}]}
    cliques = [{"name": "server", "spec": {"roleName": "server", "replicas": 2, "podSpec": pod, **clique}}]
    return obj("PodCliqueSet", name, namespace, api="grove.io/v1alpha1", spec={"replicas": 1, "template": {"cliques": cliques}})


def compiled(*sets: Manifest, snapshot: tuple[Manifest, ...] = ()) -> CompiledGraph:
    """What these sets become."""
    inputs = Inputs([Document(one) for one in sets], list(snapshot), settings=Settings(kube_version="1.35"))
    result = compile_inputs(inputs, read_rulebook().program(VOCABULARY))
    assert not result.diagnostics
    return result.graph
