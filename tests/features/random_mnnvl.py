"""Random valid sets that ask for multi-node NVLink in one of the ways, and what a pod's claims are by their manifests."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass

from hypothesis import strategies as st

from grove_compiler.compile import CompileResult, Inputs
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.model.inputs.settings import Settings

from .compiling import documents_of, shipped_program
from .random_sets import Manifest, pod_cliques_sets

WAYS = ("replica", "clique", "scalingGroupReplica", "config", "group")
GPU = {"limits": {"nvidia.com/gpu": 4}}
OPERATOR = {"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration", "network": {"autoMNNVLEnabled": True}}


@dataclass
class Asking:
    """A set, the same set without a word about MNNVL, and the way in which it asks."""

    way: str
    manifest: Manifest
    plain: Manifest
    gpu_cliques: set[str]


@st.composite
def asking_sets(draw: st.DrawFn) -> Asking:
    """A set some of whose cliques use GPUs in some of their containers, and that asks for domains for them."""
    plain = draw(pod_cliques_sets())
    cliques = plain["spec"]["template"]["cliques"]
    chosen = draw(st.lists(st.sampled_from(cliques), min_size=1, unique_by=lambda clique: clique["name"]))
    for clique in chosen:
        boxes = [*clique["spec"]["podSpec"]["containers"], *clique["spec"]["podSpec"].get("initContainers", [])]
        for box in draw(st.lists(st.sampled_from(boxes), min_size=1, unique_by=lambda box: box["name"])):
            box["resources"] = GPU
    names = {clique["name"] for clique in chosen}
    groups = [group for group in plain["spec"]["template"].get("podCliqueScalingGroups", []) if names & set(group["cliqueNames"])]
    way = draw(st.sampled_from([way for way in WAYS if way != "scalingGroupReplica" or groups] or ["replica"]))
    manifest = copy.deepcopy(plain)
    _ask(manifest, way, names)
    return Asking(way, manifest, plain, names)


def _ask(manifest: Manifest, way: str, names: set[str]) -> None:
    template = manifest["spec"]["template"]
    holders = {
        "replica": [manifest["metadata"]],
        "group": [manifest["metadata"]],
        "clique": [clique for clique in template["cliques"] if clique["name"] in names],
        "scalingGroupReplica": [group for group in template.get("podCliqueScalingGroups", []) if names & set(group["cliqueNames"])],
        "config": [],
    }[way]
    asked = {"grove.io/mnnvl-group": "fabric"} if way == "group" else {"grove.io/mnnvl-enabled": "true", "grove.io/mnnvl-scope": way}
    for holder in holders:
        holder["annotations"] = {**holder.get("annotations", {}), **asked}
    if way == "config":
        template["computeDomainConfig"] = {"enabled": True}


def compiled(manifest: Manifest, shape: str, snapshot: list[Manifest] | None = None) -> CompileResult:
    """What it becomes, Pods included, where MNNVL groups are enabled."""
    documents = [*documents_of(json.dumps(manifest), "set.json"), *documents_of(json.dumps(OPERATOR), "operator.json")]
    settings = Settings(pods=True, mnnvl_shape=shape)
    result = compile_inputs(Inputs(documents, snapshot=snapshot or [], settings=settings), shipped_program())
    assert [finding.message for finding in result.diagnostics if finding.severity == "error"] == []
    return result
