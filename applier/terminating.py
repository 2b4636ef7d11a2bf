"""Objects whose deletion has begun, and which are there until their finalizers and their time of grace are over."""

from __future__ import annotations

from applier.ref import Manifest


def is_being_deleted(manifest: Manifest) -> bool:
    """Whether a live object's deletion has begun."""
    return bool((manifest.get("metadata") or {}).get("deletionTimestamp"))


def being_deleted(live: Manifest) -> str:
    """Since when an object is being deleted, and what it still waits for: `is being deleted since TIME, held by FINALIZER, FINALIZER`."""
    metadata = live.get("metadata") or {}
    finalizers = ", ".join(map(str, metadata.get("finalizers") or ()))
    return f"is being deleted since {metadata.get('deletionTimestamp')}" + (f", held by {finalizers}" if finalizers else "")
