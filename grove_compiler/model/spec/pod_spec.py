"""Where the spec of a pod stands in the objects that carry one."""

from __future__ import annotations

from typing import Any

_PATHS = {"PodClique": "/spec/podSpec", "Pod": "/spec"}
_TEMPLATE = "/spec/template/spec"


def pod_spec_path(manifest: dict[str, Any]) -> str:
    """The JSON pointer of an object's pod spec: of a PodClique, of a Pod, and of all else that has a pod template (a Deployment, a Job)."""
    return _PATHS.get(manifest.get("kind") or "", _TEMPLATE)
