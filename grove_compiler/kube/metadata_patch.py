"""Makes the JSON Patch (RFC 6902) that sets labels or annotations of an object under admission."""

from __future__ import annotations

from kube_objects import json_pointer
from kube_objects.manifest import Manifest


def metadata_operations(manifest: Manifest, field: str, values: dict[str, str]) -> list[Manifest]:
    """Returns the operations that give these values to the object's `labels` or `annotations`; none for values that it has."""
    present = (manifest.get("metadata") or {}).get(field) or {}
    new = {key: value for key, value in values.items() if present.get(key) != value}
    if new and not present:
        return [{"op": "add", "path": f"/metadata/{field}", "value": new}]
    return [{"op": "add", "path": json_pointer.join(("metadata", field, key)), "value": value} for key, value in new.items()]
