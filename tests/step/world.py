"""What the tests of the step share: objects as a cluster stores them, and all slices of them put together."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from grove_compiler.compile import CompileResult, Inputs
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.engine.runtime.program import Program
from grove_compiler.graph.node import Node
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.source.document import Document
from grove_compiler.step import Key, StepContext, StepGone, StepHold, StepResult, step
from tests.features.compiling import shipped_program

Manifest = dict[str, Any]
CLUSTER_WIDE = {"ClusterTopology", "ClusterTopologyBinding", "CustomResourceDefinition", "Topology"}
TOPOLOGY_KINDS = ("ClusterTopology", "ClusterTopologyBinding")
NOW = 1_800_000_000.0


def stored(manifests: Iterable[Manifest], namespace: str = "default") -> list[Manifest]:
    """The manifests as a cluster has them: in a namespace, with UIDs and generations; of two of one name what both say."""
    objects: dict[tuple[str, str, str], Manifest] = {}
    for number, manifest in enumerate(manifests):
        one = copy.deepcopy(manifest)
        if one["kind"] not in CLUSTER_WIDE:
            one["metadata"].setdefault("namespace", namespace)
        one["metadata"] = {"uid": f"uid-{number}", "generation": 1, **one["metadata"]}
        first = objects.get(place := (one["kind"], one["metadata"].get("namespace", ""), one["metadata"]["name"]), {"metadata": {}})
        objects[place] = {**one, **first, "metadata": {**first["metadata"], **one["metadata"]}}
    return list(objects.values())


def context(settings: Settings | None = None, config: Document | None = None, program: Program | None = None) -> StepContext:
    return StepContext(program or shipped_program(), settings or Settings(pods=True), config)


def key_of(manifest: Manifest, replica: int | None = None) -> Key:
    return Key(manifest["kind"], manifest["metadata"].get("namespace", ""), manifest["metadata"]["name"], replica)


def complete(outcome: StepResult | StepGone | StepHold) -> StepResult:
    """The step, which a test expects to be one."""
    assert isinstance(outcome, StepResult), outcome
    return outcome


def all_slices(objects: list[Manifest], shared: StepContext) -> list[Node]:
    """What all keys of a cluster give together: its topologies, its sets, and each of their replicas."""
    view = ObjectList(objects)
    nodes = []
    for manifest in objects:
        if manifest["kind"] in TOPOLOGY_KINDS:
            nodes += complete(step(view, key_of(manifest), NOW, shared)).graph.nodes
        elif manifest["kind"] == "PodCliqueSet":
            whole = complete(step(view, key_of(manifest), NOW, shared))
            nodes += whole.graph.nodes
            for replica in range(whole.replicas):
                nodes += complete(step(view, key_of(manifest, replica), NOW, shared)).graph.nodes
    if shared.config.has_default_topology and not any(one["metadata"]["name"] == "grove-topology" for one in objects):
        nodes += complete(step(view, Key("ClusterTopology", "", "grove-topology"), NOW, shared)).graph.nodes
    return nodes


def compiled(objects: list[Manifest], shared: StepContext, config: Document | None = None) -> CompileResult:
    """What compiling the sets of the same cluster in one piece gives."""
    sets = [Document(manifest) for manifest in objects if manifest["kind"] == "PodCliqueSet"]
    return compile_inputs(Inputs(sets, objects, config=config, settings=shared.settings), shared.program)


def to_the_letter(nodes: Iterable[Node]) -> list[tuple[Any, ...]]:
    """The nodes in an order that does not depend on who was asked first; `repr` tells `1` from `true` and keys in another order."""
    return sorted((node.id, node.rule, node.loop[1:], repr(node.object), repr(node.owner), repr(node.policy)) for node in nodes)
