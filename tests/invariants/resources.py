"""The resources whose writes decide whether a pod may be deleted: an audit log has to have these with their objects."""

from __future__ import annotations

RESOURCES = ("namespaces", "pods", "podcliquesets.grove.io", "podcliques.grove.io", "podcliquescalinggroups.grove.io")
