"""A cluster in memory that knows webhook configurations, as far as the field is concerned that we write."""

from __future__ import annotations

from typing import Any

from applier.cluster import Resource
from applier.decision.schema import Schemas, Type, TypeTable
from applier.ref import Kind, Ref
from applier.testing.memory import MemoryCluster
from applier.testing.memory.kinds import VERBS
from grove_operator.webhooks.shared_certificate import CONFIGURATIONS

Manifest = dict[str, Any]

FREE = {"e": "*untyped"}
CLIENT = {"f": {"caBundle": "untyped", "service": FREE}, **FREE}
HOOKS = {"i": {"f": {"name": "untyped", "clientConfig": CLIENT}, **FREE}, "l": "m", "k": ["name"]}
OBJECT = {"f": {"metadata": {"f": {"labels": FREE, "annotations": FREE}, **FREE}, "data": FREE, "webhooks": HOOKS}, **FREE}


class Typed(Schemas):
    """In every kind, `webhooks` is a list whose items have names."""

    type: Type = TypeTable({}, {"object": OBJECT}).named("object")

    def get(self, kind: Kind) -> Type:
        return self.type


def cluster_with_webhooks(*configurations: Manifest) -> MemoryCluster:
    """A cluster with these configurations, which somebody has installed."""
    cluster = MemoryCluster(schemas=Typed())
    for kind in CONFIGURATIONS:
        cluster.serve(Resource(kind, f"{kind.kind.lower()}s", False, VERBS))
    cluster.seed(*configurations, manager="helm")
    return cluster


def found(cluster: MemoryCluster, ref: Ref) -> Manifest:
    """What is stored; it must be there."""
    manifest = cluster.find(ref)
    assert manifest is not None
    return manifest
