"""Schemas for the cluster in memory, so that what is there is decided on without asking it."""

from __future__ import annotations

from applier.decision.schema import Schemas, Table, Type
from applier.ref import Kind

FREE = {"e": "*untyped"}
LIST = {"i": "*untyped", "l": "a"}
METADATA = {"f": {"labels": FREE, "annotations": FREE, "ownerReferences": LIST, "finalizers": LIST}, **FREE}
OBJECT = {"f": {"metadata": METADATA, "data": FREE, "spec": FREE}, **FREE}


class FreeSchemas(Schemas):
    """In every kind, `data` and `spec` are maps of anything, and lists are one value: what the cluster in memory makes of them."""

    type: Type = Table({}, {"object": OBJECT}).named("object")

    def get(self, kind: Kind) -> Type:
        return self.type
