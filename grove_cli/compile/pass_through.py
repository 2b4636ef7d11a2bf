"""Implements `grove compile --pass-through`: merges manifests of other kinds with compiled objects in an order to apply them."""

from __future__ import annotations

from collections.abc import Sequence

from applier.plan.order import order
from applier.ref import Manifest, Ref
from grove_compiler.graph.graph import CompiledGraph
from grove_operator.cluster.classify import Item
from grove_operator.cluster.desired import Sources, desired_graph


def in_apply_order(compiled: CompiledGraph, others: Sequence[Item]) -> list[Manifest]:
    """Returns all manifests in the order in which `grove apply` would write them: namespaces and definitions first.

    Raises `applier.desired.DuplicateObject` if a manifest and a rule, or two manifests, declare one object.
    """
    manifests = {
        Ref.of(manifest): manifest for manifest in [*(item.manifest for item in others), *(node.object for node in compiled.nodes)]
    }
    waves = order(desired_graph(Sources(compiled, others))).waves
    return [manifests[ref] for wave in waves for ref in wave]
