"""A manifest as it is applied: without what `kubectl get -o yaml` leaves in it and only the server sets."""

from __future__ import annotations

from applier.decision.schema import Type
from applier.decision.secret_values import LAST_APPLIED, folded, is_secret
from applier.ref import Manifest

_SET_BY_SERVER = frozenset(("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "uid", "generation",
                            "managedFields", "resourceVersion", "clusterName"))  # fmt: skip


def prepared(manifest: Manifest, schema: Type | None = None) -> Manifest:
    """The manifest to send; the same object when there is nothing to take out of it.

    Status is taken out where it is a subresource (which the schema knows), and `stringData` of Secrets is folded into `data`.
    """
    if is_secret(manifest):
        manifest = folded(manifest)
    if schema is not None and schema.status and "status" in manifest:
        manifest = {key: value for key, value in manifest.items() if key != "status"}
    metadata = manifest.get("metadata")
    if not isinstance(metadata, dict):
        return manifest
    annotations = metadata.get("annotations") or {}
    copied = LAST_APPLIED in annotations
    if not copied and _SET_BY_SERVER.isdisjoint(metadata):
        return manifest
    kept = {key: value for key, value in metadata.items() if key not in _SET_BY_SERVER}
    if copied:
        kept["annotations"] = {key: value for key, value in annotations.items() if key != LAST_APPLIED}
        if not kept["annotations"]:
            del kept["annotations"]
    return {**manifest, "metadata": kept}
