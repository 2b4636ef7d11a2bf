"""Lists the PriorityClasses of a cluster."""

from __future__ import annotations

from grove_compiler.model.expanded.context import SetInContext


def priority_classes(pcs: SetInContext) -> list[str]:
    """Returns the names of the PriorityClasses that the snapshot has, sorted.

    Every cluster has two built-in ones (`system-cluster-critical` and `system-node-critical`), so an empty list means that the snapshot
    was taken without PriorityClasses.
    """
    classes = pcs.snapshot.of_kind("scheduling.k8s.io/v1", "PriorityClass")
    return sorted((manifest.get("metadata") or {}).get("name") or "" for manifest in classes)
