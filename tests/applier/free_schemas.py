"""Schemas for the cluster in memory, so that what is there is decided on without asking it."""

from __future__ import annotations

from applier.decision.schema import Schemas, Type, TypeTable
from applier.ref import Kind

FREE = {"e": "*untyped"}
LIST = {"i": "*untyped", "l": "a"}
METADATA = {"f": {"labels": FREE, "annotations": FREE, "ownerReferences": LIST, "finalizers": LIST}, **FREE}
BESIDE = ("automountServiceAccountToken", "revision", "roleRef", "rules", "subjects")
"""What else the kinds that Grove makes have there. Where it is not named, an object that is as it should be is not told so at once."""
OBJECT = {"f": {"metadata": METADATA, "data": FREE, "spec": FREE, "status": FREE, **dict.fromkeys(BESIDE, "*untyped")}, **FREE}


class FreeSchemas(Schemas):
    """In every kind, `data`, `spec` and `status` are maps of anything, lists one value: as the cluster in memory takes them."""

    type: Type = TypeTable({}, {"object": OBJECT}).named("object")

    def get(self, kind: Kind) -> Type:
        return self.type
